// SPDX-License-Identifier: MIT
#include "usb/ffs_sink.hpp"

#include "core/sizing.hpp"
#include "iio_stream/units.hpp"
#include "sys/event.hpp"
#include "usb/info.hpp"
#include "usb/usb.hpp"

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <poll.h>

namespace iio_stream::usb {

FfsSettings FfsSettings::from(Uri& uri)
{
    FfsSettings s;
    s.mount = uri.rest;
    while (s.mount.size() > 1 && s.mount.ends_with('/'))
        s.mount.pop_back();
    if (s.mount.empty() || s.mount.front() != '/')
        fail_usage("ffs:" + s.mount + " is no mount point",
                   "such as ffs:/run/iio-stream/ffs, which iio-stream gadget up makes");
    const std::string path = uri.options.take("path", "auto");
    if (path == "dmabuf")
        s.path = FfsPath::dmabuf;
    else if (path == "write")
        s.path = FfsPath::write;
    else if (path != "auto")
        fail_usage("path=" + path + " is not a way to send",
                   suggest(path, {"auto", "dmabuf", "write"}));
    if (const auto wait = uri.options.take("wait"))
        s.wait_ns = parse_duration("wait", *wait).count();
    return s;
}

std::optional<Hop> FfsSink::plan(const MemoryTraits& traits, std::string& why) const
{
    Hop hop;
    if (traits.attachable && settings_.path != FfsPath::write && dmabuf_refusal_.empty()) {
        hop.mechanism = "ffs-dmabuf";
        hop.attached = true;
        return hop;
    }
    const std::string no_dmabuf =
        dmabuf_refusal_.empty() ? "the blocks are no DMABUFs" : dmabuf_refusal_;
    if (settings_.path == FfsPath::dmabuf) {
        why = "path=dmabuf was asked for: " + no_dmabuf;
        return std::nullopt;
    }
    hop.mechanism = "ffs-write";
    hop.copies = 1;
    hop.cpu = true;
    hop.reason = settings_.path == FfsPath::write ? "path=write was asked for" : no_dmabuf;
    return hop;
}

void FfsSink::reset(const StreamInfo& stream, BlockPool& pool)
{
    close_way();
    pool_ = &pool;
    sample_bytes_ = stream.format.sample_bytes;
    wire_bytes_ = detail::round_up(pool.block_bytes(), kPacketBytes);
    timeout_ns_ = stream.timeout_ns;
    parcels_.reset(pool.count());
    sent_ = 0;
    again_ = false;
    sequence_ = next_index_ = number_ = unheard_ = resent_ = failed_ = blocks_ = 0;
    trailing_.reset();
    dmabuf_ =
        pool.traits().attachable && settings_.path != FfsPath::write && dmabuf_refusal_.empty();
    may_block_ = !dmabuf_;
    most_ = pool.count();
}

bool FfsSink::prepare(const StreamInfo& stream, BlockPool& pool, int cancel, std::string& why)
{
    reset(stream, pool);
    cancel_ = cancel;
    function_.answer({info_json(stream, wire_bytes_), [this] { return stats(); }});
    if (!function_.is_open()) {
        enabled_ = streaming_ = false;
        function_.open();
    }
    group_.emplace();
    watched_ = -1;
    group_->add(function_.fd(), POLLIN);
    return await_host(why);
}

// Until the host has asked for the stream. False where the controller refuses DMABUFs.
bool FfsSink::await_host(std::string& why)
{
    const std::int64_t deadline =
        settings_.wait_ns == 0 ? INT64_MAX : sys::after(settings_.wait_ns);
    for (;;) {
        listen();
        if (enabled_ && !way_ && !open_way(why))
            return false;
        if (enabled_ && streaming_ && way_)
            return true;
        const std::int64_t left = deadline - sys::monotonic_ns();
        if (left <= 0)
            throw Error(Fault::device, ETIMEDOUT, "wait for a host at", settings_.mount,
                        enabled_ ? "no program there has asked for the stream"
                                 : "no host has configured the gadget",
                        "wait= gives it more time; iio-stream gadget status shows the controller");
        pollfd fds[] = {{function_.fd(), POLLIN, 0}, {cancel_, POLLIN, 0}};
        (void)::poll(fds, 2, static_cast<int>(std::min<std::int64_t>(left / 1'000'000 + 1, 500)));
        if (fds[1].revents != 0)
            throw Error(Fault::device, ECANCELED, "wait for a host at", settings_.mount);
    }
}

// False where the controller refuses DMABUFs. No way is there yet where ep0 has news.
bool FfsSink::open_way(std::string& why)
{
    if (dmabuf_) {
        int error = 0;
        way_ = make_dmabuf_way(endpoint_path(), *pool_, wire_bytes_, function_.fd(), error);
        if (!way_ && error == EAGAIN)
            return true;
        if (!way_) {
            dmabuf_refusal_ = error == EPERM
                                  ? "the USB controller takes no DMABUFs (EPERM: it has no "
                                    "scatter-gather)"
                                  : "FunctionFS takes no DMABUFs (" + errno_name(error) +
                                        "; Linux 6.9 and newer do)";
            why = dmabuf_refusal_;
            return false;
        }
    } else {
        way_ = make_write_way(endpoint_path(), wire_bytes_);
    }
    most_ = std::min(pool_->count(), way_->most());
    if (!dmabuf_) // of headers alone nobody needs to hear
        group_->add(way_->header_fd(), POLLIN);
    return true;
}

void FfsSink::trailing(std::span<const Gap> gaps)
{
    trailing_ = merge_losses(gaps, 0);
    if (trailing_) // behind all that was sent
        trailing_->offset_min = trailing_->offset_max = 0;
}

void FfsSink::send_end(std::int64_t deadline_ns)
{
    Header h;
    h.flags = Header::end;
    h.stream_id = function_.stream_id();
    h.sequence = sequence_;
    h.sample_index = next_index_;
    h.loss = trailing_;
    way_->send_header(h);
    while (streaming_ && enabled_ && !way_->last_header_out()) {
        const std::int64_t left = deadline_ns - sys::monotonic_ns();
        pollfd fds[] = {
            {function_.fd(), POLLIN, 0}, {cancel_, POLLIN, 0}, {way_->header_fd(), POLLIN, 0}};
        (void)::poll(fds, 3, static_cast<int>(std::clamp<std::int64_t>(left / 1'000'000, 0, 50)));
        if (left <= 0 || fds[1].revents != 0)
            return; // the host has what it read; it sees the function go
        listen();
        if (!way_)
            return;
    }
}

void FfsSink::stop(Stop how)
{
    if (how == Stop::drain && function_.is_open()) {
        listen();
        if (way_ && enabled_ && streaming_ && parcels_.empty())
            send_end(sys::after(timeout_ns_));
    }
    close_way();
    parcels_.clear();
    group_.reset();
    function_.close();
    enabled_ = streaming_ = false;
}

std::string FfsSink::stats() const
{
    return nlohmann::json{{"blocks", blocks_},
                          {"resent_blocks", resent_},
                          {"failed_blocks", failed_},
                          {"unheard_samples", unheard_}}
        .dump();
}

std::string FfsSink::report() const
{
    return nlohmann::json{
        {"unheard_samples", unheard_}, {"resent_blocks", resent_}, {"failed_blocks", failed_}}
        .dump();
}

Scheme ffs_scheme()
{
    return {"ffs", {}, [](Uri& uri) -> std::unique_ptr<Sink> {
                return std::make_unique<FfsSink>(FfsSettings::from(uri));
            }};
}

} // namespace iio_stream::usb
