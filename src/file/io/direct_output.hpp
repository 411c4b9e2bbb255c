// SPDX-License-Identifier: MIT
#pragma once

#include "file/io/io_plan.hpp"
#include "file/io/output.hpp"
#include "sys/disk/io_queue.hpp"

#include <optional>
#include <vector>

namespace iio_stream::file {

/// Parameters of a direct output.
struct DirectSettings {
    sys::DirectIo io;
    IoEngine engine = IoEngine::io_uring;
    std::size_t depth = 4;
    bool staged = false;          ///< the disk cannot read the blocks' own pages: copy
    std::uint64_t ahead = 0;      ///< bytes to reserve at a time; 0 = none
    std::uint64_t expected = 0;   ///< bytes that the stream will have; 0 = unknown
    std::uint64_t sync_every = 0; ///< bytes between two syncs; 0 = none
};

/// Size of each buffer into which blocks are copied if the disk cannot use their own pages.
std::size_t write_stage_bytes(std::size_t block_size, std::size_t align);

/// Writes bypass the page cache: the disk reads the blocks' own pages, with several requests in
/// flight. Data that are not aligned for the disk (the stream's tail, everything after a short
/// block) go through staging buffers. Writes that extend a file are synchronous on ext4, so the
/// file is extended ahead of them.
class DirectOutput final : public Output {
public:
    /// `queue`: a queue for tests; without one, the constructor creates a queue.
    DirectOutput(const OpenFile& file, const DirectSettings& settings, const StreamInfo& stream,
                 BlockPool& pool, int cancel, std::unique_ptr<sys::IoQueue> queue = nullptr);

    bool may_block() const noexcept override;
    void start() override;
    bool ready() const noexcept override;
    void submit(Block filled) override;
    void service() override;
    Wait wait() override;
    std::size_t pending() const noexcept override { return in_place_; }
    void finish(Stop how) override;
    std::uint64_t valid() const noexcept override { return valid_; }
    /// Why the writes are slower than they could be; "" if nothing slows them down.
    std::string remark() const;

private:
    /// One write. Its memory stays leased, with CPU access open, until it has ended.
    struct Request {
        std::optional<Block> filled; ///< the block, if it is written in place …
        std::optional<CpuRead> access;
        std::optional<EmptyBlock> stage; ///< … or the buffer into which it was copied
        std::span<const std::byte> data;
        std::uint64_t offset = 0;
        std::size_t buffer = 0;
        std::size_t valid_bytes = 0; ///< valid bytes of `data`; the rest is padding
        std::size_t done = 0;        ///< bytes written, rounded down so that the rest is aligned
        std::size_t written = 0;     ///< bytes written
        bool ended = false;
    };

    void put(Request& request);
    void write_in_place(Block filled);
    void copy(std::span<const std::byte> bytes);
    void flush_stage();
    void handle(const sys::Completed& completed);
    void retire();
    bool may_reserve() noexcept;
    void reserve_ahead();
    void reserved(std::ptrdiff_t result);
    void await(std::size_t in_flight, std::int64_t patience_ns);
    bool aligned() const noexcept;
    Request& next_request() noexcept { return requests_[(first_ + count_++) % depth_]; }

    OpenFile file_;
    DirectSettings settings_;
    std::size_t depth_;
    std::size_t registered_; ///< blocks of the pool; stages have higher buffer numbers
    std::size_t most_bytes_; ///< largest size of a block
    std::int64_t timeout_ns_;
    int cancel_;
    BlockPool stages_;
    std::vector<Request> requests_;       ///< a ring, in file order
    std::unique_ptr<sys::IoQueue> queue_; ///< destroyed before the memory it writes from
    std::size_t first_ = 0, count_ = 0;
    std::size_t in_place_ = 0;        ///< requests that hold a block
    std::size_t in_flight_ = 0;       ///< requests of all kinds in the kernel
    std::optional<EmptyBlock> stage_; ///< being filled
    std::size_t stage_used_ = 0;
    std::uint64_t position_ = 0; ///< bytes accepted
    std::uint64_t valid_ = 0;
    std::uint64_t reserved_ = 0, reserving_ = 0; ///< length of the file; bytes being added to it
    int reserve_error_ = 0;                      ///< why the file is not extended ahead
    std::uint64_t synced_ = 0;
    bool syncing_ = false;
};

} // namespace iio_stream::file
