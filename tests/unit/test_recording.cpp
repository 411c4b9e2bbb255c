// SPDX-License-Identifier: MIT
// Recordings that are finished, or were interrupted: checked and recovered.
#include "file/sigmf/leftover.hpp"
#include "iio_stream/recording.hpp"
#include "support/errors.hpp"
#include "support/recordings.hpp"
#include "support/temp_dir.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace {

using namespace iio_stream;
using namespace iio_stream::test;
using file::Json;

/// A recording as a kill leaves it: metadata from its first second, a journal, a file with more in
/// it than is known.
void interrupt(const TempDir& dir, const std::string& journal)
{
    record(dir / "x");
    edit(dir / "x.sigmf-meta", "/global/iio_stream:state", "recording");
    Json m = file::load_metadata(dir / "x.sigmf-meta");
    m["global"].erase("iio_stream:samples");
    write_text(dir / "x.sigmf-meta", m.dump());
    if (!journal.empty())
        write_text(dir / "x.sigmf-data.journal", journal);
}

std::uint64_t size_of(const std::string& path)
{
    return std::filesystem::file_size(path);
}

std::string only_problem(const std::string& path)
{
    const Recording r = check_recording(path);
    EXPECT_EQ(r.problems.size(), 1u);
    return r.problems.empty() ? "" : r.problems[0];
}

TEST(Recording, AGoodOneHasNoProblems)
{
    const TempDir dir;
    record(dir / "x", {{1000, 50}, {3000, 5, Gap{2950, 2950, 0, 100, Evidence::starvation}}});
    for (const char* name : {"x", "x.sigmf", "x.sigmf-meta", "x.sigmf-data"}) {
        const Recording r = check_recording(dir / name);
        EXPECT_TRUE(r.problems.empty()) << r.problems[0];
        EXPECT_EQ(r.samples, 10'000u - 55);
        EXPECT_EQ(r.gaps.certain, 1u);
        EXPECT_EQ(r.gaps.possible, 1u);
        EXPECT_EQ(r.gaps.lost_min, 50u);
        EXPECT_EQ(r.gaps.lost_max, 150u);
        EXPECT_EQ(r.hash, Hash::none);
        EXPECT_EQ(r.format.name(), "ci16_le");
        EXPECT_FALSE(recover_recording(dir / name).needed);
    }
}

TEST(Recording, WhatIsWrongIsNamed)
{
    const TempDir dir;
    record(dir / "x", {{1000, 50}});
    const std::string meta = dir / "x.sigmf-meta", data = dir / "x.sigmf-data";
    const std::string good = text_in(meta);
    edit(meta, "/global/core:datatype", "ci16");
    EXPECT_NE(only_problem(dir / "x").find("core:datatype = \"ci16\""), std::string::npos);
    write_text(meta, good);
    edit(meta, "/annotations/0/core:sample_start", 10'001);
    EXPECT_NE(only_problem(dir / "x").find("annotations[0]"), std::string::npos);
    write_text(meta, good);
    edit(meta, "/captures/1/core:sample_start", 9950); // the file has 9950
    EXPECT_NE(only_problem(dir / "x").find("captures[1]"), std::string::npos);
    write_text(meta, good);
    ASSERT_EQ(::truncate(data.c_str(), 4000), 0);
    EXPECT_FALSE(check_recording(dir / "x").problems.empty());
    EXPECT_TRUE(check_recording(dir / "x").needs_recover);
    ASSERT_EQ(::unlink(data.c_str()), 0);
    EXPECT_EQ(error_of([&] { (void)check_recording(dir / "x"); }).fault(), Fault::storage);
    ASSERT_EQ(::unlink(meta.c_str()), 0);
    EXPECT_EQ(error_of([&] { (void)check_recording(dir / "x"); }).code().value(), ENOENT);
}

TEST(Recording, AHashIsAddedOnceAndCheckedFromThenOn)
{
    const TempDir dir;
    record(dir / "x");
    EXPECT_EQ(check_recording(dir / "x", "", true).hash, Hash::added);
    EXPECT_EQ(check_recording(dir / "x", "", true).hash, Hash::good);
    std::vector<std::byte> bytes = contents(dir / "x.sigmf-data");
    bytes[5000] ^= std::byte{1};
    write_file(dir / "x.sigmf-data", bytes);
    const Recording r = check_recording(dir / "x");
    EXPECT_EQ(r.hash, Hash::bad);
    EXPECT_NE(r.problems.at(0).find("core:sha512"), std::string::npos);
}

TEST(Recording, RawSamplesHaveAWholeSize)
{
    const TempDir dir;
    write_file(dir / "a.ci16", ramp(0, 100));
    EXPECT_TRUE(check_recording(dir / "a.ci16").problems.empty());
    ASSERT_EQ(::truncate((dir / "a.ci16").c_str(), 399), 0);
    EXPECT_NE(only_problem(dir / "a.ci16").find("399 bytes"), std::string::npos);
    EXPECT_TRUE(check_recording(dir / "a.ci16", "ri8").problems.empty());
    expect_usage_error([&] { (void)check_recording(dir / "a.ci16", "ri8", true); }, "--add-hash");
    EXPECT_EQ(recover_recording(dir / "a.ci16").bytes, 396u);
    EXPECT_EQ(size_of(dir / "a.ci16"), 396u);
    EXPECT_FALSE(recover_recording(dir / "a.ci16").needed);
}

TEST(Recover, AnInterruptionWithoutAJournalKeepsAllWholeSamples)
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
    EXPECT_EQ(m["annotations"][0]["core:label"], "interrupted");
    EXPECT_FALSE(recover_recording(dir / "x").needed);
}

TEST(Recover, TheJournalSaysHowFarTheSamplesGoAndWhatWasLost)
{
    const TempDir dir;
    interrupt(dir, "{\"iio_stream_journal\":1,\"sample_bytes\":4}\n{\"bytes\":8000}\n"
                   "{\"gap\":[500,500,7,7,\"counter\"]}\n{\"bytes\":20000}\n"
                   "{\"gap\":[1000,1200,0,null,\"starvation\"]}\n"
                   "{\"gap\":[6000,6000,3,3,\"counter\"]}\n{\"bytes\":24");
    const Recovery done = recover_recording(dir / "x.sigmf-data");
    EXPECT_EQ(done.bytes, 20'000u);
    EXPECT_EQ(done.bytes_before, 40'000u);
    EXPECT_EQ(contents(dir / "x.sigmf-data"), ramp(0, 5000));
    EXPECT_FALSE(std::filesystem::exists(dir / "x.sigmf-data.journal"));
    const Recording r = check_recording(dir / "x");
    EXPECT_TRUE(r.problems.empty()) << r.problems[0];
    EXPECT_EQ(r.gaps.certain, 1u);
    EXPECT_EQ(r.gaps.possible, 1u);
    EXPECT_EQ(r.gaps.lost_max, kUnknown);
}

// Killed when the data file was closed, its journal gone, and the metadata not concluded yet.
TEST(Recover, WhatTheMetadataTellOfLossesStays)
{
    for (const char* journal : {"", "{\"iio_stream_journal\":1,\"sample_bytes\":4}\n{\"bytes\":20000}\n"}) {
        const TempDir dir;
        record(dir / "x", {{0, 5}, {1000, 50}});
        edit(dir / "x.sigmf-meta", "/global/iio_stream:state", "recording");
        if (*journal != '\0')
            write_text(dir / "x.sigmf-data.journal", journal);
        EXPECT_TRUE(recover_recording(dir / "x").needed);
        const Recording r = check_recording(dir / "x");
        EXPECT_TRUE(r.problems.empty()) << r.problems[0];
        EXPECT_EQ(r.gaps.lost_min, 55u);
        const Json m = file::load_metadata(dir / "x.sigmf-meta");
        EXPECT_EQ(m["captures"][0]["core:global_index"], 5);
        EXPECT_EQ(m["captures"][1]["core:global_index"], 995 + 55);
    }
}

TEST(Recover, WhatWasReservedAndNeverWrittenIsCutOff)
{
    const TempDir dir;
    for (const char* journal :
         {"", "{\"iio_stream_journal\":1,\"sample_bytes\":4}\n{\"bytes\":33554432}\n"}) {
        interrupt(dir, journal);
        const std::string data = dir / "x.sigmf-data";
        ASSERT_EQ(::truncate(data.c_str(), 32 << 20), 0);
        const int fd = ::open(data.c_str(), O_RDONLY);
        const bool sparse = ::lseek(fd, 0, SEEK_HOLE) < (32 << 20);
        ::close(fd);
        if (!sparse)
            GTEST_SKIP() << "the file system of temporary files knows no holes";
        const Recovery done = recover_recording(dir / "x");
        EXPECT_GE(done.bytes, 40'000u);
        EXPECT_LT(done.bytes, 40'000u + 65'536u); // holes begin with a page
        EXPECT_TRUE(check_recording(dir / "x").problems.empty());
        std::filesystem::remove(data);
        std::filesystem::remove(dir / "x.sigmf-meta");
    }
}

TEST(Recover, HolesInAFinishedRecordingAreItsSamples)
{
    const TempDir dir;
    const std::string data = dir / "x.sigmf-data";
    record(dir / "x");
    ASSERT_EQ(::truncate(data.c_str(), 0), 0);
    ASSERT_EQ(::truncate(data.c_str(), 40'000), 0); // as cp --sparse would make it of zeros
    EXPECT_FALSE(recover_recording(dir / "x").needed);
    EXPECT_EQ(size_of(data), 40'000u);
}

TEST(Recover, AnInterruptionBeforeTheDataFileWasMadeLeavesAnEmptyRecording)
{
    const TempDir dir;
    interrupt(dir, "");
    std::filesystem::remove(dir / "x.sigmf-data");
    EXPECT_TRUE(check_recording(dir / "x").needs_recover);
    EXPECT_EQ(recover_recording(dir / "x").samples, 0u);
    EXPECT_TRUE(check_recording(dir / "x").problems.empty());
}

TEST(Recover, RawSamplesFollowTheirJournal)
{
    const TempDir dir;
    write_file(dir / "a.bin", ramp(0, 1000));
    write_text(dir / "a.bin.journal",
               "{\"iio_stream_journal\":1,\"sample_bytes\":4}\n{\"bytes\":2003}\n");
    EXPECT_TRUE(check_recording(dir / "a.bin").needs_recover);
    EXPECT_EQ(recover_recording(dir / "a.bin").bytes, 2000u);
    EXPECT_FALSE(check_recording(dir / "a.bin").needs_recover);
}

TEST(Recover, ARecordingThatIsBeingWrittenIsLeftAlone)
{
    const TempDir dir;
    interrupt(dir, "{\"iio_stream_journal\":1,\"sample_bytes\":4}\n");
    const int fd = ::open((dir / "x.sigmf-data").c_str(), O_WRONLY);
    const Error error = error_of([&] { (void)recover_recording(dir / "x"); });
    EXPECT_EQ(error.code().value(), EBUSY);
    EXPECT_NE(std::string(error.what()).find(std::to_string(::getpid())), std::string::npos);
    ::close(fd);
    EXPECT_EQ(size_of(dir / "x.sigmf-data"), 40'000u);
    EXPECT_EQ(recover_recording(dir / "x").samples, 0u);
    EXPECT_TRUE(check_recording(dir / "x").problems.empty());
}

TEST(Recover, AnyTornJournalIsReadAsFarAsItGoes)
{
    const std::string whole = "{\"iio_stream_journal\":1,\"sample_bytes\":4}\n{\"bytes\":100}\n"
                              "{\"gap\":[1,2,3,4,\"counter\"]}\n{\"bytes\":200}\n";
    std::uint64_t last = 0;
    for (std::size_t length = 0; length <= whole.size(); ++length) {
        const file::Leftover left = file::parse_journal(whole.substr(0, length));
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
                        .gaps.empty())
            << bad;
}

TEST(Recording, ItsPatternIsVerifiedFromItsPlaceInTheStreamOn)
{
    Recording part;
    EXPECT_EQ(verify_sink(part, "ramp"), "verify:ramp?first=0&first_exact=on");
    part.first_index = 1234;
    part.first_exact = false;
    EXPECT_EQ(verify_sink(part, "lanes"), "verify:lanes?first=1234&first_exact=off");
    for (const char* pattern : {"rampp", "tone", ""})
        expect_usage_error([&] { (void)verify_sink(part, pattern); },
                           "pattern=" + std::string(pattern), "ramp");
}

} // namespace
