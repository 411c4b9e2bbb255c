// SPDX-License-Identifier: MIT
#include "iio_stream/session.hpp"
#include "support/errors.hpp"
#include "support/eventually.hpp"
#include "support/fake.hpp"

#include <gtest/gtest.h>
#include <thread>

namespace {

using namespace iio_stream;
using namespace iio_stream::test;
using namespace std::chrono_literals;

const Format kPairs = Format::parse("ci16_le");

struct Both {
    explicit Both(FakeSource::Script script = {})
        : source(fake_source(std::move(script))), sink(fake_sink())
    {}

    SourceAt source;
    SinkAt sink;
    Session session;
    Reader& rx = session.add_reader(config_of(source.uri, {}));
    Writer& tx = session.add_writer(config_of("", {sink.uri}), kPairs);
};

TEST(Members, AReaderAndAWriterAreReadyBeforeTheStart)
{
    Both both;
    EXPECT_EQ(both.session.size(), 2u);
    EXPECT_EQ(both.rx.format().name(), "ci16_le");
    EXPECT_EQ(both.tx.route().size(), 2u);
    EXPECT_EQ(both.source.log->started, 0);
}

TEST(Members, AllStreamsStartTogether)
{
    Both both;
    both.session.start();
    EXPECT_EQ(both.source.log->started, 1);
    EXPECT_EQ(both.sink.log->started, 1);
    for (int i = 0; i < 20; ++i) {
        EXPECT_EQ(both.rx.next(30s)->position(), 1024u * static_cast<unsigned>(i));
        EXPECT_EQ(both.tx.write(ramp(1024 * static_cast<unsigned>(i), 1024), 30s), kBlock);
    }
    EXPECT_EQ(both.tx.close().ended, "eof");
    EXPECT_EQ(both.sink.log->bytes, ramp(0, 20 * 1024));
    EXPECT_EQ(both.rx.close().ended, "signal");
    EXPECT_TRUE(both.session.wait(30s));
}

TEST(Members, TheFirstBlockOfOneStreamStartsAllStreams)
{
    Both read, written;
    EXPECT_TRUE(read.rx.next(30s));
    EXPECT_EQ(read.sink.log->started, 1);
    EXPECT_EQ(written.tx.write(ramp(0, 1024), 30s), kBlock);
    EXPECT_EQ(written.source.log->started, 1);
    EXPECT_TRUE(written.rx.next(30s));
}

TEST(Members, EachStreamCanHaveItsOwnThreadFromTheFirstBlockOn)
{
    for (int round = 0; round < 20; ++round) {
        Both both({.total = 50'000});
        std::thread writing([&] { EXPECT_EQ(both.tx.write(ramp(0, 50'000), 30s), 200'000u); });
        std::uint64_t samples = 0;
        while (const auto block = both.rx.next(30s))
            samples += block->samples();
        writing.join();
        EXPECT_EQ(samples, 50'000u);
        EXPECT_EQ(both.tx.close().stats.samples, 50'000u);
        EXPECT_EQ(both.source.log->started, 1);
    }
}

TEST(Members, ClosingOneStreamLetsTheOthersContinue)
{
    Both both;
    both.session.start();
    (void)both.tx.close();
    EXPECT_EQ(both.tx.take(30s).outcome(), Outcome::ended);
    for (int i = 0; i < 20; ++i)
        EXPECT_TRUE(both.rx.next(30s));
    EXPECT_FALSE(both.session.wait(0s));
    both.session.stop();
    EXPECT_TRUE(both.session[0].ended());
}

TEST(Members, ASessionCanBeStartedAgain)
{
    Both both({.total = 3000});
    for (int round = 0; round < 5; ++round) {
        both.sink.log->bytes.clear();
        both.session.start();
        std::uint64_t samples = 0;
        for (const Block& block : both.rx)
            samples += block.samples();
        EXPECT_EQ(samples, 3000u);
        EXPECT_EQ(both.tx.write(ramp(0, 3000), 30s), 12'000u);
        EXPECT_EQ(both.tx.close().stats.samples, 3000u);
        EXPECT_EQ(both.sink.log->bytes, ramp(0, 3000));
    }
}

TEST(Members, AFailureIsReportedByItsOwnStream)
{
    Both both({.fail_at = 2048});
    both.session.start();
    EXPECT_TRUE(both.rx.next(30s));
    EXPECT_TRUE(both.rx.next(30s));
    EXPECT_EQ(error_of([&] { (void)both.rx.next(30s); }).code().value(), ENODEV);
    EXPECT_TRUE(both.session.wait(30s)); // the failure stops the other streams
    EXPECT_TRUE(both.session[1].ended());
}

TEST(Members, AStreamThatCannotBePreparedIsNotAdded)
{
    Both both;
    expect_usage_error([&] { (void)both.session.add_reader(config_of("sim:?ratee=1", {})); },
                       "ratee");
    const auto refuses = [](BlockPool&, std::string&) -> bool {
        throw Error(Fault::device, ENODEV, "prepare", "fake");
    };
    const SourceAt bad = fake_source({.prepare = refuses});
    EXPECT_EQ(
        error_of([&] { (void)both.session.add_reader(config_of(bad.uri, {})); }).code().value(),
        ENODEV);
    EXPECT_EQ(both.session.size(), 2u);
    both.session.start();
    EXPECT_TRUE(both.rx.next(30s));
    expect_usage_error([&] { (void)both.session.add_reader(config_of(both.source.uri, {})); },
                       "running session", "stop()");
}

TEST(Members, AFailedStartCanBeRetried)
{
    auto broken = std::make_shared<bool>(true);
    Both both({.start = [broken] {
        if (*broken)
            throw Error(Fault::device, ENODEV, "start", "fake");
    }});
    EXPECT_EQ(error_of([&] { (void)both.rx.next(30s); }).code().value(), ENODEV);
    *broken = false;
    EXPECT_TRUE(both.rx.next(30s));
}

} // namespace
