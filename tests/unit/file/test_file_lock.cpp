// SPDX-License-Identifier: MIT
#include "file/sigmf/metadata_reader.hpp"
#include "iio_stream/recording.hpp"
#include "support/errors.hpp"
#include "support/fake.hpp"
#include "support/files.hpp"
#include "support/flock_hook.hpp"
#include "support/temp_dir.hpp"

#include <gtest/gtest.h>
#include <sys/file.h>

namespace {

using namespace iio_stream;
using namespace iio_stream::test;

/// Returns a condition that accepts the locking of a file whose name ends with `suffix`.
auto when_locked(const std::string& suffix)
{
    return [suffix](const std::string& file, int operation) {
        return file.ends_with(suffix) && operation == LOCK_EX;
    };
}

/// Returns a condition that accepts the unlocking of such a file, even if it has been deleted.
auto when_unlocked(const std::string& suffix)
{
    return [suffix](const std::string& file, int operation) {
        return (file.ends_with(suffix) || file.ends_with(suffix + " (deleted)")) &&
               operation == LOCK_UN;
    };
}

std::string recorder_of(const std::string& path, const std::string& options)
{
    return "file:" + path + "?engine=buffered" + options;
}

file::Json global_of(const std::string& path)
{
    return file::load_metadata(path)["global"];
}

TEST(FileLock, AFileThatIsReplacedBeforeItIsLockedIsNotRecordedTo)
{
    const TempDir dir;
    write_text(dir / "a.ci16", "old");
    const FlockHook hook(when_locked("/a.ci16"), [&] {
        std::filesystem::rename(dir / "a.ci16", dir / "moved.ci16");
        write_text(dir / "a.ci16", "newer");
    });
    const Summary summary = write_samples(recorder_of(dir / "a.ci16", "&overwrite=on"), 10);
    ASSERT_TRUE(hook.has_acted());
    EXPECT_FALSE(summary.error) << summary.error->what();
    EXPECT_EQ(contents(dir / "a.ci16"), ramp(0, 10));
    EXPECT_EQ(text_in(dir / "moved.ci16"), "old");
}

TEST(FileLock, AFileThatIsRemovedBeforeItIsLockedIsCreatedAgain)
{
    const TempDir dir;
    write_text(dir / "a.ci16", "old");
    const FlockHook hook(when_locked("/a.ci16"), [&] { std::filesystem::remove(dir / "a.ci16"); });
    const Summary summary = write_samples(recorder_of(dir / "a.ci16", "&overwrite=on"), 10);
    ASSERT_TRUE(hook.has_acted());
    EXPECT_FALSE(summary.error) << summary.error->what();
    ASSERT_TRUE(std::filesystem::exists(dir / "a.ci16"));
    EXPECT_EQ(contents(dir / "a.ci16"), ramp(0, 10));
}

TEST(FileLock, AFileThatAnotherRecorderWroteBeforeTheLockIsNotReplaced)
{
    const TempDir dir;
    const FlockHook hook(when_locked("/a.ci16"), [&] {
        (void)write_samples(recorder_of(dir / "a.ci16", "&overwrite=on"), 1000);
    });
    const Error error = refused(recorder_of(dir / "a.ci16", ""));
    ASSERT_TRUE(hook.has_acted());
    EXPECT_EQ(error.code().value(), EEXIST) << error.what();
    EXPECT_EQ(contents(dir / "a.ci16"), ramp(0, 1000));
}

TEST(FileLock, ARecordingIsLockedUntilItsMetadataAreComplete)
{
    for (const char* hash : {"off", "end"}) {
        const TempDir dir;
        const auto recorder_by = [&](const std::string& author) {
            return recorder_of(dir / "x",
                               std::string("&overwrite=on&hash=") + hash + "&author=" + author);
        };
        const FlockHook hook(when_unlocked("/x.sigmf-data"),
                             [&] { (void)write_samples(recorder_by("second"), 2000); });
        const Summary summary = write_samples(recorder_by("first"), 1000);
        ASSERT_TRUE(hook.has_acted());
        EXPECT_FALSE(summary.error) << summary.error->what();
        EXPECT_EQ(contents(dir / "x.sigmf-data"), ramp(0, 2000));
        EXPECT_EQ(global_of(dir / "x.sigmf-meta")["core:author"], "second");
        EXPECT_TRUE(check_recording(dir / "x").problems.empty());
    }
}

TEST(FileLock, ARecordingIsBusyWhileItIsBeingCreated)
{
    const TempDir dir;
    std::optional<Error> error;
    const FlockHook hook(when_locked("/x.sigmf-meta.new"),
                         [&] { error = refused(recorder_of(dir / "x", "")); });
    const Summary summary = write_samples(recorder_of(dir / "x", ""), 1000);
    ASSERT_TRUE(hook.has_acted());
    EXPECT_FALSE(summary.error) << summary.error->what();
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code().value(), EBUSY) << error->what();
    EXPECT_NE(std::string(error->what()).find("it is being recorded"), std::string::npos)
        << error->what();
    EXPECT_EQ(contents(dir / "x.sigmf-data"), ramp(0, 1000));
    EXPECT_TRUE(check_recording(dir / "x").problems.empty());
}

TEST(FileLock, AFailedStreamRemovesNothingOfTheNextRecording)
{
    const TempDir dir;
    FakeSink::Script bad;
    bad.prepare = [](BlockPool&, std::string&) -> bool {
        throw Error(Fault::storage, EIO, "open", "bad");
    };
    const FlockHook hook(when_unlocked("/x.sigmf-data"), [&] {
        try {
            (void)write_samples(recorder_of(dir / "x", ""), 1000);
        } catch (const Error& error) {
            ADD_FAILURE() << error.what();
        }
    });
    {
        Session session;
        session.add(config_of(fake_source({.total = 10}).uri,
                              {recorder_of(dir / "x", ""), fake_sink(bad).uri}));
        (void)error_of([&] { session.prepare(); });
    }
    ASSERT_TRUE(hook.has_acted());
    EXPECT_EQ(contents(dir / "x.sigmf-data"), ramp(0, 1000));
    EXPECT_TRUE(check_recording(dir / "x").problems.empty());
}

TEST(FileLock, ARecordingThatIsFinishedBeforeRecoverLocksItIsUnchanged)
{
    const TempDir dir;
    (void)write_samples(recorder_of(dir / "x", ""), 1000);
    const std::string complete = text_in(dir / "x.sigmf-meta");
    file::Json metadata = file::load_metadata(dir / "x.sigmf-meta");
    metadata["global"]["iio_stream:state"] = "recording";
    metadata["global"].erase("iio_stream:samples");
    write_text(dir / "x.sigmf-meta", metadata.dump());
    const FlockHook hook(when_locked("/x.sigmf-data"),
                         [&] { write_text(dir / "x.sigmf-meta", complete); });
    const Recovery recovery = recover_recording(dir / "x");
    ASSERT_TRUE(hook.has_acted());
    EXPECT_FALSE(recovery.needed);
    EXPECT_EQ(recovery.samples, 1000u);
    EXPECT_EQ(text_in(dir / "x.sigmf-meta"), complete);
}

} // namespace
