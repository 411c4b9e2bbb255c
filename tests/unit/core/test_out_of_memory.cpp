// SPDX-License-Identifier: MIT
// Like SQLite's tests: the k-th allocation fails, for k = 1, 2, 3 … until a run passes.
#include "support/allocations.hpp"
#include "support/eventually.hpp"
#include "support/fake.hpp"
#include "support/temp_dir.hpp"

#include <filesystem>
#include <gtest/gtest.h>

namespace {

using namespace iio_stream;
using namespace iio_stream::test;

struct Ending {
    bool ended = false;  ///< the stream ended normally
    bool failed = false; ///< the allocation that was to fail did fail
};

// A stream ends, throws or reports an error. Any other outcome is a failure.
Ending stream(const PipelineConfig& config, std::size_t k)
{
    Ending outcome;
    const auto disarm = [&] {
        outcome.failed = allocations_until_failure() == 0;
        fail_allocation(0);
    };
    fail_allocation(k);
    try {
        Session session;
        session.add(config);
        session.prepare();
        session.start();
        const bool over = session.wait(std::chrono::seconds(20));
        disarm(); // the JSON library's destructors do not survive a failed allocation
        EXPECT_TRUE(over) << "the stream hangs if allocation " << k << " fails";
        const Summary summary = session[0].summary();
        outcome.ended = over && !summary.error;
        EXPECT_EQ(outcome.ended, summary.ended == "samples") << summary.ended;
    } catch (const std::exception&) {
        disarm();
    }
    return outcome;
}

void expect_survival(const PipelineConfig& config, const std::string& made = "")
{
    const auto open_files = [] {
        return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
    };
    EXPECT_TRUE(stream(config, 0).ended); // one-time allocations are made here
    const auto before = open_files();
    std::size_t failures = 0;
    for (std::size_t k = 1; k < 100'000; ++k) {
        std::filesystem::remove(made);
        const Ending outcome = stream(config, k);
        ASSERT_TRUE(eventually([&] { return open_files() == before; })) << "allocation " << k;
        if (!outcome.failed) {
            EXPECT_TRUE(outcome.ended);
            break;
        }
        ++failures;
    }
    EXPECT_GT(failures, 50u);
}

TEST(OutOfMemory, AnyAllocationCanFailWithASimpleSink)
{
    PipelineConfig config = config_of("sim:?rate=0&drop_at=3k&seed=7", {"null:"});
    config.samples = 5000;
    expect_survival(config);
}

TEST(OutOfMemory, AnyAllocationCanFailWithThreadsAConversionAndAFile)
{
    const TempDir dir;
    PipelineConfig config =
        config_of("sim:?rate=0&drop_at=3k", {"verify:ramp", "null:?convert=cf32_le&on-full=drop",
                                             "file:" + (dir / "a.ci16") + "?overwrite=on"});
    config.samples = 5000;
    config.on_gap = OnGap::mark;
    expect_survival(config, dir / "a.ci16");
}

} // namespace
