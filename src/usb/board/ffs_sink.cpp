// SPDX-License-Identifier: MIT
#include "usb/board/ffs_sink.hpp"

#include "core/base/align.hpp"
#include "core/stream/unsent_metadata.hpp"
#include "iio_stream/error.hpp"
#include "sys/event.hpp"

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <utility>

namespace iio_stream::usb {

namespace {

constexpr std::int64_t kLastEventsNs = 200'000'000; ///< how long a host has to read the last events

} // namespace

FfsSink::~FfsSink()
{
    if (!joined_)
        return;
    Turn turn = function_->turn();
    close_files();
    leave(turn);
}

bool FfsSink::prepare(const StreamInfo& stream, BlockPool& pool, int cancel, std::string& why)
{
    const AttributeAllowlist allowed(settings_.allowed, stream.source, stream.tuning);
    Turn turn = function_->turn();
    reset(stream, pool);
    cancel_ = cancel;
    if (!joined_)
        enabled_ = streaming_ = false;
    attributes_.reset();
    if (!allowed.names().empty())
        attributes_.emplace(allowed);
    join({stream.format, wire_bytes_, stream.source.text(), allowed.tuning(), allowed.names(),
          settings_.check},
         turn);
    enabled_ = enabled_ || function_->enabled();
    const bool accepted = await_enable(turn, cancel, [this] { return sender_ || open_sender(); });
    why = !accepted ? refusal_ : dmabuf_ ? detail::dma_reach_remark(pool) : "";
    if (accepted)
        detail::note_unsent_metadata(stream, why);
    prepared_ns_ = sys::monotonic_ns();
    return accepted;
}

// The source is not started until the host has requested the stream.
bool FfsSink::has_receiver()
{
    if (streaming_)
        return true;
    check_patience(prepared_ns_, "no program on the host has requested the stream");
    return false;
}

bool FfsSink::ready() const noexcept
{
    const Turn turn = function_->turn();
    return wire_blocks_.size() < most_;
}

void FfsSink::submit(Block filled)
{
    const Turn turn = function_->turn();
    // A skipped block is returned at once. With a source that is always ready, the pipeline then
    // never waits, and only this call handles the events of ep0.
    if (!streaming_)
        poll_ep0();
    framing::Header header = framing::describe(filled, wire_bytes_);
    if (!streaming_)
        return pass_over(filled, header.loss);
    if (settings_.check != framing::Check::none) {
        header.checksum = framing::checksum_of(filled);
        take_ended(); // in between, because many blocks may still be waiting for their checksums
    }
    header.loss = framing::merged(std::exchange(passed_, std::nullopt), header.loss);
    header.sequence = sequence_++;
    next_index_ = filled.sample_index() + filled.bytes() / sample_bytes_;
    if (header.loss && event_sender_)
        report_loss(header);
    wire_blocks_.push({std::move(filled), header});
    ++blocks_;
    send_all();
}

void FfsSink::service()
{
    const Turn turn = function_->turn();
    poll_ep0();
    take_ended();
    send_all();
}

Wait FfsSink::wait()
{
    const Turn turn = function_->turn();
    const int front = sender_ && sent_ != 0 ? sender_->wait_fd(wire_blocks_.front()) : -1;
    return wait_for_fence(sender_ && front != sender_->header_fd() ? front : -1);
}

std::size_t FfsSink::pending() const noexcept
{
    const Turn turn = function_->turn();
    return wire_blocks_.size();
}

void FfsSink::stop(Stop how, const StreamEnd& end)
{
    Turn turn = function_->turn();
    if (how == Stop::drain && joined_) {
        poll_ep0();
        if (sender_ && enabled_ && streaming_ && wire_blocks_.empty())
            send_end(turn, end, sys::after(timeout_ns_));
    }
    close_files();
    wire_blocks_.clear();
    leave(turn);
    enabled_ = streaming_ = false;
}

SinkResult FfsSink::result() const
{
    const Turn turn = function_->turn();
    const nlohmann::json report{
        {"unheard_samples", unheard_}, {"resent_blocks", resent_}, {"failed_blocks", failed_}};
    return {.report = report.dump()};
}

void FfsSink::on_enable()
{
    enabled_ = true;
    again_ = again_ || sent_ != 0; // the transfers in flight ended with the endpoint
}

void FfsSink::on_disable()
{
    enabled_ = false;
}

void FfsSink::close_files() noexcept
{
    close_sender();
    event_sender_.reset();
}

void FfsSink::on_start(std::uint32_t stream_id, bool again)
{
    stream_id_ = stream_id;
    streaming_ = true;
    pass_over_all();
    if (!again && !detects_losses_)
        passed_ = framing::merged(passed_, framing::kUndetectedLosses);
}

void FfsSink::on_stop()
{
    streaming_ = false;
    pass_over_all();
}

std::string FfsSink::stats_json() const
{
    return nlohmann::json{{"blocks", blocks_},
                          {"resent_blocks", resent_},
                          {"failed_blocks", failed_},
                          {"unheard_samples", unheard_}}
        .dump();
}

std::optional<std::string> FfsSink::attribute(std::size_t number)
{
    const auto answer = attributes_->answer(number);
    if (answer)
        shape_.tuning = attributes_->tuning();
    return answer;
}

void FfsSink::reset(const StreamInfo& stream, BlockPool& pool)
{
    close_files();
    pool_ = &pool;
    sample_bytes_ = stream.format.sample_bytes;
    wire_bytes_ = detail::round_up(pool.block_size(), framing::kPacketBytes);
    timeout_ns_ = stream.timeout_ns;
    wire_blocks_.reset(pool.count());
    sent_ = 0;
    again_ = false;
    sequence_ = next_index_ = number_ = unheard_ = resent_ = failed_ = blocks_ = 0;
    passed_.reset();
    detects_losses_ = stream.detects_losses;
    dmabuf_ = wants_dmabufs(pool.traits());
    fresh_ = true;
    may_block_ = !dmabuf_ || settings_.check != framing::Check::none;
    most_ = pool.count();
}

// Returns false if the controller refuses DMABUFs or if events of ep0 have to be handled first.
bool FfsSink::open_sender()
{
    if (dmabuf_) {
        int error = 0;
        sender_ = make_dmabuf_sender(endpoint_path(), *pool_, wire_bytes_, function_->fd(), fresh_,
                                     error);
        if (!sender_ && error != EAGAIN)
            refused(error, pool_->traits().memory);
        if (!sender_)
            return false;
        fresh_ = false;
    } else {
        sender_ = make_write_sender(endpoint_path(), wire_bytes_);
        // With DMABUFs, headers alone need not wake the thread.
        group_->add(sender_->header_fd(), POLLIN);
    }
    most_ = std::min(pool_->count(), sender_->most());
    if (!event_sender_)
        event_sender_.emplace(settings_.mount + "/ep3");
    return true;
}

// Closing the file is the only operation that is always allowed; it cancels the queued transfers.
// The fences are closed first: their locks belong to the attachments, and closing a fence after the
// endpoint can hang the kernel.
void FfsSink::close_sender() noexcept
{
    if (!sender_)
        return;
    unsend();
    group_->remove(sender_->header_fd());
    sender_.reset();
}

// Call when no transfer is in flight. The blocks that were in flight will be sent again.
void FfsSink::unsend() noexcept
{
    unwatch();
    for (std::size_t i = 0; i < sent_; ++i)
        wire_blocks_.at(i).fence.close();
    sent_ = 0;
    again_ = false;
}

// Skips a block. The next header reports its losses, even to a host that continues, for example
// after a reconnection.
void FfsSink::pass_over(const Block& filled, const std::optional<framing::Header::Loss>& loss)
{
    const std::uint64_t samples = filled.bytes() / sample_bytes_;
    unheard_ += samples;
    passed_ = framing::seen_from_behind(framing::merged(passed_, loss), samples);
}

// Skips all queued blocks, which the host no longer needs.
void FfsSink::pass_over_all()
{
    if (wire_blocks_.empty())
        return;
    close_sender();
    while (!wire_blocks_.empty()) {
        const WireBlock wire_block = wire_blocks_.pop();
        pass_over(wire_block.filled, wire_block.header.loss);
    }
}

// Sends the event before the block, which may have to wait a long time for a slow host.
void FfsSink::report_loss(const framing::Header& header)
{
    nlohmann::ordered_json event{{"event", "overflow"},
                                 {"stream_id", stream_id_},
                                 {"sequence", header.sequence},
                                 {"lost_min", header.loss->lost_min},
                                 {"lost_max", nullptr}};
    if (header.loss->lost_max != kUnknown)
        event["lost_max"] = header.loss->lost_max;
    event_sender_->send(std::move(event));
}

void FfsSink::send_all()
{
    const auto possible = [this] { return enabled_ && !again_ && sent_ < wire_blocks_.size(); };
    while (possible()) {
        if (!sender_ && !open_sender())
            return check_refused();
        if (sent_ >= sender_->most())
            return;
        WireBlock& wire_block = wire_blocks_.at(sent_);
        wire_block.header.stream_id = stream_id_;
        wire_block.number = number_++;
        wire_block.error = 0;
        sender_->announce(wire_block);
        poll_ep0();
        if (!sender_)
            continue; // an event has closed the sender, and the announced header is lost
        if (!possible())
            return;
        if (sender_->send(wire_block) != 0) {
            again_ = true; // ENABLE follows
            enabled_ = false;
            return;
        }
        ++sent_;
    }
}

// Takes ended blocks from the front. If the endpoint fails, all later transfers fail, too, and the
// blocks are sent again. A request that fails alone is a loss, which the host detects from the next
// header.
void FfsSink::take_ended()
{
    while (sent_ != 0 && sender_ && sender_->ended(wire_blocks_.front())) {
        const int error = wire_blocks_.front().error;
        if (is_endpoints(error)) {
            again_ = true;
            break;
        }
        if (error != 0 && framing::are_most(++failed_, blocks_))
            throw Error(Fault::device, error, "send to", endpoint_path(),
                        "most transfers of the USB controller fail");
        unwatch();
        (void)wire_blocks_.pop();
        --sent_;
    }
    if (!again_)
        return;
    for (std::size_t i = 0; i < sent_; ++i)
        if (sender_ && !sender_->ended(wire_blocks_.at(i)))
            return; // the transfer ends soon
    resent_ += sent_;
    unsend();
}

void FfsSink::report_end(const std::optional<Error>& error)
{
    nlohmann::ordered_json event{{"event", error ? "error" : "stop"}, {"stream_id", stream_id_}};
    if (error) {
        event["errno"] = error->code().value();
        event["text"] = error->what();
    }
    event_sender_->send_end(std::move(event));
}

// Sends the events first, so that a host that reads them has them soon after the end.
void FfsSink::send_end(Turn& turn, const StreamEnd& end, std::int64_t deadline_ns)
{
    report_end(end.error);
    framing::Header h;
    h.flags = framing::Header::end | (end.error ? framing::Header::broken : 0U);
    h.stream_id = stream_id_;
    h.sequence = sequence_;
    h.sample_index = next_index_;
    h.loss = framing::merged(passed_, framing::merge_trailing(end.gaps));
    sender_->send_header(h);
    bool out = false;
    while (sender_ && streaming_ && enabled_) {
        if (!out && sender_->last_header_out()) {
            out = true;
            deadline_ns = std::min(deadline_ns, sys::after(kLastEventsNs));
        }
        if (out && event_sender_->all_read())
            return;
        const std::int64_t left = deadline_ns - sys::monotonic_ns();
        const auto patience_ms =
            static_cast<int>(std::clamp<std::int64_t>(left / 1'000'000, 0, 50));
        pollfd fds[] = {{wake_fd(), POLLIN, 0},
                        {cancel_, POLLIN, 0},
                        {out ? -1 : sender_->header_fd(), POLLIN, 0},
                        {event_sender_->fd(), POLLIN, 0}};
        turn.unlock();
        (void)::poll(fds, std::size(fds), patience_ms);
        turn.lock();
        if (left <= 0 || fds[1].revents != 0)
            return; // the host keeps the data it has read, and detects that the function is gone
        poll_ep0();
    }
}

} // namespace iio_stream::usb
