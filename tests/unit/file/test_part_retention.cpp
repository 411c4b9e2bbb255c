// SPDX-License-Identifier: MIT
#include "file/parts/part_retention.hpp"
#include "file/parts/retention_rule.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/temp_dir.hpp"

#include <filesystem>
#include <gtest/gtest.h>

namespace {

using namespace iio_stream;
using namespace iio_stream::test;

constexpr std::int64_t kRetentionSecondNs = 1'000'000'000;

/// A closed part of 100 bytes.
class ClosedPart final : public file::Part {
public:
    ClosedPart(const TempDir& dir, const std::string& name) : name_(dir / name)
    {
        write_text(name_ + ".sigmf-meta", "{}");
        write_text(name_ + ".sigmf-data", std::string(100, '0'));
    }
    std::unique_ptr<file::Part> sibling(std::size_t) const override { return nullptr; }
    void follow(file::Part&) override {}
    void close(Stop) override {}
    bool whole() const noexcept override { return true; }
    std::vector<std::string> files() const override
    {
        return {name_ + ".sigmf-meta", name_ + ".sigmf-data"};
    }
    SinkTraits traits() const noexcept override { return {}; }
    std::optional<Hop> plan(const MemoryTraits&, std::string&) const override { return {}; }
    bool prepare(const StreamInfo&, BlockPool&, int, std::string&) override { return true; }
    void submit(Block) override {}
    Wait wait() override { return {}; }
    void service() override {}
    std::size_t pending() const noexcept override { return 0; }
    std::optional<std::uint64_t> stored() const noexcept override { return 100; }

private:
    std::string name_;
};

struct RecordedParts {
    explicit RecordedParts(const std::string& rule)
        : retention(
              file::RetentionRule(rule), 4,
              [this](Event event) { events.push_back(std::move(event)); }, bytes)
    {}

    void add(const std::string& name, std::int64_t end_ns = 0)
    {
        retention.add(ClosedPart(dir, name), end_ns);
    }
    std::string there() const
    {
        std::string names;
        for (const char name : std::string("abcdef"))
            if (std::filesystem::exists(dir / std::string(1, name) + ".sigmf-data"))
                names += name;
        return names;
    }

    TempDir dir;
    std::vector<Event> events;
    std::atomic<std::uint64_t> bytes{7};
    file::PartRetention retention;
};

TEST(PartRetention, TheOldestPartsAreRemovedInTheOrderOfAdditionNotByName)
{
    RecordedParts recording("last:250");
    for (const char* name : {"f", "a", "e"})
        recording.add(name);
    EXPECT_EQ(recording.there(), "ae");
    EXPECT_EQ(recording.bytes, 200U);
    EXPECT_EQ(recording.retention.report(), (nlohmann::json{{"removed", 1},
                                                            {"removed_bytes", 100},
                                                            {"removed_samples", 25},
                                                            {"last_error", nullptr}}));
    EXPECT_EQ(recording.retention.files().size(), 2U);
    EXPECT_EQ(recording.events.at(0).kind, EventKind::removed);
}

TEST(PartRetention, TheNewestPartAlwaysStays)
{
    RecordedParts recording("last:1");
    for (const char* name : {"a", "b"})
        recording.add(name);
    EXPECT_EQ(recording.there(), "b");
}

TEST(PartRetention, TheAgeIsMeasuredFromTheNewestPart)
{
    RecordedParts recording("last:2s");
    for (const std::int64_t second : {1, 2, 3})
        recording.add(std::string(1, "abc"[second - 1]), second * kRetentionSecondNs);
    EXPECT_EQ(recording.there(), "abc") << "the last sample of a is 2 s old, not more";
    recording.add("d", 5 * kRetentionSecondNs);
    EXPECT_EQ(recording.there(), "cd");
}

TEST(PartRetention, APartThatWasMovedAwayIsNotAFailureAndNotCounted)
{
    RecordedParts recording("last:150");
    recording.add("a");
    std::filesystem::remove(recording.dir / "a.sigmf-data");
    recording.add("b");
    EXPECT_EQ(recording.retention.report()["removed"], 0);
    EXPECT_EQ(recording.bytes, 100U);
    EXPECT_TRUE(std::filesystem::exists(recording.dir / "a.sigmf-meta")) << "it can be moved next";
    recording.retention.check();
}

TEST(PartRetention, AReplacedFileStaysAndIsReportedOnceUntilItIsGone)
{
    RecordedParts recording("last:150");
    recording.add("a");
    std::filesystem::remove(recording.dir / "a.sigmf-data");
    write_text(recording.dir / "a.sigmf-data", "mine");
    for (const char* name : {"b", "c"})
        recording.add(name);
    EXPECT_EQ(recording.there(), "ac");
    EXPECT_EQ(error_of([&] { recording.retention.check(); }).code().value(), EBUSY);
    std::size_t reports = 0;
    for (const Event& event : recording.events)
        reports += event.kind == EventKind::not_removed ? 1 : 0;
    EXPECT_EQ(reports, 1U);
    std::filesystem::remove(recording.dir / "a.sigmf-data");
    recording.add("d");
    recording.retention.check();
}

TEST(PartRetention, APartWithASecondHardLinkIsRemoved)
{
    RecordedParts recording("last:150");
    recording.add("a");
    std::filesystem::create_hard_link(recording.dir / "a.sigmf-data", recording.dir / "saved");
    recording.add("b");
    EXPECT_EQ(recording.there(), "b");
    EXPECT_TRUE(std::filesystem::exists(recording.dir / "saved"));
}

TEST(RetentionRule, AnInvalidRuleIsRefusedWithAHint)
{
    for (const char* text :
         {"", "some", "last", "last:", "last:x", "last:-1", "last:xs", "last:5x"}) {
        const Error error = error_of([&] { file::RetentionRule{text}; });
        EXPECT_EQ(error.fault(), Fault::usage);
        EXPECT_EQ(error.detail(), std::string("keep=") + text + " is not a valid rule");
        EXPECT_FALSE(error.hint().empty());
    }
    EXPECT_EQ(file::RetentionRule("last:5M").bytes(), 5'000'000U);
    EXPECT_EQ(file::RetentionRule("last:2min").nanoseconds(), 120 * kRetentionSecondNs);
}

} // namespace
