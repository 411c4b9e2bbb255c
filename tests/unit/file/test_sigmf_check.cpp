// SPDX-License-Identifier: MIT
#include "file/sigmf/check.hpp"
#include "file/sigmf/metadata.hpp"
#include "file/sigmf/metadata_reader.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/recordings.hpp"
#include "support/temp_dir.hpp"

#include <gtest/gtest.h>
#include <random>

namespace {

using namespace iio_stream;
using namespace iio_stream::file;
using namespace iio_stream::test;

// Returns the only problem of metadata in which `pointer` was set to `value`.
std::string problem_with(const std::string& pointer, const Json& value)
{
    Json metadata = described();
    metadata["annotations"].push_back({{"core:sample_start", 0}});
    metadata[Json::json_pointer(pointer)] = value;
    const auto problems = inspect(metadata).problems;
    EXPECT_FALSE(problems.empty()) << pointer << " = " << value;
    return problems.empty() ? "" : problems[0];
}

TEST(SigmfCheck, EachMistakeIsNamedWithItsKeyAndValue)
{
    const auto expect = [](const std::string& pointer, const Json& value) {
        const std::string key = pointer.substr(pointer.rfind('/') + 1);
        const std::string problem = problem_with(pointer, value);
        EXPECT_NE(problem.find(key), std::string::npos) << problem;
        EXPECT_NE(problem.find(value.dump()), std::string::npos) << problem;
    };
    for (const Json& bad : {Json("ci16"), Json("ci8_le"), Json("ci64_le"), Json("xf32_le"), Json(5),
                            Json("le:s16/16>>0")})
        expect("/global/core:datatype", bad);
    for (const Json& bad : {Json("1.2"), Json("v1.2.5"), Json("2.0.0"), Json(1.2)})
        expect("/global/core:version", bad);
    for (const Json& bad : {Json(0), Json(-1), Json("1"), Json(1.5)})
        expect("/global/core:num_channels", bad);
    for (const Json& bad : {Json(0), Json(1e13), Json("1M")})
        expect("/global/core:sample_rate", bad);
    expect("/global/core:sha512", "abc");
    expect("/global/core:recorder", 1);
    expect("/global/core:trailing_bytes", 4);
    expect("/global/core:dataset", "../x");
    expect("/global/core:extensions", "iio_stream");
    expect("/captures/0/core:sample_start", -1);
    expect("/captures/0/core:frequency", 1e13);
    for (const char* bad : {"2026-01-01", "2026-13-01T00:00:00Z", "2026-01-01T00:00:00+01:00"})
        expect("/captures/0/core:datetime", bad);
    expect("/captures/0/core:header_bytes", 4);
    expect("/annotations/0/core:sample_count", -1);
    expect("/annotations/0/core:label", 1);
    expect("/annotations/0/core:uuid", "x");
    EXPECT_NE(problem_with("/annotations/0/core:freq_lower_edge", 1.0).find("only together"),
              std::string::npos);
}

TEST(SigmfCheck, MissingUnsortedOrUndeclaredItemsAreFound)
{
    const auto without = [](const std::string& object, const std::string& key) {
        Json m = described();
        (object.empty() ? m : m[object]).erase(key);
        const auto problems = inspect(m).problems;
        return problems.empty() ? "" : problems[0];
    };
    EXPECT_NE(without("", "captures").find("captures is missing"), std::string::npos);
    EXPECT_NE(without("global", "core:version").find("core:version is missing"), std::string::npos);
    EXPECT_NE(without("global", "core:extensions").find("'iio_stream'"), std::string::npos);
    Json m = described();
    m["captures"] = {
        {{"core:sample_start", 0}}, {{"core:sample_start", 9}}, {{"core:sample_start", 8}}};
    EXPECT_NE(inspect(m).problems.at(0).find("captures[2]: core:sample_start = 8"),
              std::string::npos);
    m = described();
    m["more"] = 1;
    EXPECT_NE(inspect(m).problems.at(0).find("more"), std::string::npos);
    m = described();
    m["global"]["core:extensions"].push_back(
        {{"name", "other"}, {"version", "1.0.0"}, {"optional", false}});
    EXPECT_NE(inspect(m).problems.at(0).find("other"), std::string::npos);
    EXPECT_FALSE(inspect(Json::array()).problems.empty());
    EXPECT_FALSE(inspect(Json()).problems.empty());
}

// Replaces the value of each key in valid metadata with each kind of value: the result is refused,
// or it can be read.
TEST(SigmfCheck, MetadataThatPassTheCheckCanBeRead)
{
    Json whole = described(Format::parse("ci16_le", "4"));
    file::Outcome outcome;
    outcome.samples = 100;
    outcome.losses = {{{10, 20, 1, 3}}};
    write_outcome(whole, outcome);
    const Json flat = whole.flatten();
    const std::vector<Json> values{
        Json(),    Json(-1),   Json(0),          Json(UINT64_MAX),         Json(1e300),
        Json("x"), Json(true), Json::array({1}), Json::object({{"a", 1}}), Json(INT64_MAX)};
    int passed = 0;
    for (const auto& [pointer, _] : flat.items())
        for (const Json& value : values) {
            Json m = whole;
            m[Json::json_pointer(pointer)] = value;
            if (!inspect(m).problems.empty())
                continue;
            ++passed;
            EXPECT_NO_THROW((void)contents_of(m)) << pointer << " = " << value;
        }
    EXPECT_GT(passed, 10);
}

// The same for repairs: the inspection reports an obstacle, or it repairs the metadata so that only
// problems that do not matter to a reader are left.
TEST(SigmfCheck, RepairedMetadataCanBeRead)
{
    Json whole = described(Format::parse("ci16_le", "4"));
    whole["captures"][0]["core:header_bytes"] = 0;
    file::Outcome outcome;
    outcome.samples = 100;
    outcome.losses = {{{10, 20, 1, 3}}};
    write_outcome(whole, outcome);
    std::vector<Json::json_pointer> places;
    const Json flat = whole.flatten();
    for (const auto& [pointer, _] : flat.items())
        for (Json::json_pointer at(pointer); !at.empty(); at = at.parent_pointer())
            places.push_back(at);
    const std::vector<Json> values{
        Json(),    Json(-1),   Json(0),         Json(UINT64_MAX), Json(1e300),
        Json("x"), Json(true), Json(INT64_MAX), Json::array({1}), Json::object({{"a", 1}})};
    int read = 0;
    for (const Json::json_pointer& at : places)
        for (const Json& value : values) {
            Json m = whole;
            m[at] = value;
            const Inspection found = inspect(m);
            EXPECT_EQ(found.problems.empty(), found.warnings.empty());
            EXPECT_TRUE(found.obstacle.empty() || !found.problems.empty());
            if (!found.obstacle.empty())
                continue;
            ++read;
            EXPECT_NO_THROW((void)contents_of(found.repaired)) << at << " = " << value;
            for (const std::string& problem : inspect(found.repaired).problems) {
                const bool harmless = problem.find("core:version") != std::string::npos ||
                                      problem.find("core:global_index") != std::string::npos ||
                                      problem.find("does not declare") != std::string::npos ||
                                      problem.find("only with core:dataset") != std::string::npos;
                EXPECT_TRUE(harmless) << at << " = " << value << ": " << problem;
            }
        }
    EXPECT_GT(read, 100);
}

TEST(SigmfCheck, TimesOfAnyTimeZoneAreReadAsUtc)
{
    const auto read_as = [](const char* text) {
        Json m = described();
        m["captures"][0]["core:datetime"] = text;
        return inspect(m).repaired["captures"][0].value("core:datetime", "");
    };
    EXPECT_EQ(read_as("2024-03-01T10:20:30.123Z"), "2024-03-01T10:20:30.123Z");
    EXPECT_EQ(read_as("2024-03-01T10:20:30"), "2024-03-01T10:20:30Z");
    EXPECT_EQ(read_as("2024-03-01T10:20:30.5z"), "2024-03-01T10:20:30.5Z");
    EXPECT_EQ(read_as("2024-03-01T10:20:30.5+00:00"), "2024-03-01T10:20:30.5Z");
    EXPECT_EQ(read_as("2024-03-01T00:20:30+01:30"), "2024-02-29T22:50:30Z");
    EXPECT_EQ(read_as("2024-03-01T23:20:30-0100"), "2024-03-02T00:20:30Z");
    EXPECT_EQ(read_as("yesterday"), "");
}

TEST(SigmfCheck, TruncatedAndDeeplyNestedTextIsRefused)
{
    const TempDir dir;
    const std::string whole = text_of(described());
    std::mt19937 random{1};
    for (int i = 0; i < 300; ++i) {
        std::string text = whole.substr(0, random() % (whole.size() - 2));
        if (i % 2 != 0 && !text.empty())
            text[random() % text.size()] = static_cast<char>(random());
        write_text(dir / "x.sigmf-meta", text);
        EXPECT_EQ(error_of([&] { (void)load_metadata(dir / "x.sigmf-meta"); }).fault(),
                  Fault::storage);
    }
    write_text(dir / "x.sigmf-meta", std::string(1'000'000, '['));
    EXPECT_NE(std::string(error_of([&] { (void)load_metadata(dir / "x.sigmf-meta"); }).what())
                  .find("deep"),
              std::string::npos);
}

} // namespace
