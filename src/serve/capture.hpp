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

/// One device, captured once for all of its readers. It runs while there is one, with the channels
/// of all of them: a reader that needs a further channel has it start again, which counts as a
/// possible loss of the others. One that is slow has its oldest blocks dropped, before the device
/// runs out of them. Thread: any; a start takes its time.
class Capture {
public:
    static constexpr std::size_t kMostReaders = 8;
    static constexpr std::size_t kMostHeld =
        3; ///< by each: the block to be sent, and two that the network still needs

    /// `memory` is what the blocks of the device may take, in bytes.
    Capture(std::string id, std::size_t memory);
    Capture(const Capture&) = delete;
    ~Capture();

    /// A reader of these channels, which reads `samples` of them at a time. Throws Error: EBUSY for
    /// one too many, or what the device says.
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
    std::mutex control_;                ///< of joining and leaving
    mutable std::mutex mutex_;          ///< of what follows
    std::vector<std::string> channels_; ///< captured, in scan order
    std::vector<std::shared_ptr<ReaderQueue>> reader_queues_;
    std::unique_ptr<Reader> reader_;
    std::size_t most_held_ = 0; ///< blocks that readers may hold
    std::int64_t last_ns_ = 0;  ///< when its last block came, or it started
    ServedDevice past_;         ///< of captures that have ended
    std::atomic<bool> running_ = false, ending_ = false;
    std::thread thread_; ///< pumps reader_
};

} // namespace iio_stream::serve
