// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/reader.hpp"
#include "iio_stream/server.hpp"
#include "serve/reader_queue.hpp"

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace iio_stream::serve {

/// Captures one device for all of its readers. The capture runs while there is at least one reader,
/// with the channels of all readers. A reader that needs another channel makes the capture
/// restart, which counts as a loss for the other readers (ServedReader::restarts). The oldest
/// blocks of a slow reader are dropped before the device runs out of blocks. Thread: any; starting
/// a capture can take a while.
class Capture {
public:
    static constexpr std::size_t kMostReaders = 8;
    /// Blocks that each reader can hold: the one to be sent, and two that the network still needs.
    static constexpr std::size_t kMostHeld = 3;

    /// `memory` is the maximum total size of the device's blocks, in bytes.
    Capture(std::string id, std::size_t memory);
    Capture(const Capture&) = delete;
    ~Capture();

    /// Adds a reader of these channels that reads `samples` samples at a time. Throws Error: EBUSY
    /// if there are kMostReaders already, otherwise the device's error.
    std::shared_ptr<ReaderQueue> join(const std::vector<std::string>& channels,
                                      std::uint64_t samples);
    void leave(const std::shared_ptr<ReaderQueue>& queue) noexcept;
    ServedDevice stats() const;

private:
    void start(const std::vector<std::string>& channels, std::uint64_t samples);
    void restart(const std::vector<std::string>& channels, std::uint64_t samples) noexcept;
    void end() noexcept;
    void pump(Reader& reader);
    void deliver(Reader& reader, const Block& block);
    void fail(const Error& error);

    const std::string id_;
    const std::size_t memory_;
    std::mutex control_;                ///< serializes join() and leave()
    mutable std::mutex mutex_;          ///< protects the members below
    std::vector<std::string> channels_; ///< captured, in scan order
    std::vector<std::shared_ptr<ReaderQueue>> reader_queues_;
    std::unique_ptr<Reader> reader_;
    std::size_t most_held_ = 0; ///< blocks that readers may hold
    std::int64_t last_ns_ = 0;  ///< time of the last block, or of the start
    ServedDevice past_;         ///< counters of the captures that have ended
    std::atomic<bool> running_ = false, ending_ = false;
    std::thread thread_; ///< pumps reader_
};

} // namespace iio_stream::serve
