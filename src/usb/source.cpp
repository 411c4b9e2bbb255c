// SPDX-License-Identifier: MIT
#include "usb/source.hpp"

#include "core/sizing.hpp"
#include "iio_stream/error.hpp"
#include "iio_stream/units.hpp"
#include "sys/event.hpp"

#include <algorithm>
#include <cerrno>

namespace iio_stream::usb {

namespace {

constexpr std::int64_t kFirstBlockNs = 10'000'000'000; ///< for a board between START and its first block

StreamShape shape_from(const BoardInfo& info, const std::string& board)
{
    if (!info.to_host)
        throw Error(Fault::device, ENODATA, "read from", board, "the board sends nothing",
                    "on the board: iio-stream stream SOURCE ffs:MOUNT");
    return *info.to_host;
}

} // namespace

UsbSource::UsbSource(const BoardChoice& choice, std::size_t transfers,
                     const std::vector<std::pair<std::string, std::string>>& changes)
    : board_(choice),
      shape_(shape_from(board_->info(), board_->name())),
      wanted_transfers_(transfers)
{
    for (const auto& [name, value] : changes) {
        const auto found = std::find(shape_.attributes.begin(), shape_.attributes.end(), name);
        if (found == shape_.attributes.end())
            fail_usage(name + "=" + value + ": " + board_->name() + " does not allow it",
                       "on the board: ffs:MOUNT allow=" + name);
        (void)board_->set_attribute(static_cast<std::size_t>(found - shape_.attributes.begin()),
                                    name, value);
    }
    if (!changes.empty())
        shape_ = shape_from(board_->info(), board_->name());
}

// The board's blocks are ours.
BlockNeeds UsbSource::needs() const
{
    BlockNeeds needs;
    needs.align = detail::round_up(shape_.wire_bytes, shape_.format.sample_bytes);
    needs.max_bytes = needs.align;
    return needs;
}

std::optional<Hop> UsbSource::plan(const MemoryTraits&, std::string&) const
{
    Hop hop;
    hop.mechanism = "usb-bulk";
    hop.copies = 1;
    hop.cpu = true;
    hop.reason = "usbfs copies out of the kernel's buffers";
    return hop;
}

bool UsbSource::prepare(BlockPool& pool, std::string&)
{
    pipe_.reset();
    queue_.reset(pool.count());
    arrivals_.reset(shape_.format.sample_bytes);
    started_ = {};
    const std::size_t most = most_in_flight(wanted_transfers_, shape_.wire_bytes);
    pipe_.emplace(board_, queue_, shape_.wire_bytes, std::min(most, pool.count()));
    return true;
}

void UsbSource::start()
{
    // In this order: what came while libusb waits for START's answer would wake nobody. The board
    // keeps its first header until it is asked for.
    started_ = board_->start(static_cast<unsigned>(Direction::to_host));
    patient_until_ns_ = sys::after(kFirstBlockNs);
    pipe_->post();
}

bool UsbSource::settle()
{
    return arrivals_.begun() || sys::monotonic_ns() >= patient_until_ns_;
}

void UsbSource::stop() noexcept
{
    board_->stop(Direction::to_host);
    pipe_.reset();
    queue_.clear();
}

void UsbSource::submit(Block block, std::size_t bytes)
{
    queue_.push({std::move(block), bytes});
    if (started_.stream_id != 0)
        pipe_->post();
}

Taken UsbSource::deliver(const Header& header)
{
    const std::size_t sample = shape_.format.sample_bytes;
    if (header.valid_bytes % sample != 0)
        throw Error(Fault::device, EPROTO, "read from", board_->name(),
                    "a block of " + std::to_string(header.valid_bytes) +
                        " bytes is not a whole number of samples");
    // Before START, or told twice: not of this stream.
    const bool ours = header.stream_id == started_.stream_id && arrivals_.account(header);
    pipe_->release();
    detail::Order order = queue_.pop();
    if (!ours) {
        queue_.push(std::move(order));
        return {};
    }
    Time time{Clock::monotonic, sys::monotonic_ns(), std::nullopt};
    if (header.time_ns != 0)
        time = {Clock::monotonic, header.time_ns + started_.clock_offset_ns,
                started_.uncertainty_ns};
    return {std::move(order.block).fill(arrivals_.next(header, time, false)), false};
}

Taken UsbSource::take()
{
    board_.handle_events();
    for (;;) {
        const Pipe::Found found = pipe_->take();
        if (found == Pipe::Found::nothing)
            return {};
        const Header header = pipe_->header();
        if (found == Pipe::Found::end) {
            (void)arrivals_.account(header);
            return {std::nullopt, true};
        }
        Taken taken = deliver(header);
        pipe_->post();
        if (taken.filled)
            return taken;
    }
}

SourceStats UsbSource::stats() const
{
    SourceStats stats;
    stats.evidence = {Evidence::counter};
    stats.trailing = arrivals_.left();
    return stats;
}

} // namespace iio_stream::usb
