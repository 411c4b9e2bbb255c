// SPDX-License-Identifier: MIT
#include "framing/bytes.hpp"
#include "framing/crc32c.hpp"
#include "framing/header.hpp"

#include <array>
#include <cstring>
#include <gtest/gtest.h>
#include <random>
#include <string_view>

namespace {

using namespace iio_stream;
using namespace iio_stream::framing;

using Bytes = std::array<std::byte, kHeaderBytes>;

Bytes encoded(const Header& header)
{
    Bytes bytes{};
    header.encode(bytes);
    return bytes;
}

Header some_header()
{
    Header h;
    h.stream_id = 0x01020304;
    h.flags = Header::index_guessed;
    h.sequence = 0x1112131415161718;
    h.sample_index = 0x2122232425262728;
    h.time_ns = -5;
    h.wire_bytes = 4096;
    h.valid_bytes = 4000;
    h.loss = {-7, 9, 3, kUnknown, Evidence::starvation};
    return h;
}

// Returns a header with a changed field and a correct CRC, so that only its contents can be
// refused.
Bytes with(std::size_t offset, std::uint64_t value, unsigned size)
{
    Bytes bytes = encoded(some_header());
    put_number(bytes.data() + offset, value, size);
    put_number(bytes.data() + 96, crc32c(std::span(bytes).first(96)), 4);
    return bytes;
}

TEST(FramingHeader, TheChecksumIsCrc32c)
{
    const std::string_view check = "123456789";
    EXPECT_EQ(crc32c(std::as_bytes(std::span(check))), 0xe3069283u);
    EXPECT_EQ(crc32c({}), 0u);
}

TEST(FramingHeader, AHeaderRoundTrips)
{
    const Header h = some_header();
    const auto back = Header::decode(encoded(h));
    ASSERT_TRUE(back);
    EXPECT_EQ(back->stream_id, h.stream_id);
    EXPECT_EQ(back->flags, h.flags);
    EXPECT_EQ(back->sequence, h.sequence);
    EXPECT_EQ(back->sample_index, h.sample_index);
    EXPECT_EQ(back->time_ns, h.time_ns);
    EXPECT_EQ(back->wire_bytes, h.wire_bytes);
    EXPECT_EQ(back->valid_bytes, h.valid_bytes);
    ASSERT_TRUE(back->loss);
    EXPECT_EQ(back->loss->offset_min, -7);
    EXPECT_EQ(back->loss->offset_max, 9);
    EXPECT_EQ(back->loss->lost_min, 3u);
    EXPECT_EQ(back->loss->lost_max, kUnknown);
    EXPECT_EQ(back->loss->evidence, Evidence::starvation);
}

// The layout of docs/usb-protocol.md, byte by byte: other clients rely on it.
TEST(FramingHeader, TheLayoutMatchesTheProtocol)
{
    const Bytes b = encoded(some_header());
    const auto at = [&](std::size_t offset, unsigned size) {
        return get_number(b.data() + offset, size);
    };
    EXPECT_EQ(std::memcmp(b.data(), "IIOS", 4), 0);
    EXPECT_EQ(at(4, 2), 1u);
    EXPECT_EQ(at(6, 2), 100u);
    EXPECT_EQ(at(8, 4), 0x01020304u);
    EXPECT_EQ(at(12, 4), 2u);
    EXPECT_EQ(at(16, 8), 0x1112131415161718u);
    EXPECT_EQ(at(24, 8), 0x2122232425262728u);
    EXPECT_EQ(at(32, 8), std::uint64_t(-5));
    EXPECT_EQ(at(40, 4), 4096u);
    EXPECT_EQ(at(44, 4), 4000u);
    EXPECT_EQ(at(48, 4), 3u);
    EXPECT_EQ(at(56, 8), std::uint64_t(-7));
    EXPECT_EQ(at(64, 8), 9u);
    EXPECT_EQ(at(72, 8), 3u);
    EXPECT_EQ(at(80, 8), kUnknown);
}

TEST(FramingHeader, AHeaderWithoutALossHasNoEvidence)
{
    Header h = some_header();
    h.loss.reset();
    const Bytes bytes = encoded(h);
    EXPECT_EQ(get_number(bytes.data() + 48, 4), 255u);
    const auto back = Header::decode(bytes);
    ASSERT_TRUE(back);
    EXPECT_FALSE(back->loss);
}

TEST(FramingHeader, AnEndHeaderHasNoBlock)
{
    Header h;
    h.flags = Header::end;
    EXPECT_TRUE(Header::decode(encoded(h)));
    h.wire_bytes = h.valid_bytes = 1024;
    EXPECT_FALSE(Header::decode(encoded(h)));
}

TEST(FramingHeader, TheTimeOfARecordingIsPassedOnAsUtc)
{
    Header h = some_header();
    h.flags |= Header::utc;
    h.time_ns = 1'709'288'430'123'000'000;
    EXPECT_EQ(get_number(encoded(h).data() + 12, 4), 18u);
    const auto back = Header::decode(encoded(h));
    ASSERT_TRUE(back);
    const Time utc = time_of(*back, 777, 5);
    EXPECT_EQ(utc.clock, Clock::realtime);
    EXPECT_EQ(utc.ns, 1'709'288'430'123'000'000);
    h.time_ns = -152'545'169'877'000'000; // 1965
    EXPECT_EQ(time_of(h, 777, 5).ns, -152'545'169'877'000'000);
    h.flags = 0;
    h.time_ns = 1000;
    const Time local = time_of(h, 777, 5);
    EXPECT_EQ(local.clock, Clock::monotonic);
    EXPECT_EQ(local.ns, 1777);
    EXPECT_EQ(local.uncertainty_ns, 5u);
    for (const std::int64_t unknown : {std::int64_t{0}, std::int64_t{-5}, INT64_MAX}) {
        h.time_ns = unknown;
        EXPECT_EQ(time_of(h, 777, 5).ns, 0);
    }
}

TEST(FramingHeader, EveryBitIsProtected)
{
    const Bytes good = encoded(some_header());
    for (std::size_t bit = 0; bit < 8 * kHeaderBytes; ++bit) {
        Bytes bad = good;
        bad[bit / 8] ^= std::byte(1 << (bit % 8));
        EXPECT_FALSE(Header::decode(bad)) << bit;
    }
}

TEST(FramingHeader, OtherLengthsAreRefused)
{
    const Bytes good = encoded(some_header());
    std::array<std::byte, kHeaderBytes + 1> longer{};
    std::copy(good.begin(), good.end(), longer.begin());
    EXPECT_FALSE(Header::decode(longer));
    for (std::size_t bytes = 0; bytes < kHeaderBytes; ++bytes)
        EXPECT_FALSE(Header::decode(std::span(good).first(bytes))) << bytes;
}

TEST(FramingHeader, InvalidContentsWithAValidChecksumAreRefused)
{
    EXPECT_FALSE(Header::decode(with(0, 0x12345678, 4)));         // magic
    EXPECT_FALSE(Header::decode(with(4, 2, 2)));                  // version
    EXPECT_FALSE(Header::decode(with(6, 96, 2)));                 // length
    EXPECT_FALSE(Header::decode(with(12, 32, 4)));                // unknown flag
    EXPECT_FALSE(Header::decode(with(12, 8, 4)));                 // interrupted, but not the end
    EXPECT_FALSE(Header::decode(with(40, 4097, 4)));              // not whole packets
    EXPECT_FALSE(Header::decode(with(44, 4097, 4)));              // more samples than bytes
    EXPECT_FALSE(Header::decode(with(44, 0, 4)));                 // a block without samples
    EXPECT_FALSE(Header::decode(with(48, 4, 4)));                 // unknown evidence
    EXPECT_FALSE(Header::decode(with(64, std::uint64_t(-8), 8))); // offset ends before it begins
    EXPECT_FALSE(Header::decode(with(80, 2, 8)));                 // lost_max below lost_min
    EXPECT_TRUE(Header::decode(with(80, 3, 8)));
}

TEST(FramingHeader, NumbersThatNoStreamReachesAreRefused)
{
    constexpr std::uint64_t kBeyond = kLastIndex + 1;
    EXPECT_TRUE(Header::decode(with(24, kLastIndex, 8)));
    EXPECT_FALSE(Header::decode(with(24, kBeyond, 8))); // index
    EXPECT_TRUE(Header::decode(with(80, kLastIndex, 8)));
    EXPECT_FALSE(Header::decode(with(80, kBeyond, 8)));          // lost_max
    EXPECT_TRUE(Header::decode(with(80, ~std::uint64_t{0}, 8))); // an unknown number
    EXPECT_TRUE(Header::decode(with(56, ~kLastIndex + 1, 8)));
    EXPECT_FALSE(Header::decode(with(56, ~kLastIndex, 8))); // an offset too far back
    EXPECT_FALSE(Header::decode(with(64, kBeyond, 8)));     // an offset too far ahead
    Header h = some_header();
    h.loss = {0, 0, kBeyond, kUnknown, Evidence::counter};
    EXPECT_FALSE(Header::decode(encoded(h))); // lost_min
}

// Input from the cable never causes undefined behavior (this test also runs under ASan and UBSan),
// and only headers are accepted as headers.
TEST(FramingHeader, GarbageIsNotAHeader)
{
    std::mt19937_64 random(1);
    std::vector<std::byte> bytes(256);
    for (int round = 0; round < 20000; ++round) {
        for (std::byte& b : bytes)
            b = static_cast<std::byte>(random());
        EXPECT_FALSE(Header::decode(std::span(bytes).first(random() % bytes.size())));
    }
    // Valid at both ends, with garbage in between.
    for (int round = 0; round < 20000; ++round) {
        Bytes b = encoded(some_header());
        for (std::size_t i = 8; i < 96; ++i)
            b[i] = static_cast<std::byte>(random());
        put_number(b.data() + 96, crc32c(std::span(b).first(96)), 4);
        if (const auto h = Header::decode(b)) {
            EXPECT_LE(h->valid_bytes, h->wire_bytes);
            EXPECT_EQ(h->wire_bytes % kPacketBytes, 0u);
        }
    }
}

TEST(FramingHeader, LossesOfABlockAreMerged)
{
    EXPECT_FALSE(merge_losses({}, 100));
    const Gap gaps[] = {{110, 110, 5, 5, Evidence::counter}, {90, 95, 0, 7, Evidence::starvation}};
    const auto one = merge_losses(std::span(gaps).first(1), 100);
    ASSERT_TRUE(one);
    EXPECT_EQ(one->offset_min, 10);
    EXPECT_EQ(one->offset_max, 10);
    EXPECT_EQ(one->lost_min, 5u);
    const auto both = merge_losses(gaps, 100);
    ASSERT_TRUE(both);
    EXPECT_EQ(both->offset_min, -10);
    EXPECT_EQ(both->offset_max, 10);
    EXPECT_EQ(both->lost_min, 5u);
    EXPECT_EQ(both->lost_max, 12u);
    EXPECT_EQ(both->evidence, Evidence::starvation);
    const Gap unknown[] = {{1, 1, 1, kUnknown, Evidence::counter}, gaps[0]};
    EXPECT_EQ(merge_losses(unknown, 0)->lost_max, kUnknown);
}

TEST(FramingHeader, TheLossOfASkippedBlockIsCarriedByTheNextBlock)
{
    const Header::Loss inside{5, 7, 3, kUnknown, Evidence::overflow_bit};
    const auto carried = seen_from_behind(inside, 10);
    ASSERT_TRUE(carried);
    EXPECT_EQ(carried->offset_min, -5);
    EXPECT_EQ(carried->offset_max, -3);
    EXPECT_EQ(carried->lost_min, 3u);
    EXPECT_EQ(carried->lost_max, kUnknown);
    EXPECT_EQ(seen_from_behind(inside, 6)->offset_max, 1) << "it can be in the next block";
    EXPECT_FALSE(seen_from_behind(std::nullopt, 10));
    const auto all = merged(carried, Header::Loss{2, 4, 1, 1, Evidence::starvation});
    EXPECT_EQ(all->offset_min, -5);
    EXPECT_EQ(all->offset_max, 4);
    EXPECT_EQ(all->lost_min, 4u);
    EXPECT_EQ(all->lost_max, kUnknown);
    EXPECT_EQ(all->evidence, Evidence::starvation);
    EXPECT_EQ(merged(carried, std::nullopt)->offset_min, -5);
    // No reported loss makes the offsets overflow, however many blocks were skipped.
    auto far = seen_from_behind(Header::Loss{INT64_MIN, INT64_MAX, 0, 0, {}}, kUnknown);
    for (int i = 0; i < 3; ++i)
        far = seen_from_behind(far, kUnknown);
    EXPECT_LE(far->offset_min, far->offset_max);
    EXPECT_LT(far->offset_max, 0);
}

TEST(FramingHeader, TheHeaderOfAPartCoversWholeSamplesAndTheLossesBeforeItsEnd)
{
    Header whole;
    whole.sample_index = 7;
    whole.wire_bytes = 4096;
    whole.valid_bytes = 4000; // 1000 samples
    whole.loss = Header::Loss{500, 500, 10, 10, Evidence::counter};
    whole.checksum = 1;
    const Header before = first_part(whole, 2003, 4); // 500 samples, before the place of the loss
    EXPECT_EQ(before.valid_bytes, 2000u);
    EXPECT_EQ(before.sample_index, 7u);
    EXPECT_FALSE(before.loss);
    EXPECT_FALSE(before.checksum);
    EXPECT_EQ(before.flags, static_cast<std::uint32_t>(Header::unverified));
    const Header after = first_part(whole, 2004, 4);
    ASSERT_TRUE(after.loss);
    EXPECT_EQ(after.loss->lost_min, 10u);
    EXPECT_EQ(first_part(whole, 4096, 4).valid_bytes, 4000u); // without the padding
    whole.checksum.reset();
    EXPECT_EQ(first_part(whole, 2000, 4).flags, 0u);
}

} // namespace
