// SPDX-License-Identifier: MIT
#include "core/format/pattern.hpp"
#include "support/fake.hpp"

#include <algorithm>
#include <gtest/gtest.h>

namespace iio_stream::test {

std::optional<Hop> FakeSource::plan(const MemoryTraits& traits, std::string& why) const
{
    if (script_.plan)
        return script_.plan(traits, why);
    return fake_hop();
}

bool FakeSource::prepare(BlockPool& pool, std::string& why)
{
    ++log_->prepared;
    using detail::LossDetection;
    next_retuning_ = 0;
    tracker_.reset(script_.format_.sample_bytes,
                   script_.undetectable ? LossDetection::none : LossDetection::available);
    queue_.reset(pool.count());
    sample_ = next_loss_ = 0;
    return !script_.prepare || script_.prepare(pool, why);
}

void FakeSource::start()
{
    if (script_.start)
        script_.start();
    ++log_->started;
    running_ = true;
}

void FakeSource::stop() noexcept
{
    retune(kUnknown);
    ++log_->stopped;
    running_ = false;
    queue_.clear();
}

void FakeSource::submit(EmptyBlock block, std::size_t bytes)
{
    EXPECT_LE(bytes, block.capacity());
    EXPECT_EQ(bytes % script_.format_.sample_bytes, 0u);
    ++log_->submitted;
    log_->submitted_bytes += bytes;
    queue_.push({std::move(block), bytes});
}

// Fills `out` from the device until it is full or the device has no more samples. Returns the
// number of bytes.
std::size_t FakeSource::fill(std::span<std::byte> out)
{
    const std::size_t size = script_.format_.sample_bytes;
    const std::size_t wanted = out.size() / size;
    std::size_t done = 0;
    while (done < wanted && sample_ < script_.total) {
        if (next_loss_ < script_.losses.size() && script_.losses[next_loss_].at <= sample_) {
            const Loss& loss = script_.losses[next_loss_++];
            const std::uint64_t at = tracker_.position() + done;
            tracker_.gap(
                loss.reported.value_or(Gap{at, at, loss.samples, loss.samples, Evidence::counter}));
            sample_ += loss.samples;
            continue;
        }
        std::uint64_t left = script_.total - sample_;
        if (next_loss_ < script_.losses.size())
            left = std::min(left, script_.losses[next_loss_].at - sample_);
        const auto run = static_cast<std::size_t>(std::min<std::uint64_t>(wanted - done, left));
        detail::fill_ramp(out.subspan(done * size, run * size), sample_ * size);
        done += run;
        sample_ += run;
    }
    return done * size;
}

SourceInfo FakeSource::info() const
{
    const Settings settings = script_.settings.value_or(Settings{});
    Tuning tuning;
    tuning.frequency = settings.frequency;
    tuning.gain = settings.gain;
    tuning.bandwidth = settings.bandwidth;
    tuning.rate = settings.rate;
    return {.tuning = tuning};
}

// Reports the retunings due at `position`, and declares retunings complete up to the next one.
void FakeSource::retune(std::uint64_t position)
{
    if (!script_.settings)
        return;
    const auto& all = script_.retunings;
    for (; next_retuning_ < all.size() && all[next_retuning_].reported_at <= position;
         ++next_retuning_) {
        const Retuned& next = all[next_retuning_];
        tracker_.retuned(next.begin, next.end, next.settings);
    }
    tracker_.set_retunings_final_before(
        next_retuning_ == all.size() ? position : std::min(position, all[next_retuning_].begin));
}

Taken FakeSource::take()
{
    if (!running_ || queue_.empty() || sample_ >= script_.silent_at)
        return {};
    if (sample_ >= script_.fail_at)
        throw script_.error;
    if (sample_ >= script_.total)
        return {std::nullopt, true};
    Empty empty = queue_.pop();
    std::size_t bytes;
    {
        const CpuWrite out{empty.block};
        bytes = fill(out.bytes().first(empty.bytes));
    }
    if (bytes == 0)
        return {std::nullopt, true};
    retune(tracker_.position() + bytes / script_.format_.sample_bytes);
    Time time{Clock::monotonic, script_.undated ? 0 : sys::monotonic_ns(), {}};
    return {std::move(empty.block).fill(tracker_.next(bytes, time)), sample_ >= script_.total};
}

Wait FakeSource::wait()
{
    Wait wait;
    wait.ready = running_ && !queue_.empty() && sample_ < script_.silent_at;
    return wait;
}

std::chrono::nanoseconds FakeSource::check()
{
    ++log_->checked;
    if (script_.check)
        script_.check();
    return std::chrono::milliseconds(1);
}

} // namespace iio_stream::test
