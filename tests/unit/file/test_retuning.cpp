// SPDX-License-Identifier: MIT
// Retuning a radio during a recording: the entries in the metadata.
#include "core/loss/retunings.hpp"
#include "file/journal/file_retuning.hpp"
#include "file/parts/part_series.hpp"
#include "file/sigmf/check.hpp"
#include "file/sigmf/metadata.hpp"
#include "file/sigmf/metadata_reader.hpp"
#include "iio_stream/recording.hpp"
#include "support/fake.hpp"
#include "support/files.hpp"
#include "support/temp_dir.hpp"

#include <gtest/gtest.h>

namespace {

using namespace iio_stream;
using namespace iio_stream::test;
using file::Json;

constexpr double kBefore = 2.4e9, kAfter = 2.5e9;

Settings tuned_to(double frequency, std::optional<double> gain = 30, double rate = 1e6)
{
    return {frequency, gain, 18e6, rate};
}

FakeSource::Script radio(std::vector<FakeSource::Retuned> retunings, std::uint64_t total = 10'000)
{
    FakeSource::Script script{.total = total};
    script.format_.sample_rate = 1e6;
    script.settings = tuned_to(kBefore);
    script.retunings = std::move(retunings);
    return script;
}

Json metadata_of(const std::string& path)
{
    const Recording checked = check_recording(path);
    EXPECT_TRUE(checked.problems.empty()) << path << ": " << checked.problems[0];
    return file::load_metadata(path);
}

Json recorded(const TempDir& dir, FakeSource::Script script, const std::string& options = "",
              OnGap on_gap = OnGap::mark)
{
    PipelineConfig config = config_of(fake_source(std::move(script)).uri,
                                      {"file:" + (dir / "x") + "?engine=buffered" + options});
    config.on_gap = on_gap;
    const Summary summary = run(config);
    EXPECT_FALSE(summary.error) << summary.error->what();
    return options.empty() ? metadata_of(dir / "x.sigmf-meta") : Json();
}

/// Sample, frequency (0 = not stated) and index of each capture.
using Capture = std::tuple<std::uint64_t, double, std::uint64_t>;
std::vector<Capture> captures_in(const Json& metadata)
{
    std::vector<Capture> all;
    for (const Json& c : metadata["captures"])
        all.emplace_back(c["core:sample_start"], c.value("core:frequency", 0.0),
                         c.value("core:global_index", c["core:sample_start"].get<std::uint64_t>()));
    return all;
}

std::vector<std::tuple<std::uint64_t, std::uint64_t, std::string>> notes_in(const Json& metadata)
{
    std::vector<std::tuple<std::uint64_t, std::uint64_t, std::string>> all;
    for (const Json& a : metadata["annotations"])
        all.emplace_back(a["core:sample_start"], a["core:sample_count"], a["core:label"]);
    return all;
}

using Captures = std::vector<Capture>;
using Notes = std::vector<std::tuple<std::uint64_t, std::uint64_t, std::string>>;

TEST(Retuning, ANewCaptureBeginsWhereTheNewFrequencyIsCertain)
{
    const TempDir dir;
    const Json m = recorded(dir, radio({{5000, 3000, 4500, tuned_to(kAfter)}}));
    EXPECT_EQ(captures_in(m), (Captures{{0, kBefore, 0}, {3000, 0, 3000}, {4500, kAfter, 4500}}));
    EXPECT_EQ(notes_in(m), (Notes{{3000, 1500, "retuning"}}));
    EXPECT_EQ(m["global"]["iio_stream:gain_db"], 30); // the gain has not changed
    EXPECT_EQ(m["global"]["core:sample_rate"], 1e6);
    const std::string comment = m["annotations"][0]["core:comment"];
    EXPECT_NE(comment.find("from 2400000000 Hz to 2500000000 Hz"), std::string::npos) << comment;
}

TEST(Retuning, AChangingGainIsStatedInCapturesAndNotGlobally)
{
    const TempDir dir;
    const Json m = recorded(dir, radio({{5000, 3000, 4500, tuned_to(kBefore, 12)}}));
    EXPECT_FALSE(m["global"].contains("iio_stream:gain_db"));
    ASSERT_EQ(m["captures"].size(), 3u);
    EXPECT_EQ(m["captures"][0]["iio_stream:gain_db"], 30);
    EXPECT_FALSE(m["captures"][1].contains("iio_stream:gain_db"));
    EXPECT_EQ(m["captures"][2]["iio_stream:gain_db"], 12);
    for (const Json& capture : m["captures"]) // the frequency has not changed
        EXPECT_EQ(capture["core:frequency"], kBefore);
}

TEST(Retuning, AChangingRateIsStatedInCapturesAndNotGlobally)
{
    const TempDir dir;
    const Json m = recorded(dir, radio({{5000, 3000, 4500, tuned_to(kBefore, 30, 2e6)}}));
    EXPECT_FALSE(m["global"].contains("core:sample_rate"));
    ASSERT_EQ(m["captures"].size(), 3u);
    EXPECT_EQ(m["captures"][0]["iio_stream:sample_rate"], 1e6);
    EXPECT_FALSE(m["captures"][1].contains("iio_stream:sample_rate"));
    EXPECT_EQ(m["captures"][2]["iio_stream:sample_rate"], 2e6);
    EXPECT_EQ(file::contents_of(m).format.sample_rate, 0);
}

TEST(Retuning, OverlappingChangesAreMergedAndOnlyTheLastIsKnown)
{
    const TempDir dir;
    const Json m = recorded(
        dir, radio({{3000, 2000, 4000, tuned_to(2.45e9)}, {5000, 3500, 5000, tuned_to(kAfter)}}));
    EXPECT_EQ(captures_in(m), (Captures{{0, kBefore, 0}, {2000, 0, 2000}, {5000, kAfter, 5000}}));
    EXPECT_EQ(notes_in(m), (Notes{{2000, 3000, "retuning"}}));
}

TEST(Retuning, AChangeFoundOnlyAtTheEndIsRecorded)
{
    const TempDir dir;
    const Json m = recorded(dir, radio({{kUnknown, 9000, kUnknown, tuned_to(kAfter)}}));
    EXPECT_EQ(captures_in(m), (Captures{{0, kBefore, 0}, {9000, 0, 9000}}));
    EXPECT_EQ(notes_in(m), (Notes{{9000, 1000, "retuning"}}));
}

TEST(Retuning, ALossAndARetuningEachHaveACaptureAndTheIndexContinues)
{
    const TempDir dir;
    FakeSource::Script script = radio({{5000, 3000, 4500, tuned_to(kAfter)}});
    script.losses = {{3500, 100}};
    const Json m = recorded(dir, script);
    EXPECT_EQ(captures_in(m),
              (Captures{{0, kBefore, 0}, {3000, 0, 3000}, {3500, 0, 3600}, {4500, kAfter, 4600}}));
}

TEST(Retuning, ZerosInPlaceOfALossShiftLaterChanges)
{
    const TempDir dir;
    FakeSource::Script script = radio({{5000, 3000, 4500, tuned_to(kAfter)}});
    script.losses = {{500, 100}};
    const Json m = recorded(dir, script, "", OnGap::zero_fill);
    EXPECT_EQ(captures_in(m), (Captures{{0, kBefore, 0}, {3100, 0, 3100}, {4600, kAfter, 4600}}));
}

TEST(Retuning, PartsRecordChangesThatWereFoundAfterTheyWereClosed)
{
    const TempDir dir;
    // Each part has 2048 samples. The third contains the first certain sample of the new frequency,
    // and the fourth contains the block that reports it.
    (void)recorded(dir, radio({{7000, 3000, 4500, tuned_to(kAfter)}}), "&rotate_bytes=8Ki");
    const auto part = [&](std::size_t number) {
        return metadata_of(file::part_path(dir / "x.sigmf-meta", number));
    };
    EXPECT_EQ(captures_in(part(0)), (Captures{{0, kBefore, 0}}));
    EXPECT_EQ(captures_in(part(1)), (Captures{{0, kBefore, 2048}, {952, 0, 3000}}));
    EXPECT_EQ(notes_in(part(1)), (Notes{{952, 1096, "retuning"}}));
    EXPECT_EQ(captures_in(part(2)), (Captures{{0, 0, 4096}, {404, kAfter, 4500}}));
    EXPECT_EQ(captures_in(part(3)), (Captures{{0, kAfter, 6144}}));
    EXPECT_EQ(captures_in(part(4)), (Captures{{0, kAfter, 8192}}));
    EXPECT_TRUE(part(4)["annotations"].empty());
}

TEST(Retuning, AChangeInADroppedBlockBeginsWhereTheTuningWasLastKnown)
{
    detail::Retunings retunings;
    BlockInfo info;
    BlockPool pool(Memory{}, 4096, 1, CpuUse::mapped);
    const auto block = [&](std::uint64_t count, std::uint64_t tuned) {
        info.retuning = {count, 700, 800, tuned_to(kAfter)};
        info.retunings_final_before = tuned;
        return retunings.add(std::move(*pool.take()).fill(info));
    };
    EXPECT_FALSE(block(0, 100));
    const auto missed = block(2, 900);
    ASSERT_TRUE(missed);
    EXPECT_TRUE(missed->several);
    EXPECT_EQ(missed->retuning.begin, 100u);
    EXPECT_FALSE(block(2, 950));
    const auto next = block(3, 960);
    ASSERT_TRUE(next);
    EXPECT_FALSE(next->several);
    EXPECT_EQ(next->retuning.begin, 700u);
}

/// Makes a recording in the state that a killed recorder leaves, and returns the metadata after its
/// recovery.
Json recovered(const TempDir& dir, const std::string& journal)
{
    (void)recorded(dir, radio({}));
    Json m = file::load_metadata(dir / "x.sigmf-meta");
    m["global"]["iio_stream:state"] = "recording";
    m["global"].erase("iio_stream:samples");
    write_text(dir / "x.sigmf-meta", m.dump());
    write_text(dir / "x.sigmf-data.journal",
               "{\"iio_stream_journal\":1,\"sample_bytes\":4}\n" + journal + "{\"bytes\":40000}\n");
    EXPECT_TRUE(recover_recording(dir / "x.sigmf-meta").needed);
    return metadata_of(dir / "x.sigmf-meta");
}

TEST(Retuning, AfterAKillTheJournalHasTheChangesAndTheLastReading)
{
    const TempDir dir;
    const Json m = recovered(dir, "{\"retuned\":[3000,4500,2500000000,30,18000000,1000000]}\n"
                                  "{\"tuned\":8000}\n");
    EXPECT_EQ(captures_in(m),
              (Captures{{0, kBefore, 0}, {3000, 0, 3000}, {4500, kAfter, 4500}, {8000, 0, 8000}}));
    EXPECT_EQ(notes_in(m), (Notes{{3000, 1500, "retuning"},
                                  {8000, 2000, "possible retuning"},
                                  {10'000, 0, "interrupted"}}));
    EXPECT_EQ(m["global"]["core:sample_rate"], 1e6);
}

TEST(Retuning, AfterAKillAPartHasTheSettingsItBeganWith)
{
    const TempDir dir;
    const Json m = recovered(dir, "{\"settings\":[2500000000,null,18000000,1000000]}\n"
                                  "{\"tuned\":10000}\n");
    EXPECT_EQ(captures_in(m), (Captures{{0, kAfter, 0}}));
}

TEST(Retuning, WithoutARetuningTheMetadataAreUnchanged)
{
    const TempDir dir;
    EXPECT_EQ(captures_in(recovered(dir, "")), (Captures{{0, kBefore, 0}}));
}

} // namespace
