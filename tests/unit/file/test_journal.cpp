// SPDX-License-Identifier: MIT
// The journal that is written next to a recording, in case of an interruption.
#include "file/journal/journal.hpp"
#include "file/journal/journal_reader.hpp"
#include "support/errors.hpp"
#include "support/eventually.hpp"
#include "support/file_size_limit.hpp"
#include "support/files.hpp"
#include "support/temp_dir.hpp"
#include "sys/stream_file.hpp"

#include <filesystem>
#include <gtest/gtest.h>
#include <thread>

namespace {

using namespace iio_stream;
using namespace iio_stream::test;
using file::Journal;

std::string text_of_journal(const TempDir& dir)
{
    const auto bytes = contents(dir / "j");
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST(Journal, AFailedWriteIsRepeated)
{
    const TempDir dir;
    Journal journal(dir / "j", 4, 0, true);
    const std::string first =
        "{\"iio_stream_journal\":1,\"sample_bytes\":4,\"part\":0,\"reserved\":true}\n";
    {
        const FileSizeLimit limit(first.size() + 10); // half a line fits
        journal.add_loss(file::Loss{{5, 5, 7, 7, Evidence::counter}});
        journal.note(4096);
        ASSERT_TRUE(eventually([&] { return text_of_journal(dir).size() > first.size(); }));
    }
    EXPECT_TRUE(eventually([&] {
        return text_of_journal(dir) ==
               first + "{\"gap\":[5,5,7,7,\"counter\"]}\n{\"bytes\":4096}\n";
    }));
}

TEST(Journal, TooManyLossesAreMergedAndWrittenBeforeTheirSamples)
{
    const TempDir dir;
    Journal journal(dir / "j", 4, 2, true);
    for (std::uint64_t i = 0; i < 5000; ++i)
        journal.add_loss(file::Loss{{i, i, 2, 2, Evidence::counter}});
    ASSERT_TRUE(eventually([&] {
        journal.note(20'000);
        return text_of_journal(dir).find("\"bytes\":20000") != std::string::npos;
    }));
    const file::JournalContents left = file::parse_journal(text_of_journal(dir));
    EXPECT_EQ(left.part, 2u);
    std::uint64_t lost = 0;
    for (const file::Loss& loss : left.losses)
        lost += loss.gap.lost_min;
    EXPECT_EQ(lost, 10'000u);
    EXPECT_EQ(left.losses.back().gap.offset_max, 4999u);
}

TEST(Journal, FinalLossesAreWrittenBeforeTheBytes)
{
    const TempDir dir;
    Journal journal(dir / "j", 4, 0, true);
    journal.set_losses_final_before(100);
    journal.note(4096);
    ASSERT_TRUE(eventually([&] {
        return text_of_journal(dir).ends_with("{\"losses_final\":100}\n{\"bytes\":4096}\n");
    }));
    EXPECT_EQ(file::parse_journal(text_of_journal(dir)).losses_final, 100u);
}

TEST(Journal, TheStartAndTheEndAreWrittenImmediately)
{
    const TempDir dir;
    Journal journal(dir / "j", 4, 1, true);
    journal.set_start({12'345, false});
    journal.end_at(99);
    const file::JournalContents left = file::parse_journal(text_of_journal(dir));
    EXPECT_EQ(left.first_index, 12'345u);
    EXPECT_FALSE(left.first_exact);
    EXPECT_EQ(left.end, 99u);
    journal.remove();
    EXPECT_FALSE(std::filesystem::exists(dir / "j"));
}

TEST(Journal, TheLastOfSeveralAnnouncementsApplies)
{
    const TempDir dir;
    Journal journal(dir / "j", 4, 1, true);
    journal.announce({1000, true});
    EXPECT_EQ(file::parse_journal(text_of_journal(dir)).first_index, 1000u);
    journal.announce({1077, true});
    journal.set_start({1077, true}); // as announced: nothing to write
    const std::string text = text_of_journal(dir);
    EXPECT_TRUE(text.ends_with("{\"first\":[1000,true]}\n{\"first\":[1077,true]}\n"));
    EXPECT_EQ(file::parse_journal(text).first_index, 1077u);
}

TEST(Journal, AFailedAnnouncementIsAnError)
{
    const TempDir dir;
    Journal journal(dir / "j", 4, 1, true);
    const FileSizeLimit limit(std::filesystem::file_size(dir / "j") + 5);
    std::thread([&] {
        sys::block_write_signals();
        EXPECT_THROW(journal.announce({1000, true}), Error);
    }).join();
}

} // namespace
