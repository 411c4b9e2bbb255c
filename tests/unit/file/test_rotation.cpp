// SPDX-License-Identifier: MIT
#include "file/parts/part_series.hpp"
#include "iio_stream/recording.hpp"
#include "support/errors.hpp"
#include "support/eventually.hpp"
#include "support/fake.hpp"
#include "support/file_size_limit.hpp"
#include "support/files.hpp"
#include "support/temp_dir.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

namespace {

using namespace iio_stream;
using namespace iio_stream::test;

Summary rotate(const std::string& sink, FakeSource::Script script)
{
    PipelineConfig config = config_of(fake_source(std::move(script)).uri, {sink});
    config.timeout = std::chrono::seconds(30); // a shared disk sometimes stalls
    return run(config);
}

std::string options(const std::string& path, const std::string& more)
{
    return "file:" + path + "?engine=buffered&" + more;
}

std::vector<std::string> names_in(const TempDir& dir)
{
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(dir.path()))
        names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
}

std::vector<std::string> files_of(const Summary& summary)
{
    return nlohmann::json::parse(summary.sink_reports.at(0)).at("files");
}

/// Returns the concatenated contents of the parts.
std::vector<std::byte> joined(const std::vector<std::string>& files)
{
    std::vector<std::byte> all;
    for (const std::string& file : files)
        all = all + contents(file);
    return all;
}

TEST(Rotation, PartNamesSortByNumber)
{
    EXPECT_EQ(file::part_path("dir/x.ci16", 0), "dir/x.0000.ci16");
    EXPECT_EQ(file::part_path("x.y.sigmf-meta", 9999), "x.y.9999.sigmf-meta");
    EXPECT_EQ(file::part_path("/x.bin", 12345), "/x.12345.bin");
}

TEST(Rotation, OnlyPartsOfTheSameRecordingAreFound)
{
    const TempDir dir;
    for (const char* name : {"x.0000.ci16", "x.0001.ci16", "x.10000.ci16", "x.001.ci16", "x.ci16",
                             "x.0000.ci16.journal", "xx.0000.ci16", "x.000a.ci16", "x.0000.bin"})
        write_text(dir / name, "");
    EXPECT_EQ(file::existing_parts(dir / "x.ci16"),
              (std::vector{dir / "x.0000.ci16", dir / "x.0001.ci16", dir / "x.10000.ci16"}));
}

TEST(Rotation, ThePartsConcatenatedAreTheStream)
{
    for (const std::uint64_t samples : {0u, 1u, 2048u, 2049u, 12'345u}) {
        const TempDir dir;
        const Summary summary =
            rotate(options(dir / "x.ci16", "rotate_bytes=8Ki"), {.total = samples});
        EXPECT_FALSE(summary.error) << summary.error->what();
        const auto files = files_of(summary);
        EXPECT_EQ(files.size(), std::max<std::uint64_t>((samples + 2047) / 2048, 1));
        EXPECT_EQ(names_in(dir).size(), files.size()); // and no other files
        for (std::size_t i = 0; i < files.size(); ++i) {
            EXPECT_EQ(files[i], file::part_path(dir / "x.ci16", i));
            const std::size_t rest = 4 * samples - 2 * kBlock * i;
            EXPECT_EQ(contents(files[i]).size(), std::min(2 * kBlock, rest));
        }
        EXPECT_EQ(joined(files), ramp(0, samples));
        EXPECT_EQ(summary.stats.sinks[0].delivered_samples, samples);
    }
}

TEST(Rotation, TimeIsCountedInSamplesIfTheRateIsKnown)
{
    const TempDir dir;
    FakeSource::Script script{.total = 10'240};
    script.format_.sample_rate = 1e6;
    const Summary summary = rotate(options(dir / "x.ci16", "rotate_time=3100us"), script);
    EXPECT_FALSE(summary.error) << summary.error->what();
    ASSERT_EQ(files_of(summary).size(), 4u);
    EXPECT_EQ(contents(dir / "x.0000.ci16").size(), 3 * kBlock);
    EXPECT_EQ(joined(files_of(summary)), ramp(0, 10'240));
}

TEST(Rotation, TimeIsMeasuredByTheClockIfTheRateIsUnknown)
{
    const TempDir dir;
    const std::uint64_t samples = 1'000'000; // this takes more than 200 us on any machine
    const Summary summary =
        rotate(options(dir / "x.ci16", "rotate_time=100us"), {.total = samples});
    EXPECT_FALSE(summary.error) << summary.error->what();
    EXPECT_GT(files_of(summary).size(), 1u);
    EXPECT_EQ(joined(files_of(summary)), ramp(0, samples));
}

TEST(Rotation, LostTimeCounts)
{
    const TempDir dir;
    FakeSource::Script script{.total = 10'240};
    script.format_.sample_rate = 1e6;
    script.losses = {{1024, 4096}};
    const Summary summary = rotate(options(dir / "x", "rotate_time=5100us"), script);
    EXPECT_FALSE(summary.error) << summary.error->what();
    // 1024 samples at 0 us, and the other samples from 5120 us on.
    ASSERT_EQ(files_of(summary).size(), 3u);
    EXPECT_EQ(contents(dir / "x.0000.sigmf-data").size(), 4 * 1024u);
    EXPECT_EQ(contents(dir / "x.0001.sigmf-data").size(), 4 * 4096u);
}

TEST(Rotation, ExistingPartsAreNotTouchedWithoutOverwrite)
{
    const TempDir dir;
    write_text(dir / "x.0003.ci16", "old");
    const Error error = refused(options(dir / "x.ci16", "rotate_bytes=1Mi"));
    EXPECT_EQ(error.code().value(), EEXIST);
    EXPECT_EQ(error.fault(), Fault::storage);
    EXPECT_EQ(error.object(), dir / "x.0003.ci16");
    EXPECT_EQ(names_in(dir).size(), 1u);
    // The name alone does not show that the part belongs to this recording: the recording that it
    // would continue does not exist.
    rotate(options(dir / "x.ci16", "rotate_bytes=4Ki&overwrite=on"), {.total = 2048});
    EXPECT_EQ(names_in(dir),
              (std::vector<std::string>{"x.0000.ci16", "x.0001.ci16", "x.0003.ci16"}));
    rotate(options(dir / "x.ci16", "rotate_bytes=4Ki&overwrite=on"), {.total = 4096});
    rotate(options(dir / "x.ci16", "rotate_bytes=4Ki&overwrite=on"), {.total = 2048});
    EXPECT_EQ(names_in(dir), (std::vector<std::string>{"x.0000.ci16", "x.0001.ci16"}));
}

TEST(Rotation, AForeignPartThatAppearsEndsTheRecordingAndStaysUnchanged)
{
    const TempDir dir;
    Session session;
    session.add(config_of(fake_source({.total = 100'000}).uri,
                          {options(dir / "x.ci16", "rotate_bytes=40Ki")}));
    session.prepare();
    write_text(dir / "x.0002.ci16", "theirs");
    session.start();
    ASSERT_TRUE(session.wait(std::chrono::seconds(30)));
    session.stop();
    const Summary summary = session[0].summary();
    ASSERT_TRUE(summary.error);
    EXPECT_EQ(summary.error->code().value(), EEXIST) << summary.error->what();
    EXPECT_EQ(fault_of(summary), Fault::storage);
    EXPECT_EQ(text_in(dir / "x.0002.ci16"), "theirs");
    EXPECT_EQ(files_of(summary).size(), 2u);
    EXPECT_EQ(joined(files_of(summary)), ramp(0, 20 * 1024));
    EXPECT_EQ(names_in(dir).size(), 3u);
}

TEST(Rotation, OnlyRegularFilesHaveParts)
{
    expect_usage_error([&] { throw refused("file:/dev/null?rotate_bytes=1Mi"); }, "/dev/null");
    expect_usage_error([&] { throw refused("file:-?rotate_time=1s"); }, "not a regular file");
}

TEST(Rotation, InvalidOptionsAreRefused)
{
    const TempDir dir;
    const std::string path = dir / "x.ci16";
    expect_usage_error([&] { throw refused("file:" + path + "?rotate_bytes=0"); },
                       "rotate_bytes=0");
    expect_usage_error([&] { throw refused("file:" + path + "?rotate_time=0s"); },
                       "rotate_time=0s");
    expect_usage_error([&] { throw refused("file:" + path + "?rotate_bytes=4095"); }, "4095",
                       "less than a block of 4Ki", "--block-size");
    EXPECT_TRUE(names_in(dir).empty());
}

TEST(Rotation, AfterAFailedWriteThePartsAreTheStartOfTheStream)
{
    const TempDir dir;
    const Summary summary = [&] {
        const FileSizeLimit limit(10'002);
        return rotate(options(dir / "x.ci16", "rotate_bytes=12Ki"), {.total = 100'000});
    }();
    ASSERT_TRUE(summary.error);
    EXPECT_EQ(summary.error->code().value(), EFBIG);
    EXPECT_EQ(joined(files_of(summary)), ramp(0, 2500));
    EXPECT_EQ(names_in(dir), std::vector<std::string>{"x.0000.ci16"});
}

TEST(Rotation, AStreamThatFailsBeforeItBeginsLeavesNoFiles)
{
    const TempDir dir;
    for (const char* name : {"x.ci16", "x"}) {
        FakeSink::Script bad;
        bad.prepare = [](BlockPool&, std::string&) -> bool {
            throw Error(Fault::storage, EIO, "open", "bad");
        };
        {
            Session session;
            session.add(config_of(fake_source({.total = 10}).uri,
                                  {options(dir / name, "rotate_bytes=4Ki"), fake_sink(bad).uri}));
            (void)error_of([&] { session.prepare(); });
        }
        EXPECT_TRUE(names_in(dir).empty());
    }
}

TEST(Rotation, ASessionCanRecordAgainAndLeavesNoFilesOpen)
{
    const TempDir dir;
    const auto open_files = [] {
        return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
    };
    const auto before = open_files();
    {
        Session session;
        session.add(config_of(fake_source({.total = 10'000}).uri,
                              {options(dir / "x", "rotate_bytes=4Ki&overwrite=on")}));
        for (int round = 0; round < 3; ++round) {
            run(session);
            const Summary summary = session[0].summary();
            EXPECT_FALSE(summary.error) << summary.error->what();
            EXPECT_EQ(files_of(summary).size(), 10u);
        }
    }
    EXPECT_TRUE(eventually([&] { return open_files() == before; }));
}

} // namespace
