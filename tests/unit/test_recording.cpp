// SPDX-License-Identifier: MIT
// Recordings that are finished, or were interrupted: checked and recovered.
#include "file/sigmf/read_journal.hpp"
#include "iio_stream/recording.hpp"
#include "support/errors.hpp"
#include "support/recordings.hpp"
#include "support/temp_dir.hpp"
#include "sys/files.hpp"
#include "sys/holes.hpp"
#include "sys/stream_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace {

using namespace iio_stream;
using namespace iio_stream::test;
using file::Json;

/// A recording as a kill leaves it: metadata from its first second, a journal, a file with more in
/// it than is known.
void interrupt(const TempDir& dir, const std::string& journal)
{
    record(dir / "x");
    edit(dir / "x.sigmf-meta", "/global/iio_stream:state", "recording");
    Json m = file::load_metadata(dir / "x.sigmf-meta");
    m["global"].erase("iio_stream:samples");
    write_text(dir / "x.sigmf-meta", m.dump());
    if (!journal.empty())
        write_text(dir / "x.sigmf-data.journal", journal);
}

std::uint64_t size_of(const std::string& path)
{
    return std::filesystem::file_size(path);
}

std::string only_problem(const std::string& path)
{
    const Recording r = check_recording(path);
    EXPECT_EQ(r.problems.size(), 1u);
    return r.problems.empty() ? "" : r.problems[0];
}

TEST(Recording, AValidOneHasNoProblems)
{
    const TempDir dir;
    record(dir / "x", {{1000, 50}, {3000, 5, Gap{2950, 2950, 0, 100, Evidence::starvation}}});
    for (const char* name : {"x", "x.sigmf", "x.sigmf-meta", "x.sigmf-data"}) {
        const Recording r = check_recording(dir / name);
        EXPECT_TRUE(r.problems.empty()) << r.problems[0];
        EXPECT_EQ(r.samples, 10'000u - 55);
        EXPECT_EQ(r.gaps.certain, 1u);
        EXPECT_EQ(r.gaps.possible, 1u);
        EXPECT_EQ(r.gaps.lost_min, 50u);
        EXPECT_EQ(r.gaps.lost_max, 150u);
        EXPECT_EQ(r.hash, Hash::none);
        EXPECT_EQ(r.format.name(), "ci16_le");
        EXPECT_FALSE(recover_recording(dir / name).needed);
    }
}

TEST(Recording, ProblemsAreNamed)
{
    const TempDir dir;
    record(dir / "x", {{1000, 50}});
    const std::string meta = dir / "x.sigmf-meta", data = dir / "x.sigmf-data";
    const std::string good = text_in(meta);
    edit(meta, "/global/core:datatype", "ci16");
    EXPECT_NE(only_problem(dir / "x").find("core:datatype = \"ci16\""), std::string::npos);
    write_text(meta, good);
    edit(meta, "/annotations/0/core:sample_start", 10'001);
    EXPECT_NE(only_problem(dir / "x").find("annotations[0]"), std::string::npos);
    write_text(meta, good);
    edit(meta, "/captures/1/core:sample_start", 9950); // the file has 9950
    EXPECT_NE(only_problem(dir / "x").find("captures[1]"), std::string::npos);
    write_text(meta, good);
    ASSERT_EQ(::truncate(data.c_str(), 4000), 0);
    EXPECT_FALSE(check_recording(dir / "x").problems.empty());
    EXPECT_TRUE(check_recording(dir / "x").needs_recover);
    ASSERT_EQ(::unlink(data.c_str()), 0);
    EXPECT_EQ(error_of([&] { (void)check_recording(dir / "x"); }).fault(), Fault::storage);
    ASSERT_EQ(::unlink(meta.c_str()), 0);
    EXPECT_EQ(error_of([&] { (void)check_recording(dir / "x"); }).code().value(), ENOENT);
}

TEST(Recording, AHashIsAddedOnceAndCheckedAfterwards)
{
    const TempDir dir;
    record(dir / "x");
    EXPECT_EQ(check_recording(dir / "x", "", true).hash, Hash::added);
    EXPECT_EQ(check_recording(dir / "x", "", true).hash, Hash::good);
    std::vector<std::byte> bytes = contents(dir / "x.sigmf-data");
    bytes[5000] ^= std::byte{1};
    write_file(dir / "x.sigmf-data", bytes);
    const Recording r = check_recording(dir / "x");
    EXPECT_EQ(r.hash, Hash::bad);
    EXPECT_NE(r.problems.at(0).find("core:sha512"), std::string::npos);
}

TEST(Recording, RawSamplesHaveAWholeSize)
{
    const TempDir dir;
    write_file(dir / "a.ci16", ramp(0, 100));
    EXPECT_TRUE(check_recording(dir / "a.ci16").problems.empty());
    ASSERT_EQ(::truncate((dir / "a.ci16").c_str(), 399), 0);
    EXPECT_NE(only_problem(dir / "a.ci16").find("399 bytes"), std::string::npos);
    expect_usage_error([&] { (void)check_recording(dir / "a.ci16", "ri8"); }, "the name says ci16_le");
    EXPECT_EQ(::rename((dir / "a.ci16").c_str(), (dir / "b.bin").c_str()), 0);
    EXPECT_TRUE(check_recording(dir / "b.bin", "ri8").problems.empty());
    expect_usage_error([&] { (void)check_recording(dir / "b.bin", "ri8", true); }, "--add-hash");
    EXPECT_EQ(::rename((dir / "b.bin").c_str(), (dir / "a.ci16").c_str()), 0);
    EXPECT_EQ(recover_recording(dir / "a.ci16").bytes, 396u);
    EXPECT_EQ(size_of(dir / "a.ci16"), 396u);
    EXPECT_FALSE(recover_recording(dir / "a.ci16").needed);
}

TEST(Recover, WithoutAJournalAllWholeSamplesAreKept)
{
    const TempDir dir;
    interrupt(dir, "");
    ASSERT_EQ(::truncate((dir / "x.sigmf-data").c_str(), 4002), 0);
    EXPECT_TRUE(check_recording(dir / "x").needs_recover);
    EXPECT_NE(
        std::string(error_of([&] { run(config_of(dir / "x", {"null:"})); }).what()).find("recover"),
        std::string::npos);
    const Recovery done = recover_recording(dir / "x");
    EXPECT_TRUE(done.needed);
    EXPECT_EQ(done.samples, 1000u);
    EXPECT_EQ(contents(dir / "x.sigmf-data"), ramp(0, 1000));
    EXPECT_TRUE(check_recording(dir / "x").problems.empty());
    const Json m = file::load_metadata(dir / "x.sigmf-meta");
    EXPECT_EQ(m["global"]["iio_stream:state"], "recovered");
    EXPECT_EQ(m["annotations"].back()["core:label"], "interrupted");
    EXPECT_EQ(m["annotations"][0]["core:label"], "possible gap"); // what the journal knew of is lost
    EXPECT_EQ(m["annotations"][0]["core:sample_count"], 1000u);
    EXPECT_FALSE(recover_recording(dir / "x").needed);
}

TEST(Recover, TheJournalSaysHowFarTheSamplesGoAndWhatWasLost)
{
    const TempDir dir;
    interrupt(dir, "{\"iio_stream_journal\":1,\"sample_bytes\":4}\n{\"bytes\":8000}\n"
                   "{\"gap\":[500,500,7,7,\"counter\"]}\n{\"bytes\":20000}\n"
                   "{\"gap\":[1000,1200,0,null,\"starvation\"]}\n"
                   "{\"gap\":[6000,6000,3,3,\"counter\"]}\n{\"bytes\":24");
    const Recovery done = recover_recording(dir / "x.sigmf-data");
    if (!sys::reports_holes(dir / "x"))
        GTEST_SKIP() << "the file system of temporary files knows no holes";
    EXPECT_EQ(done.bytes, 40'000u); // all that is there, whatever the journal had come to
    EXPECT_EQ(done.bytes_before, 40'000u);
    EXPECT_EQ(done.tail, "");
    EXPECT_EQ(contents(dir / "x.sigmf-data"), ramp(0, 10'000));
    EXPECT_FALSE(std::filesystem::exists(dir / "x.sigmf-data.journal"));
    const Recording r = check_recording(dir / "x");
    EXPECT_TRUE(r.problems.empty()) << r.problems[0];
    EXPECT_EQ(r.gaps.certain, 2u);
    EXPECT_EQ(r.gaps.possible, 2u); // one of them: what the journal had not come to
    EXPECT_EQ(r.gaps.lost_max, kUnknown);
}

TEST(Recover, IfALossMayBeFoundLateOneIsPossibleBeforeTheLastMark)
{
    const TempDir dir;
    interrupt(dir,
              "{\"iio_stream_journal\":1,\"sample_bytes\":4}\n{\"settled\":0}\n{\"bytes\":8000}\n"
              "{\"settled\":1500}\n{\"bytes\":40000}\n");
    (void)recover_recording(dir / "x");
    const auto possible = file::contents_of(file::load_metadata(dir / "x.sigmf-meta")).gaps;
    ASSERT_EQ(possible.size(), 1u);
    EXPECT_EQ(possible[0].offset_min, 1500u);
    EXPECT_EQ(possible[0].offset_max, 10'000u);
    EXPECT_EQ(possible[0].lost_max, kUnknown);
}

TEST(Recover, IfHolesAreUnknownTheJournalSaysHowFarTheSamplesGo)
{
    const TempDir dir;
    write_file(dir / "a.bin", ramp(0, 1000));
    const sys::UniqueFd fd = sys::open_file(dir / "a.bin", O_RDONLY);
    const std::string begin = "{\"iio_stream_journal\":1,\"sample_bytes\":4}\n{\"bytes\":2003}\n";
    const auto valid = [&](const std::string& journal, file::Holes holes) {
        return file::valid_bytes(fd.get(), dir / "a.bin", file::parse_journal(journal), 4, holes);
    };
    EXPECT_EQ(valid(begin, file::Holes::unknown), 2000u);
    EXPECT_EQ(valid(begin, file::Holes::reported), 4000u);
    EXPECT_EQ(valid(begin + "{\"end\":3000}\n", file::Holes::reported), 3000u);
}

TEST(Recover, DataAfterTheFirstHoleIsKeptInASeparateFile)
{
    const TempDir dir;
    interrupt(dir, "{\"iio_stream_journal\":1,\"sample_bytes\":4}\n{\"bytes\":4096}\n");
    const std::string data = dir / "x.sigmf-data";
    if (!sys::reports_holes(data))
        GTEST_SKIP() << "the file system of temporary files knows no holes";
    { // a request that overtook the ones before it, and room that was reserved
        const sys::UniqueFd fd = sys::open_file(data, O_WRONLY);
        ASSERT_EQ(::pwrite(fd.get(), "late", 4, 1 << 20), 4);
        ASSERT_EQ(::ftruncate(fd.get(), 32 << 20), 0);
    }
    const Recovery done = recover_recording(dir / "x");
    EXPECT_GE(done.bytes, 40'000u);
    EXPECT_LT(done.bytes, 40'000u + 65'536u);
    ASSERT_EQ(done.tail, data + ".tail");
    const std::string tail = text_in(done.tail);
    EXPECT_EQ(tail.find("late"), (1 << 20) - done.bytes);
    EXPECT_EQ(tail.find_first_not_of('\0'), (1 << 20) - done.bytes);
}

TEST(Recover, ZerosAndMergedLossesOfTheJournalAreReported)
{
    const TempDir dir;
    interrupt(dir, "{\"iio_stream_journal\":1,\"sample_bytes\":4,\"part\":3}\n"
                   "{\"first\":[7000,true]}\n"
                   "{\"zeros\":[500,700]}\n{\"zeros\":[700,800]}\n"
                   "{\"dropped\":[900,900,50,50,\"counter\"]}\n{\"bytes\":40000}\n");
    (void)recover_recording(dir / "x");
    const Json m = file::load_metadata(dir / "x.sigmf-meta");
    ASSERT_EQ(m["captures"].size(), 2u);
    EXPECT_EQ(m["captures"][0]["core:global_index"], 7000);
    EXPECT_EQ(m["captures"][1]["core:sample_start"], 900);
    EXPECT_EQ(m["captures"][1]["core:global_index"], 7950);
    ASSERT_EQ(m["annotations"].size(), 3u); // and that it was interrupted
    EXPECT_EQ(m["annotations"][0]["core:sample_start"], 500);
    EXPECT_EQ(m["annotations"][0]["iio_stream:filled"], 300);
    EXPECT_EQ(m["annotations"][1]["iio_stream:evidence"], "dropped");
    EXPECT_EQ(m["annotations"][1]["iio_stream:lost_min"], 50);
    EXPECT_TRUE(check_recording(dir / "x").problems.empty());
}

TEST(Recover, APartWithAnUnknownStartSaysSo)
{
    const TempDir dir;
    interrupt(dir, "{\"iio_stream_journal\":1,\"sample_bytes\":4,\"part\":3}\n{\"bytes\":40000}\n");
    (void)recover_recording(dir / "x");
    EXPECT_FALSE(check_recording(dir / "x").first_exact);
}

TEST(Recover, UserEditsToTheMetadataArePreserved)
{
    const TempDir dir;
    interrupt(dir, "{\"iio_stream_journal\":1,\"sample_bytes\":4}\n"
                   "{\"gap\":[2000,2000,7,7,\"counter\"]}\n{\"bytes\":40000}\n");
    Json m = file::load_metadata(dir / "x.sigmf-meta");
    m["global"]["core:author"] = "A. N. Other";
    m["captures"][0]["core:frequency"] = 1e6;
    m["captures"].push_back({{"core:sample_start", 1000}, {"core:frequency", 2e6}});
    m["captures"].push_back({{"core:sample_start", 3000}, {"core:frequency", 3e6}});
    m["annotations"].push_back(
        {{"core:sample_start", 1500}, {"core:sample_count", 10}, {"core:label", "mine"}});
    const std::string before = m.dump() + "\n";
    write_text(dir / "x.sigmf-meta", before);
    const Recovery done = recover_recording(dir / "x");
    EXPECT_EQ(text_in(done.backup), before);
    m = file::load_metadata(dir / "x.sigmf-meta");
    EXPECT_EQ(m["global"]["core:author"], "A. N. Other");
    ASSERT_EQ(m["captures"].size(), 4u);
    EXPECT_EQ(m["captures"][1]["core:frequency"], 2e6);
    EXPECT_EQ(m["captures"][2]["core:sample_start"], 2000);
    EXPECT_EQ(m["captures"][2]["core:frequency"], 2e6); // as the one that it goes on with
    EXPECT_EQ(m["captures"][2]["core:global_index"], 2007);
    EXPECT_EQ(m["captures"][3]["core:frequency"], 3e6);
    EXPECT_EQ(m["annotations"][0]["core:label"], "mine");
    EXPECT_EQ(m["annotations"][1]["iio_stream:lost_min"], 7);
    EXPECT_TRUE(check_recording(dir / "x").problems.empty());
}

TEST(Recover, FollowsNoLinkAndNoForeignDataset)
{
    const TempDir dir;
    write_file(dir / "precious", ramp(0, 100));
    interrupt(dir, "");
    edit(dir / "x.sigmf-meta", "/global/core:dataset", "precious");
    EXPECT_EQ(error_of([&] { (void)recover_recording(dir / "x"); }).code().value(), EINVAL);
    std::filesystem::remove(dir / "x.sigmf-data");
    std::filesystem::remove(dir / "x.sigmf-meta");
    interrupt(dir, "");
    std::filesystem::remove(dir / "x.sigmf-data");
    std::filesystem::create_symlink(dir / "precious", dir / "x.sigmf-data");
    write_text(dir / "x.sigmf-data.journal",
               "{\"iio_stream_journal\":1,\"sample_bytes\":4}\n{\"end\":0}\n");
    EXPECT_EQ(error_of([&] { (void)recover_recording(dir / "x"); }).code().value(), ELOOP);
    EXPECT_EQ(contents(dir / "precious"), ramp(0, 100));
}

TEST(Recording, AFifoInPlaceOfMetadataIsNotARecording)
{
    const TempDir dir;
    ASSERT_EQ(::mkfifo((dir / "x.sigmf-meta").c_str(), 0666), 0);
    EXPECT_EQ(error_of([&] { (void)check_recording(dir / "x"); }).code().value(), EINVAL);
    EXPECT_EQ(error_of([&] { (void)recover_recording(dir / "x"); }).code().value(), EINVAL);
}

// Killed when the data file was closed, its journal gone, and the metadata not concluded yet.
TEST(Recover, LossesInTheMetadataArePreserved)
{
    for (const char* journal :
         {"", "{\"iio_stream_journal\":1,\"sample_bytes\":4}\n{\"bytes\":20000}\n"}) {
        const TempDir dir;
        record(dir / "x", {{0, 5}, {1000, 50}});
        edit(dir / "x.sigmf-meta", "/global/iio_stream:state", "recording");
        if (*journal != '\0')
            write_text(dir / "x.sigmf-data.journal", journal);
        EXPECT_TRUE(recover_recording(dir / "x").needed);
        const Recording r = check_recording(dir / "x");
        EXPECT_TRUE(r.problems.empty()) << r.problems[0];
        EXPECT_EQ(r.gaps.lost_min, 55u);
        const Json m = file::load_metadata(dir / "x.sigmf-meta");
        EXPECT_EQ(m["captures"][0]["core:global_index"], 5);
        EXPECT_EQ(m["captures"][1]["core:global_index"], 995 + 55);
    }
}

TEST(Recover, SpaceReservedAndNeverWrittenIsCutOff)
{
    const TempDir dir;
    for (const char* journal :
         {"", "{\"iio_stream_journal\":1,\"sample_bytes\":4}\n{\"bytes\":33554432}\n"}) {
        interrupt(dir, journal);
        const std::string data = dir / "x.sigmf-data";
        ASSERT_EQ(::truncate(data.c_str(), 32 << 20), 0);
        const int fd = ::open(data.c_str(), O_RDONLY);
        const bool sparse = ::lseek(fd, 0, SEEK_HOLE) < (32 << 20);
        ::close(fd);
        if (!sparse)
            GTEST_SKIP() << "the file system of temporary files knows no holes";
        const Recovery done = recover_recording(dir / "x");
        EXPECT_GE(done.bytes, 40'000u);
        EXPECT_LT(done.bytes, 40'000u + 65'536u); // holes begin with a page
        EXPECT_TRUE(check_recording(dir / "x").problems.empty());
        std::filesystem::remove(data);
        std::filesystem::remove(dir / "x.sigmf-meta");
    }
}

TEST(Recover, HolesInAFinishedRecordingAreSamples)
{
    const TempDir dir;
    const std::string data = dir / "x.sigmf-data";
    record(dir / "x");
    ASSERT_EQ(::truncate(data.c_str(), 0), 0);
    ASSERT_EQ(::truncate(data.c_str(), 40'000), 0); // as cp --sparse would make it of zeros
    EXPECT_FALSE(recover_recording(dir / "x").needed);
    EXPECT_EQ(size_of(data), 40'000u);
}

TEST(Recover, AnInterruptionBeforeTheDataFileExistsLeavesAnEmptyRecording)
{
    const TempDir dir;
    interrupt(dir, "");
    std::filesystem::remove(dir / "x.sigmf-data");
    EXPECT_TRUE(check_recording(dir / "x").needs_recover);
    EXPECT_EQ(recover_recording(dir / "x").samples, 0u);
    EXPECT_TRUE(check_recording(dir / "x").problems.empty());
}

TEST(Recover, RawSamplesFollowTheirJournal)
{
    const TempDir dir;
    write_file(dir / "a.bin", ramp(0, 1000));
    write_text(dir / "a.bin.journal",
               "{\"iio_stream_journal\":1,\"sample_bytes\":4}\n{\"bytes\":2003}\n");
    EXPECT_TRUE(check_recording(dir / "a.bin").needs_recover);
    ASSERT_EQ(::truncate((dir / "a.bin").c_str(), 3994), 0);
    const Recovery done = recover_recording(dir / "a.bin");
    EXPECT_EQ(done.bytes, sys::reports_holes(dir / "a.bin") ? 3992u : 2000u);
    EXPECT_EQ(size_of(done.tail), 3994 - done.bytes);
    EXPECT_FALSE(check_recording(dir / "a.bin").needs_recover);
}

TEST(Recover, ARecordingInProgressIsLeftAlone)
{
    const TempDir dir;
    interrupt(dir, "{\"iio_stream_journal\":1,\"sample_bytes\":4}\n");
    const int fd = ::open((dir / "x.sigmf-data").c_str(), O_WRONLY);
    const Error error = error_of([&] { (void)recover_recording(dir / "x"); });
    EXPECT_EQ(error.code().value(), EBUSY);
    EXPECT_NE(std::string(error.what()).find(std::to_string(::getpid())), std::string::npos);
    ::close(fd);
    EXPECT_EQ(size_of(dir / "x.sigmf-data"), 40'000u);
    EXPECT_TRUE(recover_recording(dir / "x").needed);
    EXPECT_TRUE(check_recording(dir / "x").problems.empty());
}

TEST(Recover, ARecordingInProgressIsDetectedUnderAnyOfItsNames)
{
    const TempDir dir;
    interrupt(dir, "{\"iio_stream_journal\":1,\"sample_bytes\":4}\n");
    std::filesystem::create_hard_link(dir / "x.sigmf-data", dir / "y.bin");
    write_text(dir / "y.bin.journal",
               "{\"iio_stream_journal\":1,\"sample_bytes\":4}\n{\"end\":0}\n");
    const sys::UniqueFd fd = sys::open_file(dir / "x.sigmf-data", O_WRONLY);
    ASSERT_TRUE(sys::try_lock(fd.get(), sys::Lock::exclusive));
    EXPECT_EQ(error_of([&] { (void)recover_recording(dir / "y.bin"); }).code().value(), EBUSY);
    EXPECT_EQ(only_problem(dir / "x"), "it is being recorded");
    EXPECT_FALSE(check_recording(dir / "x").needs_recover);
    EXPECT_EQ(size_of(dir / "x.sigmf-data"), 40'000u);
}

TEST(Recover, AnyTornJournalIsReadUpToTheTear)
{
    const std::string whole = "{\"iio_stream_journal\":1,\"sample_bytes\":4}\n{\"bytes\":100}\n"
                              "{\"gap\":[1,2,3,4,\"counter\"]}\n{\"bytes\":200}\n";
    std::uint64_t last = 0;
    for (std::size_t length = 0; length <= whole.size(); ++length) {
        const file::JournalContents left = file::parse_journal(whole.substr(0, length));
        EXPECT_GE(left.bytes, last);
        EXPECT_TRUE(left.bytes == 0 || left.bytes == 100 || left.bytes == 200) << left.bytes;
        last = left.bytes;
    }
    EXPECT_EQ(last, 200u);
    for (const char* bad :
         {"{\"iio_stream_journal\":2,\"sample_bytes\":4}\n{\"bytes\":100}\n", "{\"bytes\":100}\n",
          "[1]\n", "\xff\n", "{\"iio_stream_journal\":1}\n{\"bytes\":8}"})
        EXPECT_EQ(file::parse_journal(bad).bytes, 0u) << bad;
    for (const char* bad :
         {"[1,2,3,4]", "[2,1,3,4,\"counter\"]", "[1,2,3,4,\"x\"]", "[-1,2,3,4,\"counter\"]"})
        EXPECT_TRUE(file::parse_journal("{\"iio_stream_journal\":1,\"sample_bytes\":4}\n{\"gap\":" +
                                        std::string(bad) + "}\n")
                        .losses.empty())
            << bad;
}

TEST(Recording, ItsPatternIsVerifiedFromItsPositionInTheStream)
{
    Recording part;
    EXPECT_EQ(verify_sink(part, "ramp"), "verify:ramp?first=0&first_exact=on");
    part.first_index = 1234;
    part.first_exact = false;
    EXPECT_EQ(verify_sink(part, "lanes"), "verify:lanes?first=1234&first_exact=off");
    for (const char* pattern : {"rampp", "tone", ""})
        expect_usage_error([&] { (void)verify_sink(part, pattern); },
                           "pattern=" + std::string(pattern), "ramp");
}

} // namespace
