// SPDX-License-Identifier: MIT
#pragma once

#include "file/io/output.hpp"
#include "file/parts/next_part.hpp"
#include "file/parts/part.hpp"
#include "file/parts/part_closer.hpp"
#include "file/parts/part_series.hpp"
#include "file/parts/rotation.hpp"
#include "file/parts/series_lock.hpp"
#include "file/parts/uploads.hpp"
#include "sys/event.hpp"
#include "sys/fd_group.hpp"

#include <atomic>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace iio_stream::file {

/// A recording in several files, each of which contains only whole blocks. A block that does not
/// fit into a file goes into the next one, which is prepared in advance. The old file is closed as
/// soon as its writes are done. Both happen on other threads.
/// Owns the parts. Blocks as the parts do, but never at the seam, unless the disk takes longer to
/// create a file than to write half of one.
class RotatingSink final : public Sink {
public:
    /// `first` is part number 0. `series` has the names of the recording's files without
    /// numbers.
    RotatingSink(std::unique_ptr<Part> first, std::vector<std::string> series,
                 const Rotation& rotation, bool overwrite,
                 std::optional<UploadSettings> upload = {}, std::optional<RetentionRule> keep = {});

    Fault fault() const noexcept override { return Fault::storage; }
    SinkTraits traits() const noexcept override
    {
        return {.may_block = current_.part->traits().may_block,
                .finish_timeout_ns = kFinishTimeoutNs};
    }
    Conversion conversion_of(const Format& format) const override
    {
        return current_.part->conversion_of(format);
    }
    std::optional<Hop> plan(const MemoryTraits& traits, std::string& why) const override
    {
        return current_.part->plan(traits, why);
    }
    bool prepare(const StreamInfo& stream, BlockPool& pool, int cancel, std::string& why) override;
    void start() override;
    bool ready() const noexcept override;
    void submit(Block filled) override;
    void service() override;
    Wait wait() override;
    std::size_t pending() const noexcept override;
    std::uint64_t progress() const noexcept override
    {
        return closer_.progress() + first_->progress();
    }
    std::uint64_t free_space_left() const noexcept override;
    std::optional<std::uint64_t> stored() const noexcept override { return closer_.stored(); }
    SinkCounters counters() const noexcept override
    {
        return {.uploads = upload_ ? std::optional(closer_.uploads()) : std::nullopt};
    }
    void stop(Stop how, const StreamEnd& end) override;
    SinkResult result() const override;

private:
    /// A part to which blocks are, or were, submitted.
    struct Open {
        std::shared_ptr<Part> part;
        std::size_t given = 0;            ///< blocks submitted to the part
        int watched = -1;                 ///< descriptor of the part's wait() in group_
        std::uint64_t begin = 0, end = 0; ///< positions of its samples in the stream
        std::int64_t end_ns = 0;          ///< when its last sample was taken
    };

    bool may_rotate() const noexcept;
    void put_held();
    bool announced(const Block& first);
    void put(Block filled);
    void apply_late_report(const Part::LateReport& late, std::uint64_t begin);
    void pass_on(const StreamEnd& end);
    void lock_series();
    void refuse_too_small_keep() const;
    std::uint64_t most_on_disk() const noexcept;
    StreamInfo info_of_next() const;
    void ask_for_next();
    void rotate();
    void hand_over();
    void forget_added_names();
    void watch(Open& open);
    void unwatch(Open& open) noexcept;

    PartSeries series_;
    SeriesLock lock_;   ///< held until all parts are finished
    std::string place_; ///< the file of the first part
    Rotation rotation_;
    bool overwrite_;
    std::optional<UploadSettings> upload_;
    std::optional<RetentionRule> keep_; ///< used if there is no upload_
    StreamInfo stream_;
    BlockPool* pool_ = nullptr;
    int cancel_ = -1;
    bool open_ = false;

    std::shared_ptr<const Part> first_; ///< for progress(), the same for all parts; any thread
    Open current_;
    std::deque<Open> draining_; ///< earlier parts; their last writes are under way
    std::size_t number_ = 0;    ///< number of current_ in the series
    std::atomic<std::uint64_t> most_on_disk_{kUnknown}; ///< bytes; for free_space_left()
    std::size_t first_name_ = 0; ///< number of the part whose name is first in names_
    PartMeter meter_;            ///< measures current_
    /// Position in the stream before which all losses and retunings are known.
    std::uint64_t final_before_ = kUnknown;
    detail::Retunings retunings_;
    std::deque<std::string> names_; ///< first files of the parts that PartRetention does not list
    std::vector<std::string> removed_;
    std::optional<Block> held_; ///< block that waits for the next part or for its announcement

    sys::Event task_done_;
    sys::FdGroup group_;
    PartCloser closer_{task_done_};
    NextPart next_{task_done_}; ///< the threads of the last two members end first
};

} // namespace iio_stream::file
