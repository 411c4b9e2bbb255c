// SPDX-License-Identifier: MIT
// Blocks with another block's bytes after a valid header. They are detected only with `check=`.
#include "framing/checksum.hpp"
#include "framing/crc32c.hpp"
#include "framing/info.hpp"
#include "support/fake.hpp"
#include "support/fake_usb.hpp"
#include "support/usb_sender.hpp"

#include <cerrno>
#include <cstring>
#include <gtest/gtest.h>
#include <random>
#include <string_view>

namespace {

using namespace iio_stream;
using namespace iio_stream::test;
using framing::Check;
using framing::Header;

constexpr std::uint64_t kBlocks = 100;

/// Sends blocks with the checksums of their own bytes. After some headers, another block's bytes
/// follow.
class CheckedSender {
public:
    explicit CheckedSender(std::function<std::uint64_t(std::uint64_t)> content)
        : sender_(0, [](Sender&) {}), content_(std::move(content))
    {}

    std::optional<UsbSend> next()
    {
        if (sender_.queue.empty() && sender_.sent < kBlocks) {
            const std::uint64_t block = sender_.sent++;
            Header h = Sender::header_of(block);
            const auto own = ramp(block * kBlockSamples, kBlockSamples);
            h.checksum = framing::crc32c(own);
            sender_.send(on_wire(h));
            sender_.send(ramp(content_(block) * kBlockSamples, kBlockSamples));
        }
        return sender_.next();
    }

private:
    Sender sender_;
    std::function<std::uint64_t(std::uint64_t)> content_;
};

/// Returns the number of delivered blocks whose samples belong elsewhere.
std::uint64_t wrong_blocks(const FakeSink::Log& log)
{
    std::uint64_t wrong = 0;
    for (const BlockInfo& block : log.infos) {
        const auto own = ramp(block.sample_index, kBlockSamples);
        wrong += std::memcmp(log.bytes.data() + 4 * block.position, own.data(), kBlock) != 0;
    }
    return wrong;
}

/// Every tenth block from the 15th on has the bytes of the previous block.
std::uint64_t swapped(std::uint64_t block)
{
    return block % 10 == 5 && block > 10 ? block - 1 : block;
}
constexpr std::uint64_t kSwapped = 9;

TEST(UsbCheck, WithoutChecksumsSwappedBlocksAreNotDetected)
{
    CheckedSender sender(&swapped);
    const Received received = receive(sender, "", Check::none);
    ASSERT_FALSE(received.summary.error);
    EXPECT_EQ(wrong_blocks(*received.log), kSwapped);
    EXPECT_EQ(received.summary.source_stats.error_blocks, 0u);
}

TEST(UsbCheck, CorruptBlocksAreCountedAndReportedAsLost)
{
    for (const char* options :
         {"", "?check=crc32c", "?check=crc32c&transfers=2&transfer_size=1Ki"}) {
        CheckedSender sender(&swapped);
        const Received received = receive(sender, options, Check::crc32c);
        SCOPED_TRACE(options);
        ASSERT_FALSE(received.summary.error) << received.summary.error->what();
        EXPECT_EQ(wrong_blocks(*received.log), 0u);
        EXPECT_EQ(received.log->samples, (kBlocks - kSwapped) * kBlockSamples);
        EXPECT_EQ(received.summary.source_stats.error_blocks, kSwapped);
        const GapTotals& gaps = received.summary.stats.gaps;
        EXPECT_EQ(gaps.certain, kSwapped);
        EXPECT_EQ(gaps.lost_min, kSwapped * kBlockSamples);
        EXPECT_EQ(gaps.lost_max, kSwapped * kBlockSamples);
    }
}

TEST(UsbCheck, ACorruptLastBlockIsReportedAsLost)
{
    CheckedSender sender([](std::uint64_t block) { return block == kBlocks - 1 ? 0 : block; });
    const Received received = receive(sender, "", Check::crc32c);
    ASSERT_FALSE(received.summary.error) << received.summary.error->what();
    EXPECT_EQ(received.log->samples, (kBlocks - 1) * kBlockSamples);
    EXPECT_EQ(received.summary.stats.gaps.lost_min, kBlockSamples);
}

TEST(UsbCheck, TheStreamEndsIfMostBlocksAreCorrupt)
{
    CheckedSender sender([](std::uint64_t block) { return block + 1; });
    const Received received = receive(sender, "", Check::crc32c);
    ASSERT_TRUE(received.summary.error);
    EXPECT_EQ(received.summary.error->code().value(), EBADMSG);
    EXPECT_EQ(received.log->samples, 0u);
}

TEST(UsbCheck, ABlockWithoutAChecksumIsRefused)
{
    Sender sender(kBlocks, [](Sender&) {});
    const Received received = receive(sender, "", Check::crc32c);
    ASSERT_TRUE(received.summary.error);
    EXPECT_EQ(received.summary.error->code().value(), EPROTO);
    EXPECT_EQ(received.log->samples, 0u);
}

TEST(UsbCheck, ABoardWithoutChecksumsIsRefusedOnlyIfTheyAreRequired)
{
    Sender sender(kBlocks, [](Sender&) {});
    const Received plain = receive(sender, "", Check::none);
    EXPECT_FALSE(plain.summary.error);
    EXPECT_EQ(plain.log->samples, kBlocks * kBlockSamples);
    Sender another(kBlocks, [](Sender&) {});
    try {
        (void)receive(another, "?check=crc32c", Check::none);
        ADD_FAILURE() << "a board without checksums was accepted";
    } catch (const Error& error) {
        EXPECT_EQ(error.hint(), "on the board: ffs:MOUNT check=crc32c");
    }
}

TEST(UsbCheck, TheRouteShowsTheCostOfChecksums)
{
    for (const Check check : {Check::none, Check::crc32c}) {
        CheckedSender sender([](std::uint64_t block) { return block; });
        const std::string route = to_json(receive(sender, "", check).summary);
        EXPECT_EQ(route.find("checksum: the CPU reads each block") != std::string::npos,
                  check == Check::crc32c);
    }
}

TEST(UsbCheck, ABoardThatReturnsWithoutChecksumsIsADifferentBoard)
{
    framing::StreamShape before;
    before.format = Format::parse("ci16_le");
    framing::StreamShape now = before;
    EXPECT_NO_THROW(framing::check_same_shape(now, before, "board"));
    before.check = Check::crc32c;
    EXPECT_THROW(framing::check_same_shape(now, before, "board"), Error);
}

TEST(UsbCheck, GetInfoNamesTheChecksumAndAnUnknownOneIsRefused)
{
    std::string info = board_info(Check::crc32c);
    EXPECT_EQ(framing::parse_info(info, "it").to_host->check, Check::crc32c);
    const std::size_t at = info.find("crc32c");
    ASSERT_NE(at, std::string::npos);
    EXPECT_THROW((void)framing::parse_info(info.replace(at, 6, "sha512"), "it"), Error);
    EXPECT_EQ(board_info(Check::none).find("check"), std::string::npos);
}

// RFC 3720, B.4.
TEST(UsbCheck, Crc32cMatchesTheExamplesOfIscsi)
{
    const std::vector<std::byte> zeros(32), ones(32, std::byte{0xff});
    std::vector<std::byte> up(32);
    for (std::size_t i = 0; i < up.size(); ++i)
        up[i] = static_cast<std::byte>(i);
    for (const auto crc : {&framing::crc32c, &framing::crc32c_by_tables}) {
        EXPECT_EQ(crc(zeros), 0x8a9136aau);
        EXPECT_EQ(crc(ones), 0x62a8ab43u);
        EXPECT_EQ(crc(up), 0x46dd794eu);
        EXPECT_EQ(crc(std::as_bytes(std::span(std::string_view("123456789")))), 0xe3069283u);
        EXPECT_EQ(crc({}), 0u);
    }
}

TEST(UsbCheck, InstructionAndTablesAgreeAtEveryLengthAndOffset)
{
    std::mt19937_64 random{5};
    std::vector<std::byte> bytes(300);
    for (std::byte& b : bytes)
        b = static_cast<std::byte>(random());
    for (std::size_t from = 0; from < 9; ++from)
        for (std::size_t length = 0; from + length <= bytes.size(); ++length) {
            const auto part = std::span(bytes).subspan(from, length);
            ASSERT_EQ(framing::crc32c(part), framing::crc32c_by_tables(part))
                << from << " " << length;
        }
}

} // namespace
