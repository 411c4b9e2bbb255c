// SPDX-License-Identifier: MIT
// The sinks for tests: "null:" counts samples and can be slow, and "verify:" checks every sample.
#include "support/errors.hpp"
#include "support/fake.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace {

using namespace iio_stream;
using namespace iio_stream::test;
using namespace std::chrono_literals;

Summary verify(FakeSource::Script script, const std::string& sink = "verify:ramp")
{
    return run(config_of(fake_source(std::move(script)).uri, {sink}));
}

nlohmann::json report(const Summary& summary)
{
    return nlohmann::json::parse(summary.sink_reports[0]);
}

TEST(Null, NullCountsSamplesAndIsAsFastAsTheSource)
{
    const Summary summary = run(config_of(fake_source({.total = 100'000}).uri, {"null:"}));
    EXPECT_EQ(summary.stats.sinks[0].delivered_samples, 100'000u);
    EXPECT_EQ(summary.stats.sinks[0].bytes, 400'000u);
    EXPECT_EQ(summary.copies(), 0u);
}

TEST(Null, TheRateThrottlesTheSource)
{
    const auto start = std::chrono::steady_clock::now();
    const Summary summary = run(config_of(fake_source({.total = 20'000}).uri, {"null:?rate=200k"}));
    const auto took = std::chrono::steady_clock::now() - start;
    EXPECT_GE(took, 100ms);
    EXPECT_LT(took, 2s);
    EXPECT_EQ(summary.stats.sinks[0].delivered_samples, 20'000u);
}

TEST(Null, NullStallsOnceInEveryStream)
{
    Session session;
    session.add(
        config_of(fake_source({.total = 20'000}).uri, {"null:?stall_at=5k&stall_for=50ms"}));
    for (int i = 0; i < 2; ++i) {
        const auto start = std::chrono::steady_clock::now();
        run(session);
        const auto took = std::chrono::steady_clock::now() - start;
        EXPECT_GE(took, 50ms);
        EXPECT_LT(took, 2s);
    }
}

TEST(Null, AStallOrTheLowestRateEndsWithTheStream)
{
    for (const char* sink : {"null:?stall_at=0&stall_for=1h", "null:?rate=1e-300"}) {
        Session session;
        session.add(config_of(fake_source({}).uri, {sink}));
        session.prepare();
        session.start();
        EXPECT_FALSE(session.wait(20ms));
        const auto start = std::chrono::steady_clock::now();
        session.stop(Stop::abort);
        EXPECT_LT(std::chrono::steady_clock::now() - start, 2s);
    }
}

TEST(Null, InvalidNamesAndOptionsAreRefused)
{
    Session session;
    expect_usage_error([&] { session.add(config_of("sim:", {"null:x"})); }, "null: takes no name");
    expect_usage_error([&] { session.add(config_of("sim:", {"null:?stall_at=x"})); }, "stall_at=x");
}

TEST(Verify, ACompleteStreamPasses)
{
    const Summary summary = verify({.total = 100'001});
    EXPECT_EQ(summary.ended, "eof");
    EXPECT_EQ(report(summary)["samples"], 100'001);
    EXPECT_EQ(report(summary)["gaps"], 0);
    EXPECT_EQ(report(summary)["first"], nullptr);
}

TEST(Verify, AReportedLossPasses)
{
    const Summary summary = verify({.total = 20'000, .losses = {{.at = 999, .samples = 1000}}});
    EXPECT_EQ(summary.ended, "eof") << summary.sink_reports[0];
    EXPECT_EQ(report(summary)["gaps"], 1);
    EXPECT_EQ(report(summary)["lost"], 1000);
    EXPECT_EQ(report(summary)["unreported"], 0);
}

TEST(Verify, ALossInsideAReportedIntervalPasses)
{
    const Gap reported{2000, 3000, 0, kUnknown, Evidence::starvation};
    EXPECT_EQ(
        verify({.total = 20'000, .losses = {{.at = 2500, .samples = 10, .reported = reported}}})
            .ended,
        "eof");
}

TEST(Verify, ASilentLossFails)
{
    const Gap elsewhere{2000, 3000, 10, 10, Evidence::counter};
    const Gap smaller{2500, 2500, 9, 9, Evidence::counter};
    for (const auto& [reported, what] :
         {std::pair{Gap{}, "none"}, {elsewhere, "elsewhere"}, {smaller, "smaller"}}) {
        const std::uint64_t at = what == std::string("elsewhere") ? 3500 : 2500;
        const Summary summary =
            verify({.total = 20'000, .losses = {{.at = at, .samples = 10, .reported = reported}}});
        EXPECT_EQ(summary.ended, "error") << what;
        EXPECT_EQ(summary.error->code().value(), EBADMSG);
        const std::string where =
            "1 loss is not reported by any block; the first: 10 samples missing at "
            "sample " +
            std::to_string(at);
        EXPECT_NE(std::string(summary.error->what()).find(where), std::string::npos)
            << summary.error->what();
        const bool short_of =
            std::string(summary.error->what()).find("at most 9") != std::string::npos;
        EXPECT_EQ(short_of, what == std::string("smaller"));
        EXPECT_EQ(report(summary)["unreported"], 1);
        EXPECT_TRUE(summary.error);
    }
}

TEST(Verify, WrongDataFails)
{
    FakeSource::Script script{.format_ = Format::parse("ci16_le"), .total = 5000};
    const Summary summary = verify(script, "verify:lanes"); // a ramp is not a lanes pattern
    EXPECT_EQ(summary.ended, "error");
    EXPECT_GT(report(summary)["mismatches"], 4000);
}

TEST(Verify, ZerosInPlaceOfALossFail)
{
    PipelineConfig config =
        config_of(fake_source({.total = 20'000, .losses = {{.at = 5000, .samples = 100}}}).uri,
                  {"verify:ramp"});
    config.on_gap = OnGap::zero_fill;
    EXPECT_EQ(run(config).ended, "error");
}

TEST(Verify, AnAbortedStreamIsNotChecked)
{
    Session session;
    session.add(
        config_of(fake_source({.losses = {{.at = 10, .samples = 5, .reported = Gap{}}}}).uri,
                  {"verify:ramp"}));
    session.prepare();
    session.start();
    session.stop(Stop::abort);
    EXPECT_EQ(session[0].summary().ended, "signal");
}

TEST(Verify, EachStreamIsCheckedSeparately)
{
    Session session;
    session.add(config_of(fake_source({.total = 5000}).uri, {"verify:ramp"}));
    for (int i = 0; i < 3; ++i) {
        run(session);
        EXPECT_EQ(session[0].summary().ended, "eof");
        EXPECT_EQ(report(session[0].summary())["samples"], 5000);
    }
}

TEST(Verify, OnlyRampAndLanesAreChecked)
{
    Session session;
    expect_usage_error([&] { session.add(config_of("sim:", {"verify:tone"})); }, "ramp and lanes");
    expect_usage_error([&] { session.add(config_of("sim:", {"verify:"})); }, "verify=");
}

} // namespace
