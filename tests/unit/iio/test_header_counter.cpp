// SPDX-License-Identifier: MIT
// counter=header:BYTES/EVERY: losses between two headers, found by the values and places of the
// headers.
#include "iio/loss/header_counter.hpp"
#include "support/errors.hpp"
#include "sys/event.hpp"

#include <gtest/gtest.h>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace iio_stream;
using namespace iio_stream::test;
using iio::Counter;

struct Loss {
    std::uint64_t at, samples; ///< the position of the loss among the device's samples, and its
                               ///< length
};

struct Device {
    std::string format = "ci16_le";
    std::uint64_t bytes = 8, every = 1024;
    std::uint64_t unit = 1, first = 0; ///< the increment from header to header, and the value of
                                       ///< the first header
    std::uint64_t samples = 20'000;
    std::vector<Loss> losses = {};
    unsigned noise = 255; ///< the largest value of a byte of a sample
    double rate = 0;      ///< as the device states it; the real rate is 1 MS/s

    std::vector<std::byte> made(std::size_t sample_bytes) const
    {
        std::vector<std::byte> all(samples * sample_bytes);
        std::mt19937 random(7);
        for (std::byte& byte : all)
            byte = static_cast<std::byte>(random() % (noise + 1));
        for (std::uint64_t n = 0; n * every + bytes <= all.size(); ++n)
            for (std::uint64_t i = 0; i < bytes; ++i)
                all[n * every + i] = static_cast<std::byte>((first + n * unit) >> 8 * i);
        for (auto loss = losses.rbegin(); loss != losses.rend(); ++loss) {
            const auto begin = all.begin() + static_cast<std::ptrdiff_t>(loss->at * sample_bytes);
            all.erase(begin, begin + static_cast<std::ptrdiff_t>(loss->samples * sample_bytes));
        }
        return all;
    }
};

// Returns the gaps that the counter reports in the device's stream. The stream has blocks of at
// most `block_size` bytes.
std::vector<Gap> told(const Device& device, std::size_t block_size)
{
    const Format format = Format::parse(device.format);
    const std::size_t size = format.sample_bytes;
    block_size -= block_size % size;
    const std::vector<std::byte> stream = device.made(size);
    const auto counter = Counter::make(
        "header:" + std::to_string(device.bytes) + "/" + std::to_string(device.every), format);
    counter->reset(block_size, device.rate, Counter::Dated::at_end);
    const std::int64_t start_ns = sys::monotonic_ns();
    detail::SampleTracker tracker;
    tracker.reset(size);
    std::vector<Gap> gaps;
    for (std::size_t at = 0; at < stream.size(); at += block_size) {
        const auto block = std::span(stream).subspan(at, std::min(block_size, stream.size() - at));
        std::uint64_t made = (at + block.size()) / size;
        for (const Loss& loss : device.losses)
            made += loss.at <= made ? loss.samples : 0;
        counter->report_gaps(block, tracker, start_ns + static_cast<std::int64_t>(made) * 1000);
        const BlockInfo info = tracker.next(block.size(), Time{});
        gaps.insert(gaps.end(), info.gaps.begin(), info.gaps.begin() + info.gap_count);
    }
    counter->finish(tracker);
    for (const Gap& gap : tracker.left())
        gaps.push_back(gap);
    return gaps;
}

void expect_exact(const Device& device, std::size_t block_size)
{
    const std::vector<Gap> gaps = told(device, block_size);
    const std::string what = device.format + " " + std::to_string(device.bytes) + "/" +
                             std::to_string(device.every) + " in " + std::to_string(block_size);
    ASSERT_EQ(gaps.size(), device.losses.size()) << what;
    std::uint64_t before = 0;
    const std::uint64_t frame = 5 * device.every / Format::parse(device.format).sample_bytes + 2;
    for (std::size_t i = 0; i < gaps.size(); ++i) {
        const std::uint64_t place = device.losses[i].at - before; // among the samples that arrived
        EXPECT_EQ(gaps[i].lost_min, device.losses[i].samples) << what;
        EXPECT_EQ(gaps[i].lost_max, device.losses[i].samples) << what;
        EXPECT_LE(gaps[i].offset_min, place) << what;
        EXPECT_GE(gaps[i].offset_max, place) << what;
        EXPECT_LE(gaps[i].offset_max - gaps[i].offset_min, frame) << what;
        EXPECT_EQ(gaps[i].evidence, Evidence::counter);
        before += device.losses[i].samples;
    }
}

TEST(HeaderCounter, AWholeStreamHasNoGap)
{
    for (const std::size_t block : {4096, 5000, 65536})
        expect_exact({}, block);
}

TEST(HeaderCounter, EachLossIsFoundExactlyWhateverItsSize)
{
    for (const char* format : {"ci16_le", "ri16_le", "cf32_le"})
        for (const std::uint64_t every : {1024, 1000})
            for (const std::size_t block : {4096, 5000, 65536}) {
                Device device{.format = format, .every = every};
                device.losses = {{3001, 1}, {6007, 77}, {9999, 5000}};
                expect_exact(device, block);
            }
}

TEST(HeaderCounter, TheUnitOfTheCounterIsFoundInTheStream)
{
    for (const std::uint64_t unit : {1, 128, 256, 1024}) // frames, words, samples, bytes
        expect_exact({.unit = unit, .losses = {{5000, 100}, {12'000, 4000}}}, 8192);
}

TEST(HeaderCounter, TheCounterCanStartAnywhereAndWrap)
{
    expect_exact({.bytes = 2, .first = 65'530, .losses = {{5000, 333}}, .rate = 1e6}, 8192);
    expect_exact({.bytes = 4, .unit = 256, .first = 0xffff'f000, .losses = {{900, 5}}}, 8192);
}

TEST(HeaderCounter, TheClockLimitsHowOftenTheCounterWrapped)
{
    // Two bytes that count bytes: 64 KiB, or 16384 samples, per wrap.
    Device device{
        .bytes = 2, .unit = 1024, .samples = 400'000, .losses = {{5000, 3 * 16384 + 333}}};
    const auto unknown = told(device, 8192);
    ASSERT_EQ(unknown.size(), 1u);
    EXPECT_EQ(unknown[0].lost_min, 333u);
    EXPECT_EQ(unknown[0].lost_max, kUnknown);
    device.rate = 1e6;
    const auto gaps = told(device, 8192);
    ASSERT_EQ(gaps.size(), 1u);
    EXPECT_EQ(gaps[0].lost_min, 333u);
    EXPECT_GE(gaps[0].lost_max, 3u * 16384 + 333);
    EXPECT_EQ(gaps[0].lost_max % 16384, 333u);
    EXPECT_LE(gaps[0].lost_max, 4u * 16384 + 333);
}

TEST(HeaderCounter, HeadersInOldMemoryAreIgnored)
{
    // After a loss has moved the headers, the old headers of the block's last use are still at
    // their old places.
    const Format format = Format::parse("ci16_le");
    const auto counter = Counter::make("header:8/1024", format);
    counter->reset(8192);
    detail::SampleTracker tracker;
    tracker.reset(4);
    std::vector<std::byte> block(8192);
    const auto put = [&](std::uint64_t at, std::uint64_t value) {
        for (std::uint64_t i = 0; i < 8 && at + i < block.size(); ++i)
            block[at + i] = static_cast<std::byte>(value >> 8 * i);
    };
    for (std::uint64_t n = 0; n < 8; ++n)
        put(n * 1024, 100 + n);
    counter->report_gaps(block, tracker, 0);
    (void)tracker.next(block.size(), Time{});
    for (std::uint64_t n = 0; n < 8; ++n) // 25 samples fewer: 100 bytes earlier
        put(n * 1024 + 924, 109 + n);
    counter->report_gaps(block, tracker, 0);
    ASSERT_EQ(tracker.left().size(), 1u);
    EXPECT_EQ(tracker.left()[0].lost_min, 25u);
    EXPECT_EQ(tracker.left()[0].lost_max, 25u);
}

TEST(HeaderCounter, HeadersThatDisappearAreALossOfUnknownSize)
{
    Device device{.samples = 4096};
    const Format format = Format::parse(device.format);
    std::vector<std::byte> stream = device.made(4);
    std::fill(stream.begin() + 8192, stream.end(), std::byte{0x55});
    const auto counter = Counter::make("header:8/1024", format);
    counter->reset(stream.size());
    detail::SampleTracker tracker;
    tracker.reset(4);
    counter->report_gaps(stream, tracker, 0);
    (void)tracker.next(stream.size(), Time{});
    counter->finish(tracker);
    ASSERT_EQ(tracker.left().size(), 1u);
    EXPECT_EQ(tracker.left()[0].lost_min, 0u);
    EXPECT_EQ(tracker.left()[0].lost_max, kUnknown);
    EXPECT_LE(tracker.left()[0].offset_min, 2048u);
    EXPECT_EQ(tracker.left()[0].offset_max, 4096u);
}

// Checks that a stream of these bytes ends with one gap over all of it.
void expect_all_unknown(const std::vector<std::byte>& stream, std::uint64_t until)
{
    const auto counter = Counter::make("header:8/1024", Format::parse("ci16_le"));
    counter->reset(stream.size());
    detail::SampleTracker tracker;
    tracker.reset(4);
    counter->report_gaps(stream, tracker, 0);
    (void)tracker.next(stream.size(), Time{});
    counter->finish(tracker);
    const auto gaps = tracker.left();
    ASSERT_EQ(gaps.size(), 1u);
    EXPECT_EQ(gaps[0].offset_min, 0u);
    EXPECT_EQ(gaps[0].offset_max, until);
    EXPECT_EQ(gaps[0].lost_max, kUnknown);
}

TEST(HeaderCounter, AStreamWithoutAnyHeaderIsOnePossibleLoss)
{
    expect_all_unknown(std::vector<std::byte>(16384, std::byte{0x55}), 4096);
}

TEST(HeaderCounter, SamplesThatDifferLittleAreNotMistakenForHeaders)
{
    // In one-bit noise, eight bytes soon happen to be one more than the eight bytes a frame
    // earlier.
    Device device{.samples = 200'000, .losses = {{50'000, 700}, {120'000, 5}}};
    for (const std::size_t block : {8192, 65536}) {
        device.noise = 1;
        expect_exact(device, block);
    }
}

TEST(HeaderCounter, InvalidOptionsAreUsageErrors)
{
    const Format format = Format::parse("ci16_le");
    expect_usage_error([&] { (void)Counter::make("header:8", format); }, "distance", "8/4Ki");
    expect_usage_error([&] { (void)Counter::make("header:1/64", format); }, "at least 2");
    expect_usage_error([&] { (void)Counter::make("header:8/4", format); }, "at least 2");
    expect_usage_error([&] { (void)Counter::make("heder:8/4Ki", format); }, "heder", "header:");
    expect_usage_error([&] { Counter::make("header:8/4Ki", format)->reset(8192); }, "8Ki",
                       "--block-size 16Ki");
}

} // namespace
