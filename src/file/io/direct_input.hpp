// SPDX-License-Identifier: MIT
#pragma once

#include "file/io/input.hpp"
#include "file/io/io_plan.hpp"
#include "sys/disk/io_queue.hpp"

#include <vector>

namespace iio_stream::file {

/// Parameters of a direct input.
struct DirectReading {
    sys::DirectIo io;
    IoEngine engine = IoEngine::io_uring;
    std::size_t depth = 4;
    std::uint64_t size = 0; ///< size of the file
    bool staged = false;    ///< the disk cannot write into the blocks' own pages: copy
};

/// Reads bypass the page cache: the disk writes into the blocks' own pages, with several requests
/// in flight as soon as blocks are submitted. Data that are not aligned for the disk (after the
/// seam of a loop over an unaligned file) go through staging buffers.
class DirectInput final : public Input {
public:
    /// `io`: a queue for tests; without one, the constructor creates a queue.
    DirectInput(const OpenInput& file, const DirectReading& reading, BlockPool& pool,
                std::unique_ptr<sys::IoQueue> io = nullptr);
    ~DirectInput() override; ///< waits for the requests, for a limited time

    void submit(EmptyBlock block, std::size_t bytes) override;
    Got take() override;
    Wait wait() override;
    std::size_t pending() const noexcept override { return queue_.size(); }
    void on_timeout() override;
    std::string remark() const { return queue_remark(*io_); }

private:
    /// A block being filled. CPU access to it is open while the disk writes into it.
    struct Slot {
        std::optional<detail::FillRequest> order;
        std::optional<CpuWrite> access;
        std::size_t open = 0; ///< number of its requests that have not ended
        bool whole = false;   ///< all its requests have been made
        int error = 0;        ///< errno of the first request that failed; 0 = none
        std::uint64_t error_at = 0;
    };
    /// One read.
    struct Request {
        std::span<std::byte> data; ///< aligned, and so is its place in the file
        std::uint64_t offset = 0;
        std::size_t wanted = 0; ///< bytes of `data`; the rest is after the end of the file
        std::size_t came = 0;
        std::size_t buffer = 0, slot = 0;
        std::optional<EmptyBlock> stage; ///< holds `data`, which is copied when it has arrived
        std::size_t skip = 0;            ///< bytes of a stage before the wanted ones
        std::span<std::byte> target;     ///< where the wanted bytes are copied to
    };

    void start_reads();
    bool start_piece(Slot& slot, std::size_t index);
    bool in_place(const Slot& slot, std::size_t bytes) const noexcept;
    void advance(std::size_t bytes) noexcept;
    void put(std::size_t request);
    void service();
    void handle(const sys::Completed& completed);
    void close_piece(Request& request, int error);
    bool front_is_whole() const noexcept;
    [[noreturn]] void fail(const Slot& slot) const;

    OpenInput file_;
    DirectReading reading_;
    std::vector<ByteRange> ranges_; ///< ranges of the file's samples
    BlockPool stages_;
    std::size_t registered_;  ///< blocks of the pool; stages have higher buffer numbers
    std::vector<Slot> slots_; ///< by the number of the block in its pool
    std::vector<Request> requests_;
    std::vector<std::size_t> idle_;    ///< requests not in flight
    detail::Fifo<std::size_t> queue_;  ///< slots, in stream order
    std::unique_ptr<sys::IoQueue> io_; ///< destroyed before the memory it reads into
    std::size_t started_ = 0;          ///< slots at the front of queue_ whose requests are all made
    std::size_t begun_ = 0;            ///< bytes of the next slot that have been requested
    std::size_t range_ = 0;            ///< number of the range of samples to request next
    std::uint64_t at_ = 0;             ///< place in the file, in that range
    bool no_more_ = false;             ///< the end of the file has been requested
    std::int64_t progress_ns_ = 0;
};

} // namespace iio_stream::file
