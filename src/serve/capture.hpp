// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/server.hpp"
#include "iio_stream/session.hpp"
#include "serve/reader_queue.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace iio_stream::serve {

/// Captures one device for all of its readers. The capture runs while there is at least one reader,
/// with the channels of all readers. A reader that needs another channel makes the capture
/// restart, which counts as a loss for the other readers (ServedReader::restarts).
///
/// All readers share the blocks. When the blocks run out, a reader that is slower than another one
/// loses its oldest blocks. If no reader is slower than the others, no block is dropped, so none is
/// captured in vain. The device then runs out of blocks, and its losses are counted as those of any
/// stream.
/// Thread: any; starting a capture can take a while.
class Capture {
public:
    static constexpr std::size_t kMostReaders = 32;
    /// Up to this many readers can hold two blocks each: one that is being sent, and one that the
    /// network still needs. If there are more, none of them takes a second block.
    static constexpr std::size_t kReadersWithTwo = 16;
    static constexpr std::size_t kMostHeld = kMostReaders + kReadersWithTwo; ///< by all readers

    /// `memory` is the maximum total size of the device's blocks, in bytes.
    Capture(std::string id, std::size_t memory);
    Capture(const Capture&) = delete;
    ~Capture();

    /// A reader's request.
    struct Wanted {
        std::vector<std::string> channels;
        std::uint64_t samples; ///< number that it reads at a time
        bool in_place;         ///< its network card can read the blocks in place
    };
    /// Adds a reader. Throws Error: EBUSY if there are kMostReaders already, otherwise the device's
    /// error.
    std::shared_ptr<ReaderQueue> join(const Wanted& wanted);
    void leave(const std::shared_ptr<ReaderQueue>& queue) noexcept;
    /// Takes the next block of a reader; null if there is none yet. Throws the error that ended the
    /// capture.
    SharedBlock take(ReaderQueue& queue);
    /// Returns the number of blocks that each reader may hold at the moment.
    std::size_t share() const noexcept { return readers_ <= kReadersWithTwo ? 2 : 1; }
    ServedDevice stats() const;

private:
    class Output;
    struct Prepared {
        std::unique_ptr<Session> session;
        std::shared_ptr<CaptureRun> run;
    };

    Prepared prepare(const PipelineConfig& config);
    bool remove(const std::shared_ptr<ReaderQueue>& queue) noexcept;
    void start(const std::vector<std::string>& channels, std::uint64_t samples);
    void restart(const std::vector<std::string>& channels, std::uint64_t samples) noexcept;
    void end() noexcept;
    void deliver(Block block);
    bool make_room();
    void finish(const std::optional<Error>& error);
    void fail(const Error& error);
    Error ended_early() const;

    const std::string id_;
    const std::size_t memory_;
    std::mutex control_;                ///< serializes join() and leave()
    mutable std::mutex mutex_;          ///< protects the members below
    std::vector<std::string> channels_; ///< captured, in scan order
    ReaderQueues reader_queues_;
    std::unique_ptr<Session> session_; ///< its only pipeline fills the queues
    std::shared_ptr<CaptureRun> run_;
    std::uint64_t runs_ = 0;
    std::int64_t last_ns_ = 0; ///< time of the last block, or of the start
    ServedDevice past_;        ///< counters of the captures that have ended
    bool in_place_ = false;    ///< a reader's network card can read the blocks in place
    std::atomic<std::size_t> readers_ = 0;
    std::atomic<bool> running_ = false;
    std::atomic<bool> ending_ = true; ///< its end is wanted, or its start is not complete
};

} // namespace iio_stream::serve
