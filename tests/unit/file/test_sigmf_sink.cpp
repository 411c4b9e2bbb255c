// SPDX-License-Identifier: MIT
#include "file/sigmf/check.hpp"
#include "file/sigmf/metadata.hpp"
#include "file/sigmf/metadata_reader.hpp"
#include "support/errors.hpp"
#include "support/eventually.hpp"
#include "support/fake.hpp"
#include "support/file_size_limit.hpp"
#include "support/files.hpp"
#include "support/temp_dir.hpp"

#include <csignal>
#include <gtest/gtest.h>
#include <sys/stat.h>

namespace {

using namespace iio_stream;
using namespace iio_stream::test;
using file::Json;

Json metadata_in(const std::string& path)
{
    Json metadata = file::load_metadata(path);
    const auto problems = file::inspect(metadata).problems;
    EXPECT_TRUE(problems.empty()) << problems[0];
    return metadata;
}

Summary record_sigmf(FakeSource::Script script, const std::string& sink, OnGap on_gap = OnGap::mark)
{
    PipelineConfig config = config_of(fake_source(std::move(script)).uri, {sink});
    config.on_gap = on_gap;
    return run(config);
}

std::size_t files_in(const TempDir& dir)
{
    return static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator(dir.path()), {}));
}

TEST(SigmfSink, ALossFoundAfterTheLastBlockIsInTheMetadata)
{
    const TempDir dir;
    FakeSource::Script script{.total = 1000};
    script.trailing = {{300, 400, 5, 9, Evidence::overflow_bit}};
    (void)record_sigmf(std::move(script), dir / "x");
    const Json m = metadata_in(dir / "x.sigmf-meta");
    ASSERT_EQ(m["captures"].size(), 2u);
    EXPECT_EQ(m["captures"][1]["core:sample_start"], 400);
    EXPECT_EQ(m["captures"][1]["core:global_index"], 405);
    ASSERT_EQ(m["annotations"].size(), 1u);
    EXPECT_EQ(m["annotations"][0]["core:sample_start"], 300);
    EXPECT_EQ(m["annotations"][0]["core:sample_count"], 100);
}

TEST(SigmfSink, IfNothingDetectsLossesNoIndexIsExact)
{
    const TempDir dir;
    const Summary summary = record_sigmf({.total = 10'000, .undetectable = true}, dir / "x");
    EXPECT_TRUE(summary.source_stats.evidence.empty());
    EXPECT_EQ(summary.stats.gaps.certain + summary.stats.gaps.possible, 0u);
    EXPECT_EQ(summary.stats.gaps.lost_min, 0u);
    EXPECT_EQ(summary.stats.gaps.lost_max, kUnknown);
    const Json m = metadata_in(dir / "x.sigmf-meta");
    ASSERT_EQ(m["captures"].size(), 1u);
    EXPECT_EQ(m["captures"][0]["iio_stream:index_exact"], false);
}

TEST(SigmfSink, ARecordingIsTwoFilesWhicheverNameIsGiven)
{
    for (const char* name : {"x", "x.sigmf", "x.sigmf-meta", "x.sigmf-data"}) {
        const TempDir dir;
        const Summary summary = record_sigmf({.total = 12'345}, dir / name);
        EXPECT_EQ(summary.ended, "eof") << summary.error->what();
        EXPECT_EQ(contents(dir / "x.sigmf-data"), ramp(0, 12'345));
        const Json m = metadata_in(dir / "x.sigmf-meta");
        EXPECT_EQ(m["global"]["iio_stream:state"], "complete");
        EXPECT_EQ(m["global"]["iio_stream:samples"], 12'345);
        EXPECT_EQ(m["global"]["core:datatype"], "ci16_le");
        EXPECT_EQ(m["captures"].size(), 1u);
        EXPECT_EQ(files_in(dir), 2u);
    }
}

TEST(SigmfSink, TheMetadataAreValidDuringTheRecording)
{
    const TempDir dir;
    const SourceAt source = fake_source({.silent_at = 4096, .unhurried = true});
    Session session;
    session.add(config_of(source.uri, {dir / "x"}));
    session.prepare();
    EXPECT_EQ(metadata_in(dir / "x.sigmf-meta")["global"]["iio_stream:state"], "recording");
    session.start();
    EXPECT_TRUE(eventually([&] { return session[0].stats().sinks[0].delivered_samples == 4096; }));
    EXPECT_EQ(metadata_in(dir / "x.sigmf-meta")["global"]["iio_stream:state"], "recording");
    session.stop();
    const Json m = metadata_in(dir / "x.sigmf-meta");
    EXPECT_EQ(m["global"]["iio_stream:state"], "complete");
    EXPECT_EQ(m["global"]["iio_stream:samples"], 4096);
}

TEST(SigmfSink, NeitherFileIsTouchedWithoutOverwrite)
{
    for (const char* name : {"x.sigmf-meta", "x.sigmf-data"}) {
        const TempDir dir;
        write_text(dir / name, "old");
        const Error error = refused(dir / "x");
        EXPECT_EQ(error.fault(), Fault::storage);
        EXPECT_EQ(error.code().value(), EEXIST);
        EXPECT_NE(std::string(error.what()).find(name), std::string::npos) << error.what();
        EXPECT_NE(std::string(error.what()).find("overwrite=on"), std::string::npos);
        EXPECT_EQ(text_in(dir / name), "old");
        EXPECT_EQ(files_in(dir), 1u);
        record_sigmf({.total = 10}, "file:" + (dir / "x") + "?overwrite=on");
        EXPECT_EQ(metadata_in(dir / "x.sigmf-meta")["global"]["iio_stream:samples"], 10);
        EXPECT_EQ(contents(dir / "x.sigmf-data"), ramp(0, 10));
    }
}

TEST(SigmfSink, DanglingLinksCountAsExistingFiles)
{
    for (const char* name : {"x.sigmf-meta", "x.sigmf-data"}) {
        const TempDir dir;
        ASSERT_EQ(::symlink("target", (dir / name).c_str()), 0);
        EXPECT_EQ(refused(dir / "x").code().value(), EEXIST);
        EXPECT_EQ(files_in(dir), 1u);
    }
}

TEST(SigmfSink, AFailedStartLeavesNoFiles)
{
    const TempDir dir;
    FakeSource::Script repeated{.total = 10};
    repeated.format_ = Format::parse("le:s12/16X2>>4");
    expect_usage_error([&] { throw refused(dir / "x", repeated); }, "le:s12/16X2>>4",
                       "convert=ri16_le");
    EXPECT_EQ(files_in(dir), 0u);
    EXPECT_EQ(refused(dir / "no/x").code().value(), ENOENT);
    EXPECT_EQ(refused(dir.path()).code().value(), EISDIR);
    EXPECT_EQ(files_in(dir), 0u);
    // Another endpoint refuses after this one was prepared, or fails to start.
    for (const bool at_start : {false, true}) {
        FakeSource::Script script{.total = 10};
        FakeSink::Script bad;
        const auto fail = [] { throw Error(Fault::storage, EIO, "open", "bad"); };
        if (at_start)
            script.start = fail;
        else
            bad.prepare = [=](BlockPool&, std::string&) -> bool {
                fail();
                return false;
            };
        {
            Session session;
            session.add(config_of(fake_source(script).uri, {dir / "x", fake_sink(bad).uri}));
            (void)error_of([&] {
                session.prepare();
                session.start();
            });
        }
        EXPECT_EQ(files_in(dir), 0u) << at_start;
    }
}

TEST(SigmfSink, GapsAreRecordedAtTheirPlaceInTheFile)
{
    const TempDir dir;
    FakeSource::Script script{.total = 10'000};
    script.losses = {{1000, 100}, {5000, 7, Gap{4900, 4910, 1, 20, Evidence::overflow_bit}}};
    const Summary summary = record_sigmf(script, dir / "x");
    EXPECT_EQ(summary.stats.samples, 10'000u - 107);
    const Json m = metadata_in(dir / "x.sigmf-meta");
    ASSERT_EQ(m["captures"].size(), 3u);
    EXPECT_EQ(m["captures"][1]["core:sample_start"], 1000);
    EXPECT_EQ(m["captures"][1]["core:global_index"], 1100);
    EXPECT_EQ(m["captures"][2]["core:sample_start"], 4910);
    EXPECT_EQ(m["captures"][2]["iio_stream:index_exact"], false);
    EXPECT_EQ(m["annotations"][1]["iio_stream:lost_max"], 20);
    EXPECT_EQ(m["annotations"][1]["core:sample_count"], 10);
}

TEST(SigmfSink, ZerosInPlaceOfLossesAreNotALoss)
{
    for (const std::uint64_t at : {1024u, 1500u}) { // between blocks and inside one
        const TempDir dir;
        FakeSource::Script script{.total = 5000};
        script.losses = {{at, 3000}};
        record_sigmf(script, dir / "x", OnGap::zero_fill);
        EXPECT_EQ(contents(dir / "x.sigmf-data"),
                  ramp(0, at) + zeros(3000) + ramp(at + 3000, 2000 - at));
        const Json m = metadata_in(dir / "x.sigmf-meta");
        EXPECT_EQ(m["captures"].size(), 1u) << m.dump(1);
        ASSERT_EQ(m["annotations"].size(), 1u) << m.dump(1);
        EXPECT_EQ(m["annotations"][0]["core:sample_start"], at);
        EXPECT_EQ(m["annotations"][0]["core:sample_count"], 3000);
        EXPECT_EQ(m["annotations"][0]["core:label"], "zeros");
    }
}

TEST(SigmfSink, DroppedBlocksAreAGap)
{
    const TempDir dir;
    FakeSource::Script script{.total = 5'000'000};
    const Summary summary = record_sigmf(script, "file:" + (dir / "x") + "?on-full=drop&hold=1");
    const auto& stats = summary.stats.sinks[0];
    ASSERT_NE(stats.dropped_samples, 0u);
    const Json m = metadata_in(dir / "x.sigmf-meta");
    std::uint64_t lost = m["captures"][0].value("core:global_index", std::uint64_t{0});
    std::uint64_t behind = 0; // after the last sample
    for (const Json& a : m["annotations"]) {
        EXPECT_EQ(a["core:label"], "dropped");
        const bool last = a["core:sample_start"] == stats.delivered_samples;
        (last ? behind : lost) += a["iio_stream:lost_min"].get<std::uint64_t>();
    }
    EXPECT_EQ(m["global"]["iio_stream:samples"], stats.delivered_samples);
    EXPECT_EQ(lost + behind, stats.dropped_samples);
    const Json& last = m["captures"].back();
    EXPECT_EQ(last.value("core:global_index", std::uint64_t{0}),
              last["core:sample_start"].get<std::uint64_t>() + lost);
}

TEST(SigmfSink, AfterAFailureTheMetadataStateTheLength)
{
    const TempDir dir;
    const Summary summary = [&] {
        const FileSizeLimit limit(10'002); // the file reaches this limit exactly
        return record_sigmf({.total = 10'000}, "file:" + (dir / "x") + "?engine=buffered");
    }();
    EXPECT_EQ(summary.error->code().value(), EFBIG);
    const Json m = metadata_in(dir / "x.sigmf-meta");
    EXPECT_EQ(contents(dir / "x.sigmf-data"), ramp(0, 2500));
    EXPECT_EQ(m["global"]["iio_stream:state"], "interrupted");
    EXPECT_EQ(m["global"]["iio_stream:samples"], 2500);
    EXPECT_EQ(m["annotations"][0]["core:label"], "interrupted");
}

TEST(SigmfSink, AFailingSourceLeavesACompleteRecordingOfTheArrivedSamples)
{
    const TempDir dir;
    const Summary summary = record_sigmf({.fail_at = 3000}, dir / "x");
    EXPECT_EQ(summary.ended, "error");
    const std::uint64_t samples = summary.stats.sinks[0].delivered_samples;
    EXPECT_EQ(contents(dir / "x.sigmf-data").size(), 4 * samples);
    EXPECT_EQ(metadata_in(dir / "x.sigmf-meta")["global"]["iio_stream:samples"], samples);
}

TEST(SigmfSink, TheHashIsTheHashOfTheDataFile)
{
    const TempDir dir;
    const Summary summary = record_sigmf({.total = 10'000}, "file:" + (dir / "x") + "?hash=end");
    EXPECT_FALSE(summary.error) << summary.error->what();
    const Json m = metadata_in(dir / "x.sigmf-meta");
    const std::string said = m["global"]["core:sha512"];
    EXPECT_EQ(Json::parse(summary.sink_reports[0])["sha512"], said);
    FILE* pipe = ::popen(("sha512sum " + (dir / "x.sigmf-data")).c_str(), "r");
    char found[129] = "";
    EXPECT_EQ(std::fread(found, 1, 128, pipe), 128u);
    ::pclose(pipe);
    EXPECT_EQ(said, found);
}

TEST(SigmfSink, ASessionCanRecordAgainWithOverwrite)
{
    const TempDir dir;
    Session session;
    session.add(
        config_of(fake_source({.total = 1000}).uri, {"file:" + (dir / "x") + "?overwrite=on"}));
    for (int round = 0; round < 2; ++round) {
        run(session);
        EXPECT_EQ(metadata_in(dir / "x.sigmf-meta")["global"]["iio_stream:samples"], 1000);
    }
}

TEST(SigmfSink, InvalidOptionsAreRefused)
{
    const TempDir dir;
    expect_usage_error([&] { throw refused("file:" + (dir / "x") + "?hash=sha1"); }, "hash=sha1");
    expect_usage_error([&] { throw refused("file:" + (dir / "x.ci16") + "?hash=end"); }, "hash");
    record_sigmf({.total = 10}, "file:" + (dir / "x") + "?hostname=on");
    char name[256];
    ASSERT_EQ(::gethostname(name, sizeof name), 0);
    EXPECT_EQ(metadata_in(dir / "x.sigmf-meta")["global"]["iio_stream:hostname"], name);
}

} // namespace
