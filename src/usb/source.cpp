// SPDX-License-Identifier: MIT
#include "usb/source.hpp"

#include "core/sizing.hpp"
#include "iio_stream/units.hpp"
#include "sys/event.hpp"
#include "sys/files.hpp"
#include "usb/descriptors.hpp"
#include "usb/usb.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>

namespace iio_stream::usb {

namespace {

constexpr std::size_t kOverhead = 8192; ///< that usbfs counts besides a block's bytes
constexpr std::int64_t kReadyNs = 10'000'000'000; ///< for a board between START and its first block

// Half of what usbfs gives to all programs together; 0 there means no limit.
std::size_t usbfs_budget()
{
    std::size_t mebibytes = 16;
    const auto text = sys::read_text("/sys/module/usbcore/parameters/usbfs_memory_mb");
    if (text)
        (void)std::from_chars(text->data(), text->data() + text->size(), mebibytes);
    return mebibytes == 0 ? SIZE_MAX : mebibytes * 1024 * 1024 / 2;
}

} // namespace

UsbSource::UsbSource(const BoardChoice& choice, std::size_t transfers)
    : board_(choice),
      shape_(parse_info(board_.get_text(static_cast<unsigned char>(Request::get_info)))),
      wanted_transfers_(transfers)
{}

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
    witness_.reset(shape_.format.sample_bytes);
    next_index_.reset();
    started_ = {};
    std::size_t most = wanted_transfers_;
    if (most == 0)
        most = std::max<std::size_t>(usbfs_budget() / (shape_.wire_bytes + kOverhead), 1);
    pipe_.emplace(board_, queue_, shape_.wire_bytes, std::min(most, pool.count()));
    return true;
}

void UsbSource::start()
{
    // In this order: what came while libusb waits for START's answer would wake nobody. The board
    // keeps its first header until it is asked for.
    started_ = board_.start();
    patient_until_ns_ = sys::after(kReadyNs);
    pipe_->post();
}

bool UsbSource::settle()
{
    return next_index_ || sys::monotonic_ns() >= patient_until_ns_;
}

void UsbSource::stop() noexcept
{
    board_.stop();
    pipe_.reset();
    queue_.clear();
}

void UsbSource::submit(Block block, std::size_t bytes)
{
    queue_.push({std::move(block), bytes});
    if (started_.stream_id != 0)
        pipe_->post();
}

// What is missing between the last block and this one. False for one that has been seen before.
bool UsbSource::account(const Header& header, std::uint64_t samples)
{
    const std::uint64_t position = witness_.position();
    const bool before = header.loss && header.loss->offset_max <= 0;
    const std::uint64_t told = header.loss ? header.loss->lost_min : 0;
    if (next_index_) {
        if (header.sample_index < *next_index_)
            return false;
        const std::uint64_t jump = header.sample_index - *next_index_;
        const std::uint64_t missing = jump - std::min(jump, before ? told : 0);
        if (missing != 0)
            witness_.gap({position, position, missing, missing, Evidence::counter});
    }
    if (header.loss && (next_index_ || !before)) {
        const auto place = [&](std::int64_t offset) {
            return offset < 0 ? position - std::min(position, static_cast<std::uint64_t>(-offset))
                              : position + std::min(static_cast<std::uint64_t>(offset), samples);
        };
        witness_.gap({place(header.loss->offset_min), place(header.loss->offset_max), told,
                      header.loss->lost_max, header.loss->evidence});
    }
    next_index_ = header.sample_index + samples + (before ? 0 : told);
    return true;
}

Taken UsbSource::deliver(const Header& header)
{
    const std::size_t sample = shape_.format.sample_bytes;
    if (header.valid_bytes % sample != 0)
        throw Error(Fault::device, EPROTO, "read from", board_.name(),
                    "a block of " + std::to_string(header.valid_bytes) +
                        " bytes is not a whole number of samples");
    // Before START, or told twice: not of this stream.
    const bool ours =
        header.stream_id == started_.stream_id && account(header, header.valid_bytes / sample);
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
    const BlockState state =
        (header.flags & Header::unverified) != 0 ? BlockState::unverified : BlockState::complete;
    BlockInfo info = witness_.next(header.valid_bytes, time, state);
    info.index_exact = info.index_exact && (header.flags & Header::index_guessed) == 0;
    return {std::move(order.block).fill(info), false};
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
            (void)account(header, 0);
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
    stats.trailing = witness_.left();
    return stats;
}

namespace {

std::unique_ptr<Source> make_source(Uri& uri)
{
    BoardChoice choice;
    if (!uri.rest.empty()) {
        choice.id = parse_usb_id(uri.rest);
        if (!choice.id)
            fail_usage("usb:" + uri.rest + " names no board", "usb: or usb:1d6b:0104; serial= chooses");
    }
    choice.serial = uri.options.take("serial", "");
    if (const auto wait = uri.options.take("wait"))
        choice.wait_ns = parse_duration("wait", *wait).count();
    std::size_t transfers = 0;
    if (const auto text = uri.options.take("transfers")) {
        transfers = parse_memory_size("transfers", *text);
        if (transfers < 1 || transfers > 1024)
            fail_usage("transfers=" + *text + ": 1 to 1024 are possible");
    }
    return std::make_unique<UsbSource>(choice, transfers);
}

} // namespace

Scheme usb_scheme()
{
    return {"usb", &make_source, {}};
}

} // namespace iio_stream::usb
