// SPDX-License-Identifier: MIT
// Full file systems. Mounting them needs root privileges.
#include "support/errors.hpp"
#include "support/fake.hpp"
#include "support/files.hpp"
#include "support/temp_dir.hpp"

#include <cstring>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>

namespace {

using namespace iio_stream;
using namespace iio_stream::test;

/// A tmpfs of the given size, mounted on its own directory.
class SmallFileSystem {
public:
    explicit SmallFileSystem(std::size_t bytes)
    {
        const std::string options = "size=" + std::to_string(bytes);
        if (::mount("tmpfs", dir_.path().c_str(), "tmpfs", 0, options.c_str()) < 0)
            failed_ = std::string("mount tmpfs: ") + std::strerror(errno);
    }
    SmallFileSystem(const SmallFileSystem&) = delete;
    ~SmallFileSystem()
    {
        if (failed_.empty())
            ::umount2(dir_.path().c_str(), MNT_DETACH);
    }

    const std::string& failed() const { return failed_; }
    std::string operator/(const std::string& name) const { return dir_ / name; }

private:
    TempDir dir_;
    std::string failed_;
};

TEST(HostStorage, AFullFileSystemKeepsTheWholeSamplesThatFit)
{
    const SmallFileSystem small(1 << 20);
    if (!small.failed().empty())
        GTEST_SKIP() << small.failed();
    for (const char* format : {"ci16_le", "le:s16/16,le:s16/16,le:s16/16"}) {
        FakeSource::Script script;
        script.format_ = Format::parse(format);
        const std::size_t sample = script.format_.sample_bytes;
        PipelineConfig config = config_of(fake_source(script).uri, {small / "a.bin"});
        config.block_size = 1000 * sample;
        const Summary summary = run(config);
        EXPECT_EQ(fault_of(summary), Fault::storage);
        EXPECT_EQ(summary.error->code().value(), ENOSPC) << summary.error->what();
        EXPECT_EQ(summary.error->object(), small / "a.bin");
        const auto kept = contents(small / "a.bin");
        EXPECT_EQ(kept.size() % sample, 0u);
        EXPECT_GT(kept.size(), 900'000u);
        EXPECT_EQ(kept, ramp(0, kept.size() / sample, sample));
        EXPECT_LE(summary.stats.sinks[0].bytes, kept.size());
        EXPECT_EQ(summary.stats.sinks[0].delivered_samples + summary.stats.sinks[0].dropped_samples,
                  summary.stats.samples);
        ::unlink((small / "a.bin").c_str());
    }
}

TEST(HostStorage, AFullFileSystemStopsOneSinkAndTheOthersKeepTheirSamples)
{
    const SmallFileSystem small(1 << 20);
    if (!small.failed().empty())
        GTEST_SKIP() << small.failed();
    const TempDir large;
    const Summary summary =
        run(config_of(fake_source({}).uri, {small / "a.ci16", large / "b.ci16", "verify:ramp"}));
    EXPECT_EQ(fault_of(summary), Fault::storage);
    EXPECT_EQ(contents(large / "b.ci16"), ramp(0, summary.stats.samples));
    EXPECT_EQ(summary.stats.sinks[2].delivered_samples, summary.stats.samples);
}

TEST(HostStorage, AReadOnlyFileSystemIsAStorageError)
{
    const SmallFileSystem small(64 << 20);
    if (!small.failed().empty())
        GTEST_SKIP() << small.failed();
    const std::string root = small / "";
    if (::mount("tmpfs", root.c_str(), "tmpfs", MS_REMOUNT | MS_RDONLY, nullptr) < 0)
        GTEST_SKIP() << "remount: " << std::strerror(errno);
    Session session;
    session.add(config_of(fake_source({}).uri, {small / "a.ci16"}));
    try {
        session.prepare();
        FAIL() << "the file was opened";
    } catch (const Error& error) {
        EXPECT_EQ(error.fault(), Fault::storage);
        EXPECT_EQ(error.code().value(), EROFS);
    }
}

} // namespace
