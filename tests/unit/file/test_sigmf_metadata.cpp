// SPDX-License-Identifier: MIT
#include "file/sigmf/check.hpp"
#include "file/sigmf/file_pair.hpp"
#include "file/sigmf/metadata.hpp"
#include "file/sigmf/metadata_reader.hpp"
#include "support/errors.hpp"
#include "support/recordings.hpp"

#include <gtest/gtest.h>

namespace {

using namespace iio_stream;
using namespace iio_stream::file;
using namespace iio_stream::test;

Format scan(const std::string& types, std::size_t channels)
{
    std::string list;
    for (std::size_t i = 0; i < channels; ++i)
        list += (i == 0 ? "" : ",") + types;
    return Format::parse(list);
}

Format pair_of_scans(const std::string& type)
{
    Format format = scan(type, 2);
    format.channels[0].component = Component::in_phase;
    format.channels[1].component = Component::quadrature;
    return format;
}

StreamInfo stream_of(const Format& format)
{
    StreamInfo stream;
    stream.source = "sim:";
    stream.format = format;
    return stream;
}

TEST(SigmfNames, AnyNameOfARecordingMeansBothFiles)
{
    for (const char* name : {"d/x", "d/x.sigmf", "d/x.sigmf-meta", "d/x.sigmf-data"}) {
        EXPECT_EQ(pair_of(name).meta, "d/x.sigmf-meta");
        EXPECT_EQ(pair_of(name).data, "d/x.sigmf-data");
    }
    EXPECT_EQ(pair_of("x.wav").meta, "x.wav.sigmf-meta");
}

TEST(SigmfDatatype, EquivalentFormatsHaveTheSameName)
{
    const auto name = [](const Format& format) {
        const Datatype d = datatype_of(format, "x");
        return d.name + "*" + std::to_string(d.channels);
    };
    EXPECT_EQ(name(Format::parse("ci16_le")), "ci16_le*1");
    EXPECT_EQ(name(Format::parse("ci16_le", "4")), "ci16_le*2");
    EXPECT_EQ(name(Format::parse("ri16_le", "3")), "ri16_le*3");
    EXPECT_EQ(name(Format::parse("cf32_be")), "cf32_be*1");
    EXPECT_EQ(name(Format::parse("cu8")), "cu8*1");
    EXPECT_EQ(name(scan("le:s12/16>>0", 2)), "ri16_le*2");
    EXPECT_EQ(name(pair_of_scans("le:s12/16>>0")), "ci16_le*1");
    EXPECT_EQ(name(pair_of_scans("be:u14/16>>0")), "cu16_be*1");
    EXPECT_EQ(name(scan("le:s24/32>>0", 1)), "ri32_le*1");
    EXPECT_EQ(name(scan("le:s16/16X4>>0", 1)), "ri16_le*4");
}

TEST(SigmfDatatype, UnnamedFormatsAreConvertedToTheSmallestThatHoldsEveryBit)
{
    const auto to = [](const Format& format) { return conversion_to_datatype(format).to; };
    EXPECT_EQ(to(pair_of_scans("le:s12/16>>4")), "ci16_le");
    EXPECT_EQ(to(scan("le:u14/16>>2", 2)), "ri16_le");
    EXPECT_EQ(to(scan("be:s6/8>>2", 1)), "ri8");
    EXPECT_EQ(to(scan("le:s24/32>>8", 3)), "ri32_le");
    EXPECT_EQ(to(scan("le:u64/64>>0", 1)), "rf64_le");
    EXPECT_EQ(to(Format::parse("le:s16/16>>0,le:u16/16>>0")), "ri16_le");
    EXPECT_EQ(to(Format::parse("le:s16/16>>0,be:s16/16>>0")), "ri16_le");
    EXPECT_EQ(to(Format::parse("le:s16/16>>0,le:s24/32>>8")), "ri32_le");
    EXPECT_EQ(to(Format::parse("le:s16/16>>0,le:s64/64>>0")), "rf64_le");
    EXPECT_EQ(to(Format::parse("le:s16/16>>0,le:f32/32>>0")), "rf32_le");
    EXPECT_EQ(to(Format::parse("le:s32/32>>0,le:f32/32>>0")), "rf64_le");
    // Formats with a SigMF name are not converted, and repeated values cannot be converted.
    for (const char* kept : {"ci16_le", "cu8", "rf64_be", "le:s12/16>>0", "le:s12/16X2>>4"})
        EXPECT_EQ(to(Format::parse(kept)), "") << kept;
}

TEST(SigmfDatatype, UnnamedFormatsAreRefusedWithAHint)
{
    const auto refused = [](const Format& format, auto... words) {
        expect_usage_error([&] { (void)datatype_of(format, "x.sigmf-meta"); }, "x.sigmf-meta",
                           "convert=", ".bin", words...);
    };
    refused(pair_of_scans("le:s12/16>>4"), "le:s12/16>>4", "convert=ci16_le");
    refused(scan("le:s14/16>>2", 2), "convert=ri16_le", "shifted 2 bits");
    refused(scan("le:u64/64>>0", 1), "64-bit", "convert=rf32_le");
    refused(Format::parse("le:s16/16>>0,le:u16/16>>0"), "le:u16/16>>0");
    refused(Format::parse("le:s16/16>>0,be:s16/16>>0"), "be:s16/16>>0");
}

TEST(SigmfDatatype, TheFormatRoundTripsWithItsScanTypes)
{
    Format twelve = pair_of_scans("le:s12/16>>0");
    twelve.channels[0].scan_index = 4;
    twelve.channels[0].id = "voltage7_i";
    Format counted = scan("le:u32/32>>0", 2);
    counted.channels[1].component = Component::counter;
    for (const Format& format :
         {twelve, counted, Format::parse("ri16_be", "3"), scan("le:s16/16X4>>0", 1)}) {
        const Format again = format_of(datatype_of(format, "x"), channels_json(format));
        ASSERT_EQ(again.channels.size(), format.channels.size());
        EXPECT_EQ(again.sample_bytes, format.sample_bytes);
        for (std::size_t i = 0; i < format.channels.size(); ++i) {
            EXPECT_EQ(again.channels[i].id, format.channels[i].id);
            EXPECT_EQ(again.channels[i].type, format.channels[i].type);
            EXPECT_EQ(again.channels[i].scan_index, format.channels[i].scan_index);
            EXPECT_EQ(again.channels[i].component, format.channels[i].component);
            EXPECT_EQ(again.channels[i].offset, format.channels[i].offset);
        }
    }
}

TEST(SigmfMetadata, MetadataAreValidFromTheStartAndNameTheDevice)
{
    StreamInfo stream = stream_of(Format::parse("ci16_le"));
    stream.format.sample_rate = 30.72e6;
    stream.tuning.frequency = 2.4e9;
    stream.tuning.gain = 20;
    stream.tuning.hardware = "cf-ad9361-lpc behind ad9361-phy";
    const Json m = describe(stream, "x", 1'767'225'600'500'000'000, "board");
    EXPECT_TRUE(inspect(m).problems.empty()) << inspect(m).problems[0];
    EXPECT_EQ(m["global"]["core:datatype"], "ci16_le");
    EXPECT_EQ(m["global"]["core:version"], "1.2.5");
    EXPECT_EQ(m["global"]["core:sample_rate"], 30.72e6);
    EXPECT_EQ(m["global"]["core:hw"], "cf-ad9361-lpc behind ad9361-phy");
    EXPECT_EQ(m["global"]["iio_stream:state"], "recording");
    EXPECT_EQ(m["captures"][0]["core:frequency"], 2.4e9);
    EXPECT_EQ(m["captures"][0]["core:datetime"], "2026-01-01T00:00:00.500000Z");
    EXPECT_NE(m.dump().find("board"), std::string::npos);
    const Contents c = contents_of(Json::parse(text_of(m)));
    EXPECT_EQ(c.tuning.frequency, 2.4e9);
    EXPECT_EQ(c.tuning.gain, 20);
    EXPECT_EQ(c.format.sample_rate, 30.72e6);
    EXPECT_EQ(c.state, State::recording);
}

TEST(SigmfMetadata, UnknownAndUnrequestedFieldsAreOmitted)
{
    const Json m = describe(stream_of(Format::parse("ci16_le")), "x", 0, "");
    EXPECT_TRUE(inspect(m).problems.empty());
    for (const char* key : {"core:sample_rate", "core:hw", "iio_stream:hostname"})
        EXPECT_FALSE(m["global"].contains(key)) << key;
    EXPECT_FALSE(m["captures"][0].contains("core:frequency"));
    EXPECT_FALSE(m["captures"][0].contains("core:datetime"));
}

TEST(SigmfMetadata, GapsStartCapturesAndReadBackUnchanged)
{
    Json m = described();
    file::Outcome outcome;
    outcome.samples = 1000;
    outcome.losses = {{{100, 100, 7, 7, Evidence::counter}},
                      {{150, 200, 1, 50, Evidence::overflow_bit}},
                      {{300, 320, 0, kUnknown, Evidence::starvation}},
                      {{1000, 1000, 5, 5, Evidence::counter}}};
    write_outcome(m, outcome);
    EXPECT_TRUE(inspect(m).problems.empty()) << inspect(m).problems[0];
    const Json& captures = m["captures"];
    ASSERT_EQ(captures.size(), 4u);
    EXPECT_EQ(captures[1]["core:sample_start"], 100);
    EXPECT_EQ(captures[1]["core:global_index"], 107);
    EXPECT_FALSE(captures[1].contains("iio_stream:index_exact"));
    EXPECT_EQ(captures[2]["core:sample_start"], 200);
    EXPECT_EQ(captures[2]["core:global_index"], 208);
    EXPECT_EQ(captures[2]["iio_stream:index_exact"], false);
    EXPECT_EQ(captures[3]["core:global_index"], 328);
    ASSERT_EQ(m["annotations"].size(), 3u); // a loss after the last sample is not in the file
    EXPECT_EQ(m["annotations"][1]["iio_stream:evidence"], "overflow-bit");
    const Contents c = contents_of(Json::parse(text_of(m)));
    ASSERT_EQ(c.gaps.size(), 3u);
    for (std::size_t i = 0; i < 3; ++i) {
        const Gap &a = c.gaps[i], &b = outcome.losses[i].gap;
        EXPECT_EQ(a.offset_min, b.offset_min);
        EXPECT_EQ(a.offset_max, b.offset_max);
        EXPECT_EQ(a.lost_min, b.lost_min);
        EXPECT_EQ(a.lost_max, b.lost_max);
        EXPECT_EQ(a.evidence, b.evidence);
    }
    EXPECT_EQ(c.samples, 1000u);
}

TEST(SigmfMetadata, OverlappingAndAdjacentGapsStaySorted)
{
    Json m = described();
    file::Outcome outcome;
    outcome.samples = 1000;
    outcome.losses = {
        {{0, 0, 3, 3}}, {{50, 400, 1, 9}}, {{60, 80, 2, 2}}, {{80, 80, 4, 4}}, {{990, 2000, 1, 1}}};
    write_outcome(m, outcome);
    EXPECT_TRUE(inspect(m).problems.empty()) << inspect(m).problems[0];
    ASSERT_EQ(m["captures"].size(), 3u); // 0, 80 (two gaps), 400
    EXPECT_EQ(m["captures"][0]["core:global_index"], 3);
    EXPECT_EQ(m["captures"][1]["core:global_index"], 80 + 9);
    EXPECT_EQ(m["captures"][2]["core:global_index"], 400 + 10);
    EXPECT_EQ(m["annotations"][4]["core:sample_count"], 10); // up to the end of the file
}

TEST(SigmfMetadata, GapsOfForeignRecordingsAreJumpsOfTheGlobalIndex)
{
    Json m{
        {"global", {{"core:datatype", "cf32_le"}, {"core:version", "1.2.0"}, {"core:offset", 10}}},
        {"captures",
         {{{"core:sample_start", 10}},
          {{"core:sample_start", 110}, {"core:global_index", 210}},
          {{"core:sample_start", 200}, {"core:global_index", 300}},
          {{"core:sample_start", 300}, {"core:global_index", 401}}}},
        {"annotations", Json::array()}};
    EXPECT_TRUE(inspect(m).problems.empty());
    const Contents c = contents_of(m);
    ASSERT_EQ(c.gaps.size(), 2u);
    EXPECT_EQ(c.gaps[0].offset_min, 100u);
    EXPECT_EQ(c.gaps[0].lost_min, 100u);
    EXPECT_EQ(c.gaps[1].offset_max, 290u);
    EXPECT_EQ(c.gaps[1].lost_max, 1u);
}

} // namespace
