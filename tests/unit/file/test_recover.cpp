// SPDX-License-Identifier: MIT
// Recovery of interrupted recordings.
#include "iio_stream/recording.hpp"
#include "support/errors.hpp"
#include "support/recordings.hpp"
#include "support/temp_dir.hpp"
#include "sys/disk/holes.hpp"
#include "sys/files.hpp"
#include "sys/stream_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace {

using namespace iio_stream;
using namespace iio_stream::test;
using file::Json;

TEST(Recover, DataAfterTheFirstHoleIsKeptInASeparateFile)
{
    const TempDir dir;
    interrupt(dir, "{\"iio_stream_journal\":1,\"sample_bytes\":4}\n{\"bytes\":4096}\n");
    const std::string data = dir / "x.sigmf-data";
    if (!sys::reports_holes(data))
        GTEST_SKIP() << "the temporary directory's file system reports no holes";
    { // a write that completed before earlier ones, and reserved space
        const sys::UniqueFd fd = sys::open_file(data, O_WRONLY);
        ASSERT_EQ(::pwrite(fd.get(), "late", 4, 1 << 20), 4);
        ASSERT_EQ(::ftruncate(fd.get(), 32 << 20), 0);
    }
    const Recovery done = recover_recording(dir / "x");
    EXPECT_GE(done.bytes, 40'000u);
    EXPECT_LT(done.bytes, 40'000u + 65'536u);
    ASSERT_EQ(done.tail, data + ".tail");
    const std::string tail = text_in(done.tail);
    EXPECT_EQ(tail.find("late"), (1 << 20) - done.bytes);
    EXPECT_EQ(tail.find_first_not_of('\0'), (1 << 20) - done.bytes);
}

TEST(Recover, UserEditsToTheMetadataArePreserved)
{
    const TempDir dir;
    interrupt(dir, "{\"iio_stream_journal\":1,\"sample_bytes\":4}\n"
                   "{\"gap\":[2000,2000,7,7,\"counter\"]}\n{\"bytes\":40000}\n");
    Json m = file::load_metadata(dir / "x.sigmf-meta");
    m["global"]["core:author"] = "A. N. Other";
    m["captures"][0]["core:frequency"] = 1e6;
    m["captures"].push_back({{"core:sample_start", 1000}, {"core:frequency", 2e6}});
    m["captures"].push_back({{"core:sample_start", 3000}, {"core:frequency", 3e6}});
    m["annotations"].push_back(
        {{"core:sample_start", 1500}, {"core:sample_count", 10}, {"core:label", "mine"}});
    const std::string before = m.dump() + "\n";
    write_text(dir / "x.sigmf-meta", before);
    const Recovery done = recover_recording(dir / "x");
    EXPECT_EQ(text_in(done.backup), before);
    m = file::load_metadata(dir / "x.sigmf-meta");
    EXPECT_EQ(m["global"]["core:author"], "A. N. Other");
    ASSERT_EQ(m["captures"].size(), 4u);
    EXPECT_EQ(m["captures"][1]["core:frequency"], 2e6);
    EXPECT_EQ(m["captures"][2]["core:sample_start"], 2000);
    EXPECT_EQ(m["captures"][2]["core:frequency"], 2e6); // like the capture that it continues
    EXPECT_EQ(m["captures"][2]["core:global_index"], 2007);
    EXPECT_EQ(m["captures"][3]["core:frequency"], 3e6);
    EXPECT_EQ(m["annotations"][0]["core:label"], "mine");
    EXPECT_EQ(m["annotations"][1]["iio_stream:lost_min"], 7);
    EXPECT_TRUE(check_recording(dir / "x").problems.empty());
}

TEST(Recover, SymbolicLinksAndForeignDatasetsAreNotFollowed)
{
    const TempDir dir;
    write_file(dir / "precious", ramp(0, 100));
    interrupt(dir, "");
    edit(dir / "x.sigmf-meta", "/global/core:dataset", "precious");
    EXPECT_EQ(error_of([&] { (void)recover_recording(dir / "x"); }).code().value(), EINVAL);
    std::filesystem::remove(dir / "x.sigmf-data");
    std::filesystem::remove(dir / "x.sigmf-meta");
    interrupt(dir, "");
    std::filesystem::remove(dir / "x.sigmf-data");
    std::filesystem::create_symlink(dir / "precious", dir / "x.sigmf-data");
    write_text(dir / "x.sigmf-data.journal",
               "{\"iio_stream_journal\":1,\"sample_bytes\":4}\n{\"end\":0}\n");
    EXPECT_EQ(error_of([&] { (void)recover_recording(dir / "x"); }).code().value(), ELOOP);
    EXPECT_EQ(contents(dir / "precious"), ramp(0, 100));
}

// The recorder was killed after it had closed the data file and removed the journal, but before it
// completed the metadata.
TEST(Recover, LossesInTheMetadataArePreserved)
{
    for (const char* journal :
         {"", "{\"iio_stream_journal\":1,\"sample_bytes\":4}\n{\"bytes\":20000}\n"}) {
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

TEST(Recover, ReservedSpaceThatWasNeverWrittenIsCutOff)
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
            GTEST_SKIP() << "the temporary directory's file system reports no holes";
        const Recovery done = recover_recording(dir / "x");
        EXPECT_GE(done.bytes, 40'000u);
        EXPECT_LT(done.bytes, 40'000u + 65'536u); // holes begin at page boundaries
        EXPECT_TRUE(check_recording(dir / "x").problems.empty());
        std::filesystem::remove(data);
        std::filesystem::remove(dir / "x.sigmf-meta");
    }
}

TEST(Recover, HolesInAFinishedRecordingAreSamples)
{
    const TempDir dir;
    const std::string data = dir / "x.sigmf-data";
    record(dir / "x");
    ASSERT_EQ(::truncate(data.c_str(), 0), 0);
    ASSERT_EQ(::truncate(data.c_str(), 40'000), 0); // as `cp --sparse` does for zeros
    EXPECT_FALSE(recover_recording(dir / "x").needed);
    EXPECT_EQ(std::filesystem::file_size(data), 40'000u);
}

TEST(Recover, AnInterruptionBeforeTheDataFileExistsLeavesAnEmptyRecording)
{
    const TempDir dir;
    interrupt(dir, "");
    std::filesystem::remove(dir / "x.sigmf-data");
    EXPECT_TRUE(check_recording(dir / "x").needs_recover);
    EXPECT_EQ(recover_recording(dir / "x").samples, 0u);
    EXPECT_TRUE(check_recording(dir / "x").problems.empty());
}

TEST(Recover, ANextPartThatWasOnlyPreparedIsRemoved)
{
    const TempDir dir;
    PipelineConfig config = config_of(fake_source({.total = 10}).uri,
                                      {"file:" + (dir / "x.sigmf-meta") + "?rotate_bytes=4Ki"});
    EXPECT_EQ(run(config).error, std::nullopt);
    const std::string next = dir / "x.0001.sigmf-data";
    const auto recovered = [&] {
        (void)recover_recording(dir / "x.0000.sigmf-meta");
        return !std::filesystem::exists(next);
    };
    write_text(next, "");
    EXPECT_TRUE(recovered());
    write_text(next, "1234");
    EXPECT_FALSE(recovered()) << "it has samples";
    write_text(next, "");
    write_text(dir / "x.0001.sigmf-meta", "{}");
    EXPECT_FALSE(recovered()) << "it has metadata";
    std::filesystem::remove(dir / "x.0001.sigmf-meta");
    EXPECT_TRUE(recovered());
}

TEST(Recover, ARecordingInProgressIsLeftAlone)
{
    const TempDir dir;
    interrupt(dir, "{\"iio_stream_journal\":1,\"sample_bytes\":4}\n");
    const int fd = ::open((dir / "x.sigmf-data").c_str(), O_WRONLY);
    const Error error = error_of([&] { (void)recover_recording(dir / "x"); });
    EXPECT_EQ(error.code().value(), EBUSY);
    EXPECT_NE(std::string(error.what()).find(std::to_string(::getpid())), std::string::npos);
    ::close(fd);
    EXPECT_EQ(std::filesystem::file_size(dir / "x.sigmf-data"), 40'000u);
    EXPECT_TRUE(recover_recording(dir / "x").needed);
    EXPECT_TRUE(check_recording(dir / "x").problems.empty());
}

TEST(Recover, ARecordingInProgressIsDetectedUnderAnyOfItsNames)
{
    const TempDir dir;
    interrupt(dir, "{\"iio_stream_journal\":1,\"sample_bytes\":4}\n");
    std::filesystem::create_hard_link(dir / "x.sigmf-data", dir / "y.bin");
    write_text(dir / "y.bin.journal",
               "{\"iio_stream_journal\":1,\"sample_bytes\":4}\n{\"end\":0}\n");
    const sys::UniqueFd fd = sys::open_file(dir / "x.sigmf-data", O_WRONLY);
    ASSERT_TRUE(sys::try_lock(fd.get(), sys::Lock::exclusive));
    EXPECT_EQ(error_of([&] { (void)recover_recording(dir / "y.bin"); }).code().value(), EBUSY);
    EXPECT_EQ(only_problem(dir / "x"), "it is being recorded");
    EXPECT_FALSE(check_recording(dir / "x").needs_recover);
    EXPECT_EQ(std::filesystem::file_size(dir / "x.sigmf-data"), 40'000u);
}

} // namespace
