// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/endpoint.hpp"
#include "sys/fd_group.hpp"
#include "usb/function.hpp"
#include "usb/parcels.hpp"

#include <memory>
#include <optional>

namespace iio_stream::usb {

enum class FfsPath { automatic, dmabuf, write };

/// What an ffs: endpoint was asked to be.
struct FfsSettings {
    std::string mount;
    FfsPath path = FfsPath::automatic;
    std::int64_t wait_ns = 0; ///< for the host, at the start; 0 = until the stream is stopped

    static FfsSettings from(Uri& uri);
};

/// Sends each block to a USB host, through FunctionFS: its DMABUF as it is, or by write().
/// Before the host has asked for the stream prepare() waits; while none asks, blocks are passed
/// over. What the cable's going away interrupted is sent again, in order, when it is back. Owns:
/// ep0 (the function exists while it is open), the endpoint's file and its attachments.
class FfsSink final : public Sink {
public:
    explicit FfsSink(FfsSettings settings)
        : settings_(std::move(settings)), function_(settings_.mount)
    {}

    ~FfsSink() override { close_way(); }

    Fault fault() const noexcept override { return Fault::device; }
    bool may_block() const noexcept override { return may_block_; }
    std::optional<Hop> plan(const MemoryTraits& traits, std::string& why) const override;
    bool prepare(const StreamInfo& stream, BlockPool& pool, int cancel, std::string& why) override;
    bool ready() const noexcept override { return parcels_.size() < most_; }
    void submit(Filled filled) override;
    void service() override;
    Wait wait() override;
    std::size_t pending() const noexcept override { return parcels_.size(); }
    void trailing(std::span<const Gap> gaps) override;
    void stop(Stop how) override;
    std::string report() const override;

private:
    void reset(const StreamInfo& stream, BlockPool& pool);
    bool await_host(std::string& why);
    void listen();
    bool open_way(std::string& why);
    void close_way() noexcept;
    void unsend() noexcept;
    void unwatch() noexcept;
    void pass_over_all();
    void send_all();
    void take_ended();
    void send_end(std::int64_t deadline_ns);
    Header header_of(const Filled& filled);
    std::string stats() const;
    std::string endpoint_path() const { return settings_.mount + "/ep1"; }

    FfsSettings settings_;
    Function function_;
    std::string dmabuf_refusal_; ///< why this controller takes none; empty = it may
    bool dmabuf_ = false, may_block_ = true;
    BlockPool* pool_ = nullptr;
    int cancel_ = -1;
    std::size_t most_ = 0, sample_bytes_ = 1, wire_bytes_ = 0;
    std::int64_t timeout_ns_ = 0;
    bool enabled_ = false;     ///< the host has configured the function
    bool streaming_ = false;   ///< and has asked for the stream
    std::unique_ptr<Way> way_; ///< there from the first ENABLE until UNBIND
    detail::Fifo<Parcel> parcels_;
    std::size_t sent_ = 0; ///< of them, from the front
    bool again_ = false;   ///< some have failed with the endpoint: all are sent again
    std::optional<sys::FdGroup> group_;
    int watched_ = -1; ///< the front's fence, in the group
    std::uint64_t sequence_ = 0, next_index_ = 0, number_ = 0;
    std::optional<Header::Loss> trailing_;
    std::uint64_t unheard_ = 0, resent_ = 0, failed_ = 0, blocks_ = 0;
};

} // namespace iio_stream::usb
