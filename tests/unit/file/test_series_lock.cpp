// SPDX-License-Identifier: MIT
#include "file/parts/series_lock.hpp"
#include "iio_stream/recording.hpp"
#include "support/errors.hpp"
#include "support/eventually.hpp"
#include "support/fake.hpp"
#include "support/files.hpp"
#include "support/flock_hook.hpp"
#include "support/temp_dir.hpp"
#include "sys/files.hpp"
#include "sys/stream_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>

namespace {

using namespace iio_stream;
using namespace iio_stream::test;
namespace fs = std::filesystem;

std::string one_file(const std::string& path, const std::string& options)
{
    return "file:" + path + "?engine=buffered" + options;
}

std::string in_parts(const std::string& path, const std::string& options)
{
    return one_file(path, "&rotate_bytes=4Ki" + options);
}

std::vector<std::string> left_in(const TempDir& dir)
{
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(dir.path()))
        names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
}

/// A recorder that has written one block to each part, and waits for more blocks.
class RunningRecorder {
public:
    /// Waits until the part with the data file `closed` is closed.
    RunningRecorder(const std::string& sink, std::uint64_t parts, const std::string& closed)
    {
        const std::uint64_t samples = parts * 1024;
        session_.add(config_of(fake_source({.silent_at = samples, .unhurried = true}).uri, {sink}));
        session_.prepare();
        session_.start();
        EXPECT_TRUE(
            eventually([&] { return session_[0].stats().sinks[0].delivered_samples == samples; }));
        EXPECT_TRUE(eventually([&] { return is_closed(closed); }));
    }
    Summary stop()
    {
        session_.stop();
        return session_[0].summary();
    }

private:
    static bool is_closed(const std::string& file)
    {
        const sys::UniqueFd fd = sys::open_file(file, O_RDONLY);
        return sys::try_lock(fd.get(), sys::Lock::shared);
    }

    Session session_;
};

void expect_busy(const Error& error)
{
    EXPECT_EQ(error.code().value(), EBUSY) << error.what();
    EXPECT_NE(std::string(error.what()).find("being recorded"), std::string::npos) << error.what();
}

// If a part is missing, the remaining files do not show that the recording is in progress.
TEST(SeriesLock, ARunningRecordingInPartsIsNotReplacedWhicheverPartItWrites)
{
    struct Case {
        std::string name, keep, first, second, last;
    };
    for (const Case& c : {
             Case{"x", "", "x.0000.sigmf-data", "x.0001.sigmf-data", "x.0004.sigmf-data"},
             Case{"x.ci16", "", "x.0000.ci16", "x.0001.ci16", "x.0004.ci16"},
             Case{"x", "&keep=last:12Ki", "x.0001.sigmf-data", "x.0002.sigmf-data",
                  "x.0004.sigmf-data"},
         }) {
        const TempDir dir;
        RunningRecorder recorder(in_parts(dir / c.name, c.keep), 5, dir / c.second);
        // When the recorder has removed the first part, it has also closed the others.
        EXPECT_TRUE(c.keep.empty() ||
                    eventually([&] { return !fs::exists(dir / "x.0000.sigmf-data"); }));
        fs::rename(dir / c.second, dir / "moved");
        for (const char* options : {"&overwrite=on", ""})
            expect_busy(refused(in_parts(dir / c.name, options)));
        EXPECT_TRUE(fs::exists(dir / c.first));
        const Summary summary = recorder.stop();
        EXPECT_FALSE(summary.error) << summary.error->what();
        EXPECT_EQ(contents(dir / c.last), ramp(4 * 1024, 1024));
        for (const std::string& name : left_in(dir))
            EXPECT_FALSE(name.ends_with(".lock")) << name;
    }
}

TEST(SeriesLock, TwoRecordingsInPartsCannotUseOneNameAtOnce)
{
    const TempDir dir;
    std::optional<Error> error;
    const FlockHook hook(
        [](const std::string& file, int operation) {
            return file.ends_with("/x.0000.ci16") && operation == LOCK_EX;
        },
        [&] { error = refused(in_parts(dir / "x.ci16", "")); });
    const Summary summary = write_samples(in_parts(dir / "x.ci16", ""), 1024);
    ASSERT_TRUE(hook.has_acted());
    ASSERT_TRUE(error);
    expect_busy(*error);
    EXPECT_FALSE(summary.error) << summary.error->what();
    EXPECT_EQ(left_in(dir), std::vector<std::string>{"x.0000.ci16"});
}

TEST(SeriesLock, NoPartOfARunningRecordingIsReplacedByName)
{
    const TempDir dir;
    for (const auto& [name, suffix] :
         {std::pair<std::string, std::string>{"x", ".sigmf-data"}, {"y.ci16", ".ci16"}}) {
        const std::string base = dir / name.substr(0, 1);
        RunningRecorder recorder(in_parts(dir / name, ""), 3, base + ".0000" + suffix);
        for (const char* number : {".0000", ".0009"})
            expect_busy(refused(one_file(base + number + suffix, "&overwrite=on")));
        EXPECT_FALSE(fs::exists(base + ".0009" + suffix));
        const Summary summary = recorder.stop();
        EXPECT_FALSE(summary.error) << summary.error->what();
        EXPECT_EQ(contents(base + ".0000" + suffix), ramp(0, 1024));
    }
}

TEST(SeriesLock, TheLockOfAKilledRecorderHasNoEffectAndIsRemoved)
{
    const TempDir dir;
    write_text(dir / "x.ci16.lock", "");
    EXPECT_FALSE(write_samples(in_parts(dir / "x.ci16", ""), 1024).error);
    EXPECT_EQ(left_in(dir), std::vector<std::string>{"x.0000.ci16"});
    write_text(dir / "x.ci16.lock", "");
    EXPECT_FALSE(recover_recording(dir / "x.0000.ci16", "ci16_le").needed);
    EXPECT_EQ(left_in(dir), std::vector<std::string>{"x.0000.ci16"});
}

TEST(SeriesLock, RecoverLeavesTheFilesOfARunningRecordingAlone)
{
    const TempDir dir;
    write_samples(one_file(dir / "x.0000.ci16", ""), 1000);
    write_text(dir / "x.0000.ci16.journal", "{\"iio_stream_journal\":1,\"sample_bytes\":4}\n");
    {
        const file::SeriesLock lock(dir / "x.ci16");
        const Error error = error_of([&] { (void)recover_recording(dir / "x.0000.ci16"); });
        expect_busy(error);
        EXPECT_TRUE(fs::exists(dir / "x.ci16.lock"));
    }
    EXPECT_TRUE(recover_recording(dir / "x.0000.ci16").needed);
}

TEST(SeriesLock, ALockFileThatIsRemovedBeforeItIsLockedIsCreatedAgain)
{
    const TempDir dir;
    const FlockHook hook(
        [](const std::string& file, int operation) {
            return file.ends_with("/x.ci16.lock") && operation == LOCK_EX;
        },
        [&] { fs::remove(dir / "x.ci16.lock"); });
    const file::SeriesLock lock(dir / "x.ci16");
    ASSERT_TRUE(hook.has_acted());
    EXPECT_TRUE(file::is_series_locked(dir / "x.ci16"));
}

} // namespace
