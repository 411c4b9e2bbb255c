// SPDX-License-Identifier: MIT
#include "iio_stream/stats.hpp"
#include "support/fake.hpp"

#include <cerrno>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <thread>

namespace {

using namespace iio_stream;
using namespace iio_stream::test;
using namespace std::chrono_literals;

TEST(Summary, TheJsonHasEveryFieldOfTheContract)
{
    PipelineConfig config =
        config_of(fake_source({.total = 10'000, .losses = {{.at = 5, .samples = 3}}}).uri,
                  {fake_sink().uri, "null:"});
    const Summary summary = run(config);
    const auto j = nlohmann::json::parse(to_json(summary));
    for (const char* key :
         {"schema",       "command",        "version",  "kernel",      "started",
          "source",       "sinks",          "route",    "copies",      "sample_format",
          "sample_bytes", "sample_rate",    "channels", "block_bytes", "block_count",
          "bytes",        "samples",        "blocks",   "seconds",     "bytes_per_second",
          "gaps",         "blocks_bad",     "cpu",      "latency_us",  "ended",
          "error",        "closing_seconds"})
        EXPECT_TRUE(j.contains(key)) << key;
    EXPECT_EQ(j["schema"], 1);
    EXPECT_EQ(j["source"]["produced_samples"], 10'000);
    EXPECT_EQ(j["sinks"].size(), 2u);
    EXPECT_EQ(j["sinks"][0]["delivered_samples"], 9'997);
    EXPECT_EQ(j["gaps"]["certain"], 1);
    EXPECT_EQ(j["gaps"]["lost_min"], 3);
    EXPECT_EQ(j["sample_rate"], nullptr);
    EXPECT_EQ(j["channels"], (std::vector<std::string>{"voltage0_i", "voltage0_q"}));
    EXPECT_EQ(j["route"].size(), 3u);
    EXPECT_EQ(j["ended"], "eof");
    EXPECT_EQ(j["error"], nullptr);
}

TEST(Summary, AnExceededThresholdIsAnError)
{
    Stats stats;
    stats.samples = 1000;
    stats.source_seconds = 2;
    stats.gaps = {.certain = 1, .possible = 2, .lost_min = 5, .lost_max = 7};
    stats.sinks = {{}, {.dropped_samples = 10}, {.dropped_samples = 3}};
    EXPECT_FALSE(Thresholds{}.check(stats));
    EXPECT_FALSE((Thresholds{.max_gaps = 3, .max_lost = 17, .min_rate = 500.0}).check(stats));
    const auto text = [&](const Thresholds& limits) {
        const auto error = limits.check(stats);
        EXPECT_TRUE(error && error->fault() == Fault::samples && error->code().value() == ENODATA);
        return error ? std::string(error->what()) : "";
    };
    EXPECT_NE(text({.max_gaps = 2}).find("3 gaps, more than max-gaps 2"), std::string::npos);
    EXPECT_NE(text({.max_lost = 16}).find("17 samples may be lost"), std::string::npos);
    EXPECT_NE(text({.min_rate = 500.5}).find("fewer than min-rate 500.5"), std::string::npos);
    stats.sinks[0].playback = PlaybackStats{};
    stats.sinks[0].playback->underflows = 2;
    EXPECT_FALSE((Thresholds{.max_gaps = 5, .max_lost = 17}).check(stats));
    EXPECT_NE(text({.max_gaps = 4}).find("5 gaps and underflows, more than max-gaps 4"),
              std::string::npos);
    stats.gaps.lost_max = kUnknown;
    EXPECT_NE(text({.max_lost = kUnknown - 1}).find("an unknown number of"), std::string::npos);
    stats.blocks = 100;
    // One more block, of 10 samples, can be in transit.
    EXPECT_FALSE((Thresholds{.min_rate = 504.9}).check(stats));
    EXPECT_NE(text({.min_rate = 505.1}).find("fewer than min-rate 505.1"), std::string::npos);
    stats.source_seconds = 0;
    EXPECT_NE(text({.min_rate = 1.0}), "");
}

TEST(Summary, AnUnboundedLossIsNullRatherThanALargeNumber)
{
    Summary summary;
    summary.stats.gaps.lost_max = kUnknown;
    EXPECT_EQ(nlohmann::json::parse(to_json(summary))["gaps"]["lost_max"], nullptr);
}

TEST(Summary, AnErrorIsSplitIntoItsFields)
{
    Summary summary;
    summary.error.emplace(Fault::storage, ENOSPC, "write", "cap.ci16", "", "make room");
    const auto j = nlohmann::json::parse(to_json(summary))["error"];
    EXPECT_EQ(j["operation"], "write");
    EXPECT_EQ(j["object"], "cap.ci16");
    EXPECT_EQ(j["errno"], ENOSPC);
    EXPECT_EQ(j["name"], "ENOSPC");
    EXPECT_EQ(j["message"], "write cap.ci16: No space left on device (make room)");
    EXPECT_EQ(j["hint"], "make room");
}

TEST(Summary, NamesThatAreNotUtf8DoNotBreakTheJson)
{
    Summary summary;
    summary.source = "file:\xe9";
    summary.error.emplace(Fault::storage, ENOENT, "open", "caf\xe9.ci16");
    const auto j = nlohmann::json::parse(to_json(summary));
    EXPECT_NE(j["error"]["object"].get<std::string>().find("caf"), std::string::npos);
}

TEST(Summary, LatencyIsMeasuredFromTheTimestampOfTheBlock)
{
    const SinkAt sink = fake_sink({.may_block = true, .submit = [](const Block&, int) {
                                       timespec pause{0, 2'000'000};
                                       ::nanosleep(&pause, nullptr);
                                   }});
    const Summary summary = run(config_of(fake_source({.total = 10 * 1024}).uri, {sink.uri}));
    EXPECT_GE(summary.latency.p50_us, 2000);
    EXPECT_GE(summary.latency.max_us, summary.latency.p999_us);
    EXPECT_GE(summary.latency.p999_us, summary.latency.p99_us);
    EXPECT_GE(summary.latency.p99_us, summary.latency.p50_us);
}

TEST(Summary, ClosingDoesNotLowerTheRates)
{
    const SinkAt sink = fake_sink({.stop = [](Stop) { std::this_thread::sleep_for(300ms); }});
    PipelineConfig config = config_of("sim:?rate=200k", {sink.uri});
    config.duration = 200ms;
    const Summary summary = run(config);
    EXPECT_EQ(summary.stats.samples, 40'000u);
    EXPECT_FALSE((Thresholds{.min_rate = 200e3}).check(summary.stats));
    EXPECT_GE(summary.closing_seconds, 0.3);
    EXPECT_GE(summary.stats.seconds, summary.stats.source_seconds);
}

TEST(Summary, TimeAndCpuCoverTheStreamOnly)
{
    PipelineConfig config = config_of("sim:?rate=1M", {"null:"});
    config.samples = 200'000;
    const Summary summary = run(config);
    EXPECT_GE(summary.stats.seconds, 0.1); // the source starts earlier than the stream
    EXPECT_LT(summary.stats.seconds, 5);
    EXPECT_GE(summary.cpu.user_seconds + summary.cpu.system_seconds, 0);
    EXPECT_LT(summary.cpu.user_seconds, 5);
    EXPECT_EQ(summary.started.size(), 20u);
}

} // namespace
