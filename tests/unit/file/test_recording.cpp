// SPDX-License-Identifier: MIT
// Checks of finished recordings.
#include "iio_stream/recording.hpp"
#include "support/errors.hpp"
#include "support/recordings.hpp"
#include "support/temp_dir.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace {

using namespace iio_stream;
using namespace iio_stream::test;

TEST(Recording, AValidRecordingHasNoProblems)
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

TEST(Recording, ProblemsAreNamed)
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
    edit(meta, "/captures/1/core:sample_start", 9950); // the file has 9950 samples
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

TEST(Recording, AHashIsAddedOnceAndCheckedAfterwards)
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

TEST(Recording, OnlyTheSuffixesOfRawSamplesDeclareAFormat)
{
    EXPECT_EQ(format_of_suffix("x.cf32"), "cf32_le");
    EXPECT_EQ(format_of_suffix("folder.ci8/x.cs8"), "ci8");
    EXPECT_EQ(format_of_suffix("/dev/shm/x.ri16"), "ri16_le");
    for (const char* name : {"x", "x.sigmf-meta", "x.wav", "x.bin", "-", "/dev/x.cf32"})
        EXPECT_EQ(format_of_suffix(name), "") << name;
}

TEST(Recording, ARawFileMustContainWholeSamples)
{
    const TempDir dir;
    write_file(dir / "a.ci16", ramp(0, 100));
    EXPECT_TRUE(check_recording(dir / "a.ci16").problems.empty());
    ASSERT_EQ(::truncate((dir / "a.ci16").c_str(), 399), 0);
    EXPECT_NE(only_problem(dir / "a.ci16").find("399 bytes"), std::string::npos);
    expect_usage_error([&] { (void)check_recording(dir / "a.ci16", "ri8"); },
                       "the name says ci16_le");
    EXPECT_EQ(::rename((dir / "a.ci16").c_str(), (dir / "b.bin").c_str()), 0);
    EXPECT_TRUE(check_recording(dir / "b.bin", "ri8").problems.empty());
    expect_usage_error([&] { (void)check_recording(dir / "b.bin", "ri8", true); }, "--add-hash");
    EXPECT_EQ(::rename((dir / "b.bin").c_str(), (dir / "a.ci16").c_str()), 0);
    EXPECT_EQ(recover_recording(dir / "a.ci16").bytes, 396u);
    EXPECT_EQ(std::filesystem::file_size(dir / "a.ci16"), 396u);
    EXPECT_FALSE(recover_recording(dir / "a.ci16").needed);
}

TEST(Recording, AFifoInPlaceOfMetadataIsNotARecording)
{
    const TempDir dir;
    ASSERT_EQ(::mkfifo((dir / "x.sigmf-meta").c_str(), 0666), 0);
    EXPECT_EQ(error_of([&] { (void)check_recording(dir / "x"); }).code().value(), EINVAL);
    EXPECT_EQ(error_of([&] { (void)recover_recording(dir / "x"); }).code().value(), EINVAL);
}

TEST(Recording, ThePatternIsVerifiedFromThePositionInTheStream)
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
