// SPDX-License-Identifier: MIT
#include "rx_stream.hpp"

#include "log.hpp"

#include <SoapySDR/Logger.hpp>
#include <algorithm>
#include <cerrno>

namespace iio_stream::soapy {

namespace {

// Returns a channel of the port with its offsets in the stream's samples.
std::vector<Channel> placed(const std::vector<Channel>& channel, const Format& format)
{
    std::vector<Channel> found;
    for (const Channel& wanted : channel)
        for (const Channel& value : format.channels)
            if (value.id == wanted.id)
                found.push_back(value);
    if (found.size() != channel.size())
        fail_usage("channel '" + channel[0].id + "' is not in the stream: its samples are " +
                   format.name());
    return found;
}

} // namespace

RxStream::RxStream(Port& port, StreamRequest request) : port_(port), request_(std::move(request))
{
    if (request_.channels.empty())
        request_.channels = {0};
    open();
}

void RxStream::open()
{
    reader_.reset(); // a device has one buffer
    options_ = port_.options_changed();
    Uri endpoint = port_.endpoint(request_.channels);
    PipelineConfig config = pipeline_of(request_, port_, endpoint);
    config.source = endpoint;
    reader_.emplace(config);
    if (!port_.is_device())
        port_.learn(reader_->tuning(), reader_->format().sample_rate);

    const Format& format = reader_->format();
    converters_.clear();
    for (const std::size_t channel : request_.channels)
        converters_.emplace_back(ChannelConverter::Way::receive,
                                 placed(port_.channel(channel), format), format.sample_bytes,
                                 request_.format);
    const std::vector<Channel> first = placed(port_.channel(request_.channels[0]), format);
    const NativeFormat native = native_format(first);
    direct_ = request_.channels.size() == 1 && native.in_memory &&
              format.sample_bytes == first.size() * first[0].type.bytes();
    rate_ = format.sample_rate;
    const std::lock_guard held(held_mutex_);
    held_ = std::vector<std::optional<Held>>(reader_->block_count() * (kMaxGaps + 1));
}

std::size_t RxStream::mtu() const
{
    return reader_->block_size() / reader_->format().sample_bytes;
}

int RxStream::activate(int flags, long long time_ns, std::size_t elements)
{
    const Lock lock(busy_);
    return begin(flags, time_ns, elements);
}

int RxStream::deactivate(int flags, long long time_ns)
{
    const Lock lock = interrupt();
    return end(flags, time_ns);
}

int RxStream::begin(int flags, long long time_ns, std::size_t elements)
{
    const bool timed = (flags & SOAPY_SDR_HAS_TIME) != 0;
    if (active_)
        return 0;
    // The size of the blocks depends on the rate, so a change reopens the reader.
    if (port_.options_changed() != options_ ||
        (port_.is_device() && port_.tuning(request_.channels[0]).rate.value_or(rate_) != rate_))
        open();
    if (timed && rate_ <= 0)
        return SOAPY_SDR_NOT_SUPPORTED;
    if (timed && time_ns < now_ns())
        return SOAPY_SDR_TIME_ERROR;
    from_ns_ = timed ? time_ns : 0;
    until_ns_ = 0;
    limited_ = elements != 0;
    left_ = elements;
    clock_.reset(request_.args.contains("time") && request_.args.at("time") == "block"
                     ? StreamClock::By::block
                     : StreamClock::By::index,
                 rate_);
    failed_ = false;
    reader_->start();
    log_route(reader_->route());
    active_ = true;
    return 0;
}

int RxStream::end(int flags, long long time_ns)
{
    if (!active_)
        return 0;
    if ((flags & SOAPY_SDR_HAS_TIME) != 0) {
        if (rate_ <= 0)
            return SOAPY_SDR_NOT_SUPPORTED;
        until_ns_ = time_ns;
        return 0;
    }
    active_ = false;
    block_.reset();
    const Summary summary = reader_->close();
    if (summary.error && !failed_)
        SoapySDR::logf(SOAPY_SDR_ERROR, "iiostream: %s", summary.error->what());
    return 0;
}

// Keeps trying while the program holds all blocks, because another thread may release one.
Next<Block> RxStream::take(std::chrono::steady_clock::time_point deadline)
{
    for (;;) {
        const auto goes_on = [&] { return !interrupted_ && left_until(deadline).count() != 0; };
        try {
            auto next = reader_->next(std::min(left_until(deadline), kSlice));
            if (!next.timed_out() || !goes_on())
                return next;
        } catch (const Error& error) {
            const bool full = error.code().value() == ENOBUFS;
            if (full && goes_on())
                continue;
            failed_ = !full;
            throw;
        }
    }
}

int RxStream::next_block(std::chrono::steady_clock::time_point deadline)
{
    auto next = take(deadline);
    if (next.timed_out())
        return SOAPY_SDR_TIMEOUT;
    if (next.ended()) {
        SoapySDR::logf(SOAPY_SDR_INFO, "iiostream: %s has ended", port_.endpoint().text().c_str());
        failed_ = true;
        return SOAPY_SDR_STREAM_ERROR;
    }
    block_.emplace(std::move(*next));
    done_ = gaps_done_ = 0;
    clock_.follow(*block_, reader_->format().sample_bytes);
    return 0;
}

// Reports each loss once, before the first sample that may come after it. Returns true after it has
// reported a certain loss.
bool RxStream::report_gaps()
{
    const std::uint64_t position = block_->position() + done_;
    const auto gaps = block_->gaps();
    for (; gaps_done_ < gaps.size() && gaps[gaps_done_].offset_min <= position; ++gaps_done_)
        if (log_loss(gaps[gaps_done_])) {
            ++gaps_done_;
            return true;
        }
    return false;
}

// Skips samples before the time of the activation. Returns false if no samples of the block remain.
bool RxStream::skip_to_start()
{
    const std::size_t bytes = reader_->format().sample_bytes, samples = block_->samples();
    if (from_ns_ == 0)
        return true;
    const auto first = clock_.time_of(block_->slice(done_, samples - done_, bytes).sample_index());
    const double early = first ? static_cast<double>(from_ns_ - *first) * clock_.rate() / 1e9 : 0;
    if (early <= 0) {
        from_ns_ = 0;
        return true;
    }
    const std::size_t left = run_length(samples);
    done_ += early >= static_cast<double>(left) ? left : static_cast<std::size_t>(early + 0.5);
    if (early < static_cast<double>(left))
        from_ns_ = 0;
    return done_ < samples;
}

// Returns the number of samples up to the next loss in the block, at most `most`.
std::size_t RxStream::run_length(std::size_t most) const
{
    std::size_t length = std::min(most, block_->samples() - done_);
    const auto gaps = block_->gaps();
    if (gaps_done_ < gaps.size())
        length = static_cast<std::size_t>(std::min<std::uint64_t>(
            length, gaps[gaps_done_].offset_min - (block_->position() + done_)));
    return limited_ ? std::min(length, left_) : length;
}

int RxStream::next_run(Lock& lock, long timeout_us, std::size_t most)
{
    if (active_ && port_.options_changed() != options_) {
        (void)end(0, 0);
        if (const int code = begin(0, 0, limited_ ? left_ : 0); code != 0)
            return code;
    }
    if (!active_ || failed_ || (limited_ && left_ == 0))
        return wait_inactive(lock, timeout_us,
                             active_ && failed_ ? SOAPY_SDR_STREAM_ERROR : SOAPY_SDR_TIMEOUT);
    const auto deadline = std::chrono::steady_clock::now() + wait_of(timeout_us);
    for (;;) {
        if (!block_)
            if (const int code = next_block(deadline); code != 0)
                return code;
        if (report_gaps())
            return SOAPY_SDR_OVERFLOW;
        if (skip_to_start() && run_length(most) > 0)
            break;
        if (done_ == block_->samples())
            block_.reset();
    }
    const auto time =
        clock_.time_of(block_->slice(done_, 1, reader_->format().sample_bytes).sample_index());
    if (until_ns_ != 0 && time && *time >= until_ns_) {
        (void)end(0, 0);
        return wait_inactive(lock, timeout_us);
    }
    return static_cast<int>(run_length(std::min(most, std::size_t{INT32_MAX})));
}

// Sets the flags and the time of a run, and advances to the next one.
void RxStream::hand_over(std::size_t samples, int& flags, long long& time_ns)
{
    const Block part = block_->slice(done_, samples, reader_->format().sample_bytes);
    flags = 0;
    if (const auto time = clock_.time_of(part.sample_index())) {
        flags |= SOAPY_SDR_HAS_TIME;
        time_ns = *time;
    }
    done_ += samples;
    if (limited_ && (left_ -= samples) == 0)
        flags |= SOAPY_SDR_END_BURST;
    if (done_ < block_->samples())
        flags |= SOAPY_SDR_MORE_FRAGMENTS;
    else
        block_.reset();
}

int RxStream::read(void* const* out, std::size_t elements, int& flags, long long& time_ns,
                   long timeout_us)
{
    Lock lock(busy_);
    flags = 0;
    if (elements == 0)
        return 0;
    const int got = next_run(lock, timeout_us, elements);
    if (got <= 0)
        return got;
    {
        const auto samples = static_cast<std::size_t>(got);
        const Block part = block_->slice(done_, samples, reader_->format().sample_bytes);
        const CpuRead access(part);
        for (std::size_t i = 0; i < converters_.size(); ++i)
            converters_[i].receive(access.bytes(), out[i], samples);
    }
    hand_over(static_cast<std::size_t>(got), flags, time_ns);
    return got;
}

std::size_t RxStream::buffers() const
{
    return direct_ ? reader_->block_count() : 0;
}

int RxStream::acquire_read(std::size_t& handle, const void** out, int& flags, long long& time_ns,
                           long timeout_us)
{
    Lock lock(busy_);
    flags = 0;
    if (!direct_)
        return SOAPY_SDR_NOT_SUPPORTED;
    const int got = next_run(lock, timeout_us, SIZE_MAX);
    if (got <= 0)
        return got;
    const std::lock_guard held(held_mutex_);
    const auto free = std::find(held_.begin(), held_.end(), std::nullopt);
    if (free == held_.end())
        fail_usage("all " + std::to_string(held_.size()) + " buffers are acquired", "release some");
    free->emplace(
        block_->slice(done_, static_cast<std::size_t>(got), reader_->format().sample_bytes));
    handle = static_cast<std::size_t>(free - held_.begin());
    out[0] = (*free)->access.bytes().data();
    hand_over(static_cast<std::size_t>(got), flags, time_ns);
    return got;
}

void RxStream::release_read(std::size_t handle)
{
    const std::lock_guard held(held_mutex_);
    if (handle < held_.size())
        held_[handle].reset();
}

} // namespace iio_stream::soapy
