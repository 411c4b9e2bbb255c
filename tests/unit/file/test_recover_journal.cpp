// SPDX-License-Identifier: MIT
// The contribution of the journal to the recovery of a recording.
#include "file/journal/journal_reader.hpp"
#include "iio_stream/recording.hpp"
#include "support/errors.hpp"
#include "support/recordings.hpp"
#include "support/temp_dir.hpp"
#include "sys/disk/holes.hpp"
#include "sys/files.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace {

using namespace iio_stream;
using namespace iio_stream::test;
using file::Json;

TEST(RecoverByJournal, WithoutAJournalAllWholeSamplesAreKept)
{
    const TempDir dir;
    interrupt(dir, "");
    ASSERT_EQ(::truncate((dir / "x.sigmf-data").c_str(), 4002), 0);
    EXPECT_TRUE(check_recording(dir / "x").needs_recover);
    EXPECT_NE(
        std::string(error_of([&] { run(config_of(dir / "x", {"null:"})); }).what()).find("recover"),
        std::string::npos);
    const Recovery done = recover_recording(dir / "x");
    EXPECT_TRUE(done.needed);
    EXPECT_EQ(done.samples, 1000u);
    EXPECT_EQ(contents(dir / "x.sigmf-data"), ramp(0, 1000));
    EXPECT_TRUE(check_recording(dir / "x").problems.empty());
    const Json m = file::load_metadata(dir / "x.sigmf-meta");
    EXPECT_EQ(m["global"]["iio_stream:state"], "recovered");
    EXPECT_EQ(m["annotations"].back()["core:label"], "interrupted");
    EXPECT_EQ(m["annotations"][0]["core:label"],
              "possible gap"); // without the journal, its losses are unknown
    EXPECT_EQ(m["annotations"][0]["core:sample_count"], 1000u);
    EXPECT_FALSE(recover_recording(dir / "x").needed);
}

TEST(RecoverByJournal, TheJournalStatesTheLengthAndTheLosses)
{
    const TempDir dir;
    interrupt(dir, "{\"iio_stream_journal\":1,\"sample_bytes\":4}\n{\"bytes\":8000}\n"
                   "{\"gap\":[500,500,7,7,\"counter\"]}\n{\"bytes\":20000}\n"
                   "{\"gap\":[1000,1200,0,null,\"starvation\"]}\n"
                   "{\"gap\":[6000,6000,3,3,\"counter\"]}\n{\"bytes\":24");
    const Recovery done = recover_recording(dir / "x.sigmf-data");
    if (!sys::reports_holes(dir / "x"))
        GTEST_SKIP() << "the temporary directory's file system reports no holes";
    EXPECT_EQ(done.bytes, 40'000u); // all bytes, even those that the journal had not reached
    EXPECT_EQ(done.bytes_before, 40'000u);
    EXPECT_EQ(done.tail, "");
    EXPECT_EQ(contents(dir / "x.sigmf-data"), ramp(0, 10'000));
    EXPECT_FALSE(std::filesystem::exists(dir / "x.sigmf-data.journal"));
    const Recording r = check_recording(dir / "x");
    EXPECT_TRUE(r.problems.empty()) << r.problems[0];
    EXPECT_EQ(r.gaps.certain, 2u);
    EXPECT_EQ(r.gaps.possible, 2u); // one of them covers the part that the journal had not reached
    EXPECT_EQ(r.gaps.lost_max, kUnknown);
}

TEST(RecoverByJournal, LateLossesAreReportedAsPossibleAfterTheLastFinalPosition)
{
    const TempDir dir;
    interrupt(
        dir,
        "{\"iio_stream_journal\":1,\"sample_bytes\":4}\n{\"losses_final\":0}\n{\"bytes\":8000}\n"
        "{\"losses_final\":1500}\n{\"bytes\":40000}\n");
    (void)recover_recording(dir / "x");
    const auto possible = file::contents_of(file::load_metadata(dir / "x.sigmf-meta")).gaps;
    ASSERT_EQ(possible.size(), 1u);
    EXPECT_EQ(possible[0].offset_min, 1500u);
    EXPECT_EQ(possible[0].offset_max, 10'000u);
    EXPECT_EQ(possible[0].lost_max, kUnknown);
}

TEST(RecoverByJournal, IfHolesAreUnknownTheJournalDeterminesTheLength)
{
    const TempDir dir;
    write_file(dir / "a.bin", ramp(0, 1000));
    const sys::UniqueFd fd = sys::open_file(dir / "a.bin", O_RDONLY);
    const std::string begin = "{\"iio_stream_journal\":1,\"sample_bytes\":4}\n{\"bytes\":2003}\n";
    const auto valid = [&](const std::string& journal, file::Holes holes) {
        return file::valid_bytes(fd.get(), dir / "a.bin", file::parse_journal(journal), 4, holes);
    };
    EXPECT_EQ(valid(begin, file::Holes::unknown), 2000u);
    EXPECT_EQ(valid(begin, file::Holes::reported), 4000u);
    EXPECT_EQ(valid(begin + "{\"end\":3000}\n", file::Holes::reported), 3000u);
}

TEST(RecoverByJournal, ZerosAndMergedLossesOfTheJournalAreReported)
{
    const TempDir dir;
    interrupt(dir, "{\"iio_stream_journal\":1,\"sample_bytes\":4,\"part\":3}\n"
                   "{\"first\":[7000,true]}\n"
                   "{\"zeros\":[500,700]}\n{\"zeros\":[700,800]}\n"
                   "{\"dropped\":[900,900,50,50,\"counter\"]}\n{\"bytes\":40000}\n");
    (void)recover_recording(dir / "x");
    const Json m = file::load_metadata(dir / "x.sigmf-meta");
    ASSERT_EQ(m["captures"].size(), 2u);
    EXPECT_EQ(m["captures"][0]["core:global_index"], 7000);
    EXPECT_EQ(m["captures"][1]["core:sample_start"], 900);
    EXPECT_EQ(m["captures"][1]["core:global_index"], 7950);
    ASSERT_EQ(m["annotations"].size(), 3u); // including the interruption
    EXPECT_EQ(m["annotations"][0]["core:sample_start"], 500);
    EXPECT_EQ(m["annotations"][0]["iio_stream:filled"], 300);
    EXPECT_EQ(m["annotations"][1]["iio_stream:evidence"], "dropped");
    EXPECT_EQ(m["annotations"][1]["iio_stream:lost_min"], 50);
    EXPECT_TRUE(check_recording(dir / "x").problems.empty());
}

TEST(RecoverByJournal, APartWithAnUnknownStartHasNoExactIndex)
{
    const TempDir dir;
    interrupt(dir, "{\"iio_stream_journal\":1,\"sample_bytes\":4,\"part\":3}\n{\"bytes\":40000}\n");
    (void)recover_recording(dir / "x");
    EXPECT_FALSE(check_recording(dir / "x").first_exact);
}

TEST(RecoverByJournal, RawSamplesAreRecoveredByTheirJournal)
{
    const TempDir dir;
    write_file(dir / "a.bin", ramp(0, 1000));
    write_text(dir / "a.bin.journal",
               "{\"iio_stream_journal\":1,\"sample_bytes\":4}\n{\"bytes\":2003}\n");
    EXPECT_TRUE(check_recording(dir / "a.bin").needs_recover);
    ASSERT_EQ(::truncate((dir / "a.bin").c_str(), 3994), 0);
    const Recovery done = recover_recording(dir / "a.bin");
    EXPECT_EQ(done.bytes, sys::reports_holes(dir / "a.bin") ? 3992u : 2000u);
    EXPECT_EQ(std::filesystem::file_size(done.tail), 3994 - done.bytes);
    EXPECT_FALSE(check_recording(dir / "a.bin").needs_recover);
}

TEST(RecoverByJournal, ATornJournalIsReadUpToTheTear)
{
    const std::string whole = "{\"iio_stream_journal\":1,\"sample_bytes\":4}\n{\"bytes\":100}\n"
                              "{\"gap\":[1,2,3,4,\"counter\"]}\n{\"bytes\":200}\n";
    std::uint64_t last = 0;
    for (std::size_t length = 0; length <= whole.size(); ++length) {
        const file::JournalContents left = file::parse_journal(whole.substr(0, length));
        EXPECT_GE(left.bytes, last);
        EXPECT_TRUE(left.bytes == 0 || left.bytes == 100 || left.bytes == 200) << left.bytes;
        last = left.bytes;
    }
    EXPECT_EQ(last, 200u);
    for (const char* bad :
         {"{\"iio_stream_journal\":2,\"sample_bytes\":4}\n{\"bytes\":100}\n", "{\"bytes\":100}\n",
          "[1]\n", "\xff\n", "{\"iio_stream_journal\":1}\n{\"bytes\":8}"})
        EXPECT_EQ(file::parse_journal(bad).bytes, 0u) << bad;
    for (const char* bad :
         {"[1,2,3,4]", "[2,1,3,4,\"counter\"]", "[1,2,3,4,\"x\"]", "[-1,2,3,4,\"counter\"]"})
        EXPECT_TRUE(file::parse_journal("{\"iio_stream_journal\":1,\"sample_bytes\":4}\n{\"gap\":" +
                                        std::string(bad) + "}\n")
                        .losses.empty())
            << bad;
}

} // namespace
