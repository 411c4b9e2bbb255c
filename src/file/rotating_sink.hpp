// SPDX-License-Identifier: MIT
#pragma once

#include "file/task_thread.hpp"
#include "file/part.hpp"
#include "file/rotation.hpp"
#include "sys/event.hpp"
#include "sys/fd_group.hpp"

#include <atomic>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace iio_stream::file {

/// A recording in several files. Each has whole blocks only; where the next one does not fit any
/// more it goes into a file that has been made ready meanwhile, and the old one is closed as soon
/// as its writes are done, both on threads of their own. Owns: the parts. Blocks: as they do, but
/// never for the seam, unless the disk takes longer to make a file than to write half of one.
class RotatingSink final : public Sink {
public:
    /// `first` is the part of number 0, `series` the names of which its files are the parts.
    RotatingSink(std::unique_ptr<Part> first, std::vector<std::string> series,
                 const Rotation& rotation, bool overwrite);

    Fault fault() const noexcept override { return Fault::storage; }
    bool may_block() const noexcept override { return current_.part->may_block(); }
    std::optional<Hop> plan(const MemoryTraits& traits, std::string& why) const override
    {
        return current_.part->plan(traits, why);
    }
    bool prepare(const StreamInfo& stream, BlockPool& pool, int cancel, std::string& why) override;
    void start() override { current_.part->start(); }
    bool ready() const noexcept override;
    void submit(Block filled) override;
    void trailing(std::span<const Gap> gaps) override;
    void retuned(const Retuning& last) override;
    void dropped(std::uint64_t samples) override { current_.part->dropped(samples); }
    void service() override;
    Wait wait() override;
    std::size_t pending() const noexcept override;
    std::uint64_t progress() const noexcept override;
    std::uint64_t room() const noexcept override;
    std::optional<std::uint64_t> stored() const noexcept override { return stored_; }
    void broken_by(const Error& error) override { current_.part->broken_by(error); }
    void stop(Stop how) override;
    std::string report() const override;

private:
    /// A part that blocks are, or were, given to.
    struct Open {
        std::shared_ptr<Part> part;
        std::size_t given = 0;            ///< blocks
        int watched = -1;                 ///< its wait's, in group_
        std::uint64_t begin = 0, end = 0; ///< positions of its samples in the stream
    };
    /// One that is closed, or about to be, or gone.
    struct Closed {
        std::uint64_t end;
        Part::LateTeller tell;
    };

    void refuse_existing() const;
    void refuse_live() const;
    void remove_stale() noexcept;
    bool may_rotate() const noexcept;
    void put_held();
    void put(Block filled);
    void tell_late(const Part::Late& late, std::uint64_t begin);
    StreamInfo info_of_next() const;
    bool next_ready() const noexcept;
    void ask_for_next();
    void rotate();
    void hand_over();
    void watch(Open& open);
    void unwatch(Open& open) noexcept;
    static void discard(Part& part) noexcept;

    std::vector<std::string> series_;
    std::string place_; ///< the first part's file
    Rotation rotation_;
    bool overwrite_;
    StreamInfo stream_;
    BlockPool* pool_ = nullptr;
    int cancel_ = -1;
    bool open_ = false;

    std::shared_ptr<const Part> first_; ///< whose progress() is that of all, and anybody's to ask
    Open current_;
    std::deque<Open> draining_;        ///< before it; their last writes are under way
    std::deque<Closed> closed_parts_;  ///< before them, the last kMostClosed
    std::size_t number_ = 0;           ///< of current_
    PartMeter meter_;                  ///< of current_
    /// Position in the stream before which all losses and retunings are known.
    std::uint64_t settled_ = kUnknown;
    detail::Retunings heard_;
    bool asked_ = false;               ///< for the next one
    std::vector<std::string> names_, removed_;
    std::optional<Block> held_; ///< does not fit, and waits for the next part

    std::shared_ptr<Part> next_; ///< the opener's until next_made_
    std::atomic<bool> next_made_{false};
    std::atomic<bool> broken_{false}; ///< a part that was closed lacks samples
    std::atomic<std::uint64_t> closed_{0};
    std::atomic<std::uint64_t> stored_{0}; ///< bytes, in the parts that are closed
    sys::Event news_;
    sys::FdGroup group_;
    TaskThread sealer_{news_}, closer_{news_}, opener_{news_}; ///< their threads end first
};

} // namespace iio_stream::file
