// SPDX-License-Identifier: MIT
// "sim:" is an ADC that loses samples on demand. The samples that are missing are exactly those
// that it reports as lost.
#include "iio_stream/reader.hpp"
#include "support/errors.hpp"
#include "support/fake.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <poll.h>

namespace {

using namespace iio_stream;
using namespace iio_stream::test;
using namespace std::chrono_literals;

// The jumps in the stream's own pattern, and the gaps that its blocks reported.
struct Observed {
    Summary summary;
    nlohmann::json verify;
    std::vector<Gap> told;
};

// Gives a stream enough blocks for all its samples, so that a stall of the machine does not starve
// the queue.
PipelineConfig spacious(PipelineConfig config, std::uint64_t samples)
{
    config.samples = samples;
    config.blocks = samples / 1024 + 2;
    return config;
}

Observed observe(const std::string& source, std::uint64_t samples, FakeSink::Script script = {},
                 const std::string& pattern = "ramp")
{
    script.records = true;
    const SinkAt sink = fake_sink(script);
    const bool starves = static_cast<bool>(script.submit);
    PipelineConfig config = config_of(source, {sink.uri, "verify:" + pattern});
    config.samples = samples;
    Observed observed;
    observed.summary = run(starves ? config : spacious(config, samples));
    observed.verify = nlohmann::json::parse(observed.summary.sink_reports[1]);
    for (const BlockInfo& info : sink.log->infos)
        observed.told.insert(observed.told.end(), info.gaps.begin(),
                             info.gaps.begin() + info.gap_count);
    return observed;
}

TEST(Sim, TheDefaultIsOnePairOfSixteenBitsAtOneMegasample)
{
    Session session;
    session.add(config_of("sim:", {"null:"}));
    EXPECT_EQ(session[0].format().name(), "ci16_le");
    EXPECT_EQ(session[0].format().sample_rate, 1e6);
}

TEST(Sim, EveryFormatCarriesItsPatternsIntact)
{
    for (const char* source :
         {"sim:?rate=0", "sim:?rate=0&format=ri16_le&channels=3", "sim:?rate=0&format=cf32_le",
          "sim:?rate=0&format=ci8", "sim:?rate=0&format=be:u12/16>>4,le:s24/32>>8"}) {
        PipelineConfig config;
        config.source = source;
        config.sinks = {"verify:ramp"};
        config.samples = 100'001;
        const Summary ramp = run(config);
        EXPECT_EQ(ramp.ended, "samples") << to_json(ramp);
        EXPECT_EQ(ramp.stats.samples, 100'001u);
        if (std::string(source).find("cf32") != std::string::npos)
            continue; // floats cannot carry lanes
        config.source.options.set("pattern", "lanes");
        config.sinks = {"verify:lanes"};
        EXPECT_EQ(run(config).ended, "samples");
    }
}

TEST(Sim, TheRateFollowsTheClock)
{
    const auto start = std::chrono::steady_clock::now();
    const PipelineConfig config =
        spacious(config_of("sim:?pattern=ramp&rate=1M", {"null:"}), 100'000);
    EXPECT_EQ(run(config).stats.gaps.certain, 0u);
    const auto took = std::chrono::steady_clock::now() - start;
    EXPECT_GE(took, 100ms);
    EXPECT_LT(took, 2s);
}

TEST(Sim, ADropIsFoundAtItsReportedPlace)
{
    for (const std::uint64_t at : {0u, 1u, 500u, 999u, 1023u, 1024u, 1025u, 2047u, 9'998u})
        for (const std::uint64_t drop : {1u, 2u, 1000u, 5001u}) {
            const Observed o = observe("sim:?rate=0&drop_at=" + std::to_string(at) +
                                           "&drop=" + std::to_string(drop),
                                       10'000);
            SCOPED_TRACE(std::to_string(drop) + " at " + std::to_string(at) + o.verify.dump());
            ASSERT_EQ(o.summary.ended, "samples");
            ASSERT_EQ(o.told.size(), 1u);
            EXPECT_TRUE(o.told[0].exact());
            EXPECT_EQ(o.told[0].offset_min, at);
            EXPECT_EQ(o.told[0].lost_min, drop);
            EXPECT_EQ(o.told[0].evidence, Evidence::counter);
            if (at < 9'000) { // two samples are too few to show how many are missing before them
                EXPECT_EQ(o.verify["lost"], drop);
            }
            EXPECT_EQ(o.verify["gaps"], 1);
            EXPECT_EQ(o.verify["unreported"], 0);
            EXPECT_EQ(o.summary.stats.gaps.lost_min, drop);
            EXPECT_EQ(o.summary.produced_samples(), 10'000 + drop);
        }
}

TEST(Sim, ADropInLanesIsFoundAtItsReportedPlace)
{
    const Observed o =
        observe("sim:?rate=0&pattern=lanes&drop_at=1023&drop=77", 10'000, {}, "lanes");
    EXPECT_EQ(o.summary.ended, "samples");
    EXPECT_EQ(o.verify["lost"], 77);
}

TEST(Sim, AStallLosesTheSamplesProducedDuringIt)
{
    const Observed o = observe("sim:?pattern=ramp&rate=100k&stall_at=2000&stall_for=30ms", 10'000);
    EXPECT_EQ(o.summary.ended, "samples");
    ASSERT_EQ(o.told.size(), 1u);
    EXPECT_EQ(o.told[0].offset_min, 2000u);
    EXPECT_EQ(o.told[0].lost_min, 3'000u);
    EXPECT_EQ(o.verify["lost"], 3'000);
}

TEST(Sim, AStallWithoutARateIsAPauseAndLosesNothing)
{
    const auto start = std::chrono::steady_clock::now();
    const Observed o = observe("sim:?rate=0&stall_at=2000&stall_for=30ms", 10'000);
    EXPECT_GE(std::chrono::steady_clock::now() - start, 30ms);
    EXPECT_EQ(o.verify["gaps"], 0);
    EXPECT_TRUE(o.told.empty());
}

TEST(Sim, TwoFaultsInOneBlockBothHappen)
{
    const Observed o = observe(
        "sim:?pattern=ramp&rate=100k&drop_at=2100&drop=10&stall_at=2200&stall_for=10ms", 10'000);
    EXPECT_EQ(o.verify["gaps"], 2) << o.verify;
    EXPECT_EQ(o.verify["lost"], 1'010);
    EXPECT_EQ(o.verify["unreported"], 0);
}

TEST(Sim, AStarvedQueueLosesExactlyTheReportedSamples)
{
    bool slept = false;
    FakeSink::Script script{.may_block = true};
    script.submit = [&](const Block& filled, int) {
        if (filled.sequence() >= 5 && !std::exchange(slept, true))
            (void)::poll(nullptr, 0, 60); // eight blocks last 8 ms
    };
    const Observed o = observe("sim:?pattern=ramp&rate=1M", 100'000, script);
    EXPECT_EQ(o.summary.ended, "samples") << o.verify;
    std::uint64_t told = 0;
    for (const Gap& gap : o.told) {
        EXPECT_TRUE(gap.exact());
        told += gap.lost_min;
    }
    EXPECT_GT(told, 20'000u);
    EXPECT_EQ(o.verify["lost"], told);
    EXPECT_EQ(o.verify["unreported"], 0);
    EXPECT_EQ(o.summary.stats.gaps.lost_min, told);
    EXPECT_EQ(o.summary.stats.samples, 100'000u);
}

TEST(Sim, AnUnplugIsADeviceError)
{
    for (const std::uint64_t at : {0u, 1u, 5000u}) {
        PipelineConfig config =
            config_of("sim:?rate=0&unplug_at=" + std::to_string(at), {"verify:ramp"});
        const Summary summary = run(config);
        EXPECT_EQ(summary.ended, "error");
        EXPECT_EQ(fault_of(summary), Fault::device);
        EXPECT_EQ(summary.error->code().value(), ENODEV);
        EXPECT_LE(summary.stats.samples, at);
        EXPECT_GE(summary.stats.samples + 1024, at);
    }
}

TEST(Sim, SilentLossesAreFoundByThePattern)
{
    PipelineConfig config =
        config_of("sim:?rate=0&drop_at=5000&drop=10&silent=on", {"verify:ramp"});
    config.samples = 10'000;
    const Summary summary = run(config);
    EXPECT_EQ(summary.ended, "error");
    EXPECT_TRUE(summary.error);
    EXPECT_EQ(summary.error->code().value(), EBADMSG);
    EXPECT_EQ(summary.stats.gaps.certain, 0u);
    const auto report = nlohmann::json::parse(summary.sink_reports[0]);
    EXPECT_EQ(report["unreported"], 1);
    EXPECT_EQ(report["lost"], 10);
}

TEST(Sim, FaultsAreRepeatedInTheNextStream)
{
    Session session;
    PipelineConfig config = config_of("sim:?rate=0&drop_at=5000&drop=10", {"verify:ramp"});
    config.samples = 10'000;
    session.add(config);
    for (int i = 0; i < 3; ++i) {
        run(session);
        EXPECT_EQ(session[0].summary().ended, "samples");
        EXPECT_EQ(session[0].summary().stats.gaps.lost_min, 10u);
    }
}

TEST(Sim, BlocksHaveTheTimeOfTheirLastSample)
{
    const SinkAt sink = fake_sink();
    run(spacious(config_of("sim:?pattern=ramp&rate=1M", {sink.uri}), 20'480));
    ASSERT_EQ(sink.log->infos.size(), 20u);
    for (std::size_t i = 1; i < 20; ++i)
        EXPECT_NEAR(
            static_cast<double>(sink.log->infos[i].time.ns - sink.log->infos[i - 1].time.ns),
            1'024'000.0, 2.0);
}

std::vector<std::byte> tone(const std::string& frequency)
{
    PipelineConfig config = config_of("sim:?rate=1M&pattern=tone&frequency=" + frequency, {});
    config.samples = 100;
    Reader reader(config);
    reader.start();
    const auto block = reader.next(10s);
    if (!block)
        return {};
    const CpuRead data{*block};
    return {data.bytes().begin(), data.bytes().end()};
}

TEST(Sim, TheFrequencyAcceptsUnitsAndNegativeValues)
{
    EXPECT_EQ(tone("125000").size(), 400u);
    EXPECT_EQ(tone("125k"), tone("125000"));
    EXPECT_EQ(tone("-0.125M"), tone("-125000"));
    EXPECT_NE(tone("-125k"), tone("125k"));
    EXPECT_EQ(tone("500k").size(), 400u);
}

TEST(Sim, InvalidValuesAreRefused)
{
    Session session;
    expect_usage_error([&] { session.add(config_of("sim:adc", {"null:"})); }, "sim: takes no name");
    expect_usage_error([&] { session.add(config_of("sim:?pattern=saw", {"null:"})); },
                       "pattern=saw");
    expect_usage_error(
        [&] { session.add(config_of("sim:?pattern=lanes&format=cf32_le", {"null:"})); },
        "pattern=lanes");
    expect_usage_error([&] { session.add(config_of("sim:?rate=fast", {"null:"})); }, "rate=fast");
    expect_usage_error([&] { session.add(config_of("sim:?frequency=125X", {"null:"})); },
                       "frequency=125X");
    for (const char* beyond : {"2.4G", "500.1k", "-600k"})
        expect_usage_error(
            [&] {
                session.add(config_of(std::string("sim:?pattern=tone&rate=1M&frequency=") + beyond,
                                      {"null:"}));
            },
            "above half the rate");
    expect_usage_error([&] { session.add(config_of("sim:?drop_at=-1", {"null:"})); }, "drop_at=-1");
}

} // namespace
