// SPDX-License-Identifier: MIT
#include "file/sigmf/check.hpp"
#include "file/sigmf/metadata.hpp"
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

// The one problem of metadata in which `pointer` was set to `value`.
std::string problem_with(const std::string& pointer, const Json& value)
{
    Json metadata = described();
    metadata["annotations"].push_back({{"core:sample_start", 0}});
    metadata[Json::json_pointer(pointer)] = value;
    const auto problems = problems_of(metadata);
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
        const auto problems = problems_of(m);
        return problems.empty() ? "" : problems[0];
    };
    EXPECT_NE(without("", "captures").find("captures is missing"), std::string::npos);
    EXPECT_NE(without("global", "core:version").find("core:version is missing"), std::string::npos);
    EXPECT_NE(without("global", "core:extensions").find("'iio_stream'"), std::string::npos);
    Json m = described();
    m["captures"] = {
        {{"core:sample_start", 0}}, {{"core:sample_start", 9}}, {{"core:sample_start", 8}}};
    EXPECT_NE(problems_of(m).at(0).find("captures[2]: core:sample_start = 8"), std::string::npos);
    m = described();
    m["more"] = 1;
    EXPECT_NE(problems_of(m).at(0).find("more"), std::string::npos);
    m = described();
    m["global"]["core:extensions"].push_back(
        {{"name", "other"}, {"version", "1.0.0"}, {"optional", false}});
    EXPECT_NE(problems_of(m).at(0).find("other"), std::string::npos);
    EXPECT_FALSE(problems_of(Json::array()).empty());
    EXPECT_FALSE(problems_of(Json()).empty());
}

// Any key of valid metadata replaced by any kind of value: it is refused, or it can be read.
TEST(SigmfCheck, MetadataThatPassCanBeRead)
{
    Json whole = described(Format::parse("ci16_le", "4"));
    file::Outcome outcome;
    outcome.samples = 100;
    outcome.losses = {{{10, 20, 1, 3}}};
    conclude(whole, outcome);
    const Json flat = whole.flatten();
    const std::vector<Json> values{
        Json(),    Json(-1),   Json(0),          Json(UINT64_MAX),         Json(1e300),
        Json("x"), Json(true), Json::array({1}), Json::object({{"a", 1}}), Json(INT64_MAX)};
    int passed = 0;
    for (const auto& [pointer, _] : flat.items())
        for (const Json& value : values) {
            Json m = whole;
            m[Json::json_pointer(pointer)] = value;
            if (!problems_of(m).empty())
                continue;
            ++passed;
            EXPECT_NO_THROW((void)contents_of(m)) << pointer << " = " << value;
        }
    EXPECT_GT(passed, 10);
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
