// SPDX-License-Identifier: MIT
#include "tx_stream.hpp"

#include "log.hpp"

#include <SoapySDR/Logger.hpp>
#include <algorithm>
#include <cctype>
#include <limits>
#include <thread>

namespace iio_stream::soapy {

namespace {

// Converts the name of a SoapySDR format to SigMF's: "CF32" is cf32_le.
std::string sigmf_name(const std::string& format)
{
    std::string name = format.starts_with('C') ? "c" : "r";
    const std::string number = format.starts_with('C') ? format.substr(1) : format;
    name += number[0] == 'F' ? 'f' : number[0] == 'U' ? 'u' : 'i';
    name += number.substr(1);
    return number.substr(1) == "8" ? name : name + "_le";
}

} // namespace

TxStream::TxStream(Port& port, StreamRequest request) : port_(port), request_(std::move(request))
{
    if (request_.channels.empty())
        request_.channels = {0};
    open();
}

// Returns the format of the blocks: the device's format or, for other sinks, the format that the
// program writes.
Format TxStream::block_format() const
{
    Format format;
    if (!port_.is_device())
        format = Format::parse(sigmf_name(request_.format));
    for (std::size_t i = 0; port_.is_device() && i < request_.channels.size(); ++i) {
        const std::vector<Channel>& channel = port_.channel(request_.channels[i]);
        format.channels.insert(format.channels.end(), channel.begin(), channel.end());
    }
    std::sort(format.channels.begin(), format.channels.end(),
              [](const Channel& a, const Channel& b) { return a.scan_index < b.scan_index; });
    format.lay_out();
    format.sample_rate = port_.tuning(request_.channels[0]).rate.value_or(0);
    return format;
}

void TxStream::open()
{
    {
        const std::lock_guard lock(mutex_);
        writer_.reset(); // a device has one buffer
    }
    options_ = port_.options_changed();
    const Format format = block_format();
    Uri endpoint = port_.endpoint(request_.channels);
    PipelineConfig config = pipeline_of(request_, port_, endpoint);
    config.sinks = {endpoint};
    auto opened = std::make_shared<Writer>(config, format);
    converters_.clear();
    std::vector<Channel> first;
    for (const std::size_t channel : request_.channels) {
        std::vector<Channel> placed = format.channels;
        if (port_.is_device())
            std::erase_if(placed, [&](const Channel& value) {
                const std::vector<Channel>& own = port_.channel(channel);
                return std::none_of(own.begin(), own.end(),
                                    [&](const Channel& c) { return c.id == value.id; });
            });
        converters_.emplace_back(ChannelConverter::Way::transmit, placed, format.sample_bytes,
                                 request_.format);
        first = first.empty() ? placed : first;
    }
    direct_ = request_.channels.size() == 1 && native_format(first).in_memory &&
              format.sample_bytes == first.size() * first[0].type.bytes();
    rate_ = format.sample_rate;
    held_ = std::vector<std::optional<Held>>(opened->block_count());
    const std::lock_guard lock(mutex_);
    writer_ = std::move(opened);
}

std::shared_ptr<Writer> TxStream::writer() const
{
    const std::lock_guard lock(mutex_);
    return writer_;
}

std::size_t TxStream::mtu() const
{
    return writer_->block_size() / writer_->format().sample_bytes;
}

int TxStream::activate(int flags, long long, std::size_t elements)
{
    if ((flags & SOAPY_SDR_HAS_TIME) != 0)
        return SOAPY_SDR_NOT_SUPPORTED; // the devices cannot start at a given time
    const Lock lock(busy_);
    if (active_)
        return 0;
    if (port_.options_changed() != options_ ||
        port_.tuning(request_.channels[0]).rate.value_or(0) != rate_)
        open();
    limited_ = elements != 0;
    left_ = elements;
    ended_ = false;
    pauses_ = 0;
    writer_->start();
    log_route(writer_->route());
    active_ = true;
    return 0;
}

int TxStream::deactivate(int flags, long long)
{
    if ((flags & SOAPY_SDR_HAS_TIME) != 0)
        return SOAPY_SDR_NOT_SUPPORTED;
    const Lock lock = interrupt();
    if (!active_)
        return 0;
    send();
    active_ = false;
    const Summary summary = writer_->close(); // returns when all samples have been played
    if (summary.error) {
        SoapySDR::logf(SOAPY_SDR_ERROR, "iiostream: %s", summary.error->what());
        return SOAPY_SDR_STREAM_ERROR;
    }
    return 0;
}

// Returns no block if none became free in time.
std::optional<EmptyBlock> TxStream::take(std::chrono::steady_clock::time_point deadline)
{
    for (;;) {
        auto next = writer_->take(std::min(left_until(deadline), kSlice));
        if (next.ended())
            throw Error(Fault::other, EPIPE, "write", port_.endpoint().text(),
                        "the stream has ended");
        if (next)
            return std::move(*next);
        if (interrupted_ || left_until(deadline).count() == 0)
            return std::nullopt;
    }
}

bool TxStream::take_block(std::chrono::steady_clock::time_point deadline)
{
    if (block_)
        return true;
    auto next = take(deadline);
    if (!next)
        return false;
    block_.emplace(std::move(*next));
    filled_ = 0;
    return true;
}

// Converts as many elements as the block has room for, and returns their number.
std::size_t TxStream::fill(const void* const* in, std::size_t from, std::size_t elements)
{
    const std::size_t bytes = writer_->format().sample_bytes;
    const std::size_t count = std::min(elements, block_->samples() - filled_);
    const CpuWrite access(*block_);
    for (std::size_t i = 0; i < converters_.size(); ++i)
        converters_[i].transmit(static_cast<const std::byte*>(in[i]) +
                                    from * converters_[i].element_bytes(),
                                access.bytes().subspan(filled_ * bytes), count);
    filled_ += count;
    return count;
}

void TxStream::send()
{
    if (!block_)
        return;
    EmptyBlock full = std::move(*block_);
    block_.reset();
    writer_->put(std::move(full), filled_);
}

// Counts the pause after the last burst. The device has run empty during it, which must not be
// reported as an underflow.
void TxStream::begin_burst()
{
    if (ended_)
        pauses_ += 1;
    ended_ = false;
}

void TxStream::end_burst(int flags)
{
    if ((flags & SOAPY_SDR_END_BURST) == 0 && !(limited_ && left_ == 0))
        return;
    send();
    ended_ = true;
}

int TxStream::write(const void* const* in, std::size_t elements, int& flags, long long,
                    long timeout_us)
{
    if ((flags & SOAPY_SDR_HAS_TIME) != 0)
        return SOAPY_SDR_NOT_SUPPORTED;
    Lock lock(busy_);
    if (!active_ || (limited_ && left_ == 0 && elements != 0))
        return wait_inactive(lock, timeout_us);
    const auto deadline = std::chrono::steady_clock::now() + wait_of(timeout_us);
    const std::size_t most = std::min<std::size_t>(limited_ ? std::min(elements, left_) : elements,
                                                   std::numeric_limits<int>::max());
    std::size_t done = 0;
    if (most != 0)
        begin_burst();
    while (done < most && take_block(deadline)) {
        done += fill(in, done, most - done);
        if (filled_ == block_->samples())
            send();
    }
    left_ -= limited_ ? done : 0;
    if (done == elements || (limited_ && left_ == 0))
        end_burst(flags);
    return done == 0 && elements != 0 ? SOAPY_SDR_TIMEOUT : static_cast<int>(done);
}

bool TxStream::new_underflow()
{
    const std::uint64_t pauses = pauses_;
    const std::uint64_t all = writer()->stats().underflows();
    const std::uint64_t now = all > pauses ? all - pauses : 0;
    const bool more = now > reported_;
    reported_ =
        more ? reported_ + 1 : std::min(reported_, now); // a stream that starts again counts from 0
    return more;
}

int TxStream::status(std::size_t& channels, int& flags, long long&, long timeout_us)
{
    if (!port_.is_device())
        return SOAPY_SDR_NOT_SUPPORTED;
    flags = 0;
    channels = 0;
    for (const std::size_t channel : request_.channels)
        channels |= std::size_t{1} << channel;
    const auto deadline = std::chrono::steady_clock::now() + wait_of(timeout_us);
    while (!active_ || !new_underflow()) {
        const auto left = left_until(deadline);
        if (left.count() == 0)
            return SOAPY_SDR_TIMEOUT;
        std::this_thread::sleep_for(
            std::min<std::chrono::nanoseconds>(left, std::chrono::milliseconds(10)));
    }
    return SOAPY_SDR_UNDERFLOW;
}

std::size_t TxStream::buffers() const
{
    return direct_ ? held_.size() : 0;
}

int TxStream::acquire_write(std::size_t& handle, void** out, long timeout_us)
{
    if (!direct_)
        return SOAPY_SDR_NOT_SUPPORTED;
    Lock lock(busy_);
    if (!active_)
        return wait_inactive(lock, timeout_us);
    const auto free = std::find(held_.begin(), held_.end(), std::nullopt);
    if (free == held_.end())
        fail_usage("all " + std::to_string(held_.size()) + " buffers are acquired", "release some");
    send(); // samples that writeStream() has buffered come first
    auto next = take(std::chrono::steady_clock::now() + wait_of(timeout_us));
    if (!next)
        return SOAPY_SDR_TIMEOUT;
    free->emplace(std::move(*next));
    handle = static_cast<std::size_t>(free - held_.begin());
    out[0] = (*free)->access->bytes().data();
    return static_cast<int>((*free)->block.samples());
}

void TxStream::release_write(std::size_t handle, std::size_t elements, int& flags, long long)
{
    const Lock lock(busy_);
    if (handle >= held_.size() || !held_[handle])
        return;
    held_[handle]->access.reset();
    EmptyBlock block = std::move(held_[handle]->block);
    held_[handle].reset();
    if (elements > block.samples())
        fail_usage(std::to_string(elements) + " elements in a buffer of " +
                   std::to_string(block.samples()));
    if (elements != 0)
        begin_burst();
    writer_->put(std::move(block), elements);
    end_burst(flags);
}

} // namespace iio_stream::soapy
