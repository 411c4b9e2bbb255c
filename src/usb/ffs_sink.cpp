// SPDX-License-Identifier: MIT
#include "usb/ffs_sink.hpp"

#include "core/sizing.hpp"
#include "sys/event.hpp"

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <poll.h>

namespace iio_stream::usb {

namespace {

constexpr std::int64_t kNewsNs = 200'000'000; ///< for a host to read the last events

} // namespace

FfsSink::~FfsSink()
{
    if (!joined_)
        return;
    Turn turn = function_->turn();
    close_files();
    leave(turn);
}

void FfsSink::close_files() noexcept
{
    close_way();
    event_sender_.reset();
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
    trailing_.reset();
    broken_by_.reset();
    dmabuf_ = wants_dmabufs(pool.traits());
    fresh_ = true;
    may_block_ = !dmabuf_ || settings_.check != framing::Check::none;
    most_ = pool.count();
}

bool FfsSink::prepare(const StreamInfo& stream, BlockPool& pool, int cancel, std::string& why)
{
    const Allowed allowed(settings_.allowed, stream.source, stream.tuning);
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
    const bool accepted = await_enable(turn, cancel, [this] { return sender_ || open_way(); });
    why = !accepted ? refusal_ : dmabuf_ ? detail::low_remark(pool) : "";
    prepared_ns_ = sys::monotonic_ns();
    return accepted;
}

// A live source is not started before its first block has somewhere to go.
bool FfsSink::attended()
{
    if (streaming_)
        return true;
    check_patience(prepared_ns_, "no program there has asked for the stream");
    return false;
}

// False if the controller refuses DMABUFs, or ep0 has events to handle first.
bool FfsSink::open_way()
{
    if (dmabuf_) {
        int error = 0;
        sender_ =
            make_dmabuf_way(endpoint_path(), *pool_, wire_bytes_, function_->fd(), fresh_, error);
        if (!sender_ && error != EAGAIN)
            refused(error, pool_->traits().memory);
        if (!sender_)
            return false;
        fresh_ = false;
    } else {
        sender_ = make_write_way(endpoint_path(), wire_bytes_);
        group_->add(sender_->header_fd(), POLLIN); // no need to wake up for headers alone
    }
    most_ = std::min(pool_->count(), sender_->most());
    if (!event_sender_)
        event_sender_.emplace(settings_.mount + "/ep3");
    return true;
}

void FfsSink::tell_end()
{
    nlohmann::ordered_json event{{"event", broken_by_ ? "error" : "stop"},
                                 {"stream_id", stream_id_}};
    if (broken_by_) {
        event["errno"] = broken_by_->code().value();
        event["text"] = broken_by_->what();
    }
    event_sender_->tell_end(std::move(event));
}

// Events first: a host that reads them has them soon after the end.
void FfsSink::send_end(Turn& turn, std::int64_t deadline_ns)
{
    tell_end();
    framing::Header h;
    h.flags = framing::Header::end | (broken_by_ ? framing::Header::broken : 0U);
    h.stream_id = stream_id_;
    h.sequence = sequence_;
    h.sample_index = next_index_;
    h.loss = framing::merged(passed_, trailing_);
    sender_->send_header(h);
    bool out = false;
    while (sender_ && streaming_ && enabled_) {
        if (!out && sender_->last_header_out()) {
            out = true;
            deadline_ns = std::min(deadline_ns, sys::after(kNewsNs));
        }
        if (out && event_sender_->all_read())
            return;
        const std::int64_t left = deadline_ns - sys::monotonic_ns();
        const auto patience_ms =
            static_cast<int>(std::clamp<std::int64_t>(left / 1'000'000, 0, 50));
        pollfd fds[] = {{news_fd(), POLLIN, 0},
                        {cancel_, POLLIN, 0},
                        {out ? -1 : sender_->header_fd(), POLLIN, 0},
                        {event_sender_->fd(), POLLIN, 0}};
        turn.unlock();
        (void)::poll(fds, std::size(fds), patience_ms);
        turn.lock();
        if (left <= 0 || fds[1].revents != 0)
            return; // the host has what it read; it sees the function go
        hear();
    }
}

void FfsSink::stop(Stop how)
{
    Turn turn = function_->turn();
    if (how == Stop::drain && joined_) {
        hear();
        if (sender_ && enabled_ && streaming_ && wire_blocks_.empty())
            send_end(turn, sys::after(timeout_ns_));
    }
    close_files();
    wire_blocks_.clear();
    leave(turn);
    enabled_ = streaming_ = false;
}

std::optional<std::string> FfsSink::attribute(std::size_t number)
{
    const auto answer = attributes_->answer(number);
    if (answer)
        shape_.tuning = attributes_->tuning();
    return answer;
}

std::string FfsSink::stats_json() const
{
    return nlohmann::json{{"blocks", blocks_},
                          {"resent_blocks", resent_},
                          {"failed_blocks", failed_},
                          {"unheard_samples", unheard_}}
        .dump();
}

std::string FfsSink::report() const
{
    const Turn turn = function_->turn();
    return nlohmann::json{
        {"unheard_samples", unheard_}, {"resent_blocks", resent_}, {"failed_blocks", failed_}}
        .dump();
}

} // namespace iio_stream::usb
