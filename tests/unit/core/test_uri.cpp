// SPDX-License-Identifier: MIT
#include "core/options/registry.hpp"
#include "iio_stream/endpoint.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/temp_dir.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>

namespace {

using namespace iio_stream;
using namespace iio_stream::test;

TEST(Uri, SchemeRestAndOptionsAreSplit)
{
    const Uri uri = Uri::parse("file:a/b.ci16?overwrite=on&sync=end");
    EXPECT_EQ(uri.scheme, "file");
    EXPECT_EQ(uri.rest, "a/b.ci16");
    EXPECT_EQ(uri.options.values(),
              (std::map<std::string, std::string>{{"overwrite", "on"}, {"sync", "end"}}));
}

TEST(Uri, ADeviceIsPlayedAtTheRecordingsRateByDefault)
{
    EXPECT_EQ(play_sink("iio:dac").text(), "iio:dac?rate=auto");
    EXPECT_EQ(play_sink("iio:dac?cyclic=on").text(), "iio:dac?cyclic=on&rate=auto");
    EXPECT_EQ(play_sink("iio:dac?rate=1M").text(), "iio:dac?rate=1M");
    EXPECT_EQ(play_sink("iio:dac?attr.x=a%26rate=1").text(), "iio:dac?attr.x=a%26rate=1&rate=auto");
    EXPECT_EQ(play_sink("null:?rate=1M").text(), "null:?rate=1M");
    EXPECT_EQ(play_sink("verify:ramp").text(), "verify:ramp");
}

TEST(Uri, AWordWithoutAKnownSchemeIsALiteralPath)
{
    for (const char* path : {"capture.ci16", "a?b", "a?", "a?B c=d", "100%", "rf:dump:2.ci16",
                             "./x:y", "-", "a b", "Sim:x", "s:x"}) {
        const Uri uri = Uri::parse(path);
        EXPECT_EQ(uri.scheme, "file");
        EXPECT_EQ(uri.rest, path);
        EXPECT_TRUE(uri.options.values().empty());
    }
}

TEST(Uri, OptionsOfAPathFollowItsQuestionMark)
{
    const Uri uri = Uri::parse("100%/a?b.ci16?overwrite=on&sync=end");
    EXPECT_EQ(uri.scheme, "file");
    EXPECT_EQ(uri.rest, "100%/a?b.ci16");
    EXPECT_EQ(uri.options.values().at("overwrite"), "on");
    EXPECT_EQ(uri.options.values().at("sync"), "end");
    EXPECT_EQ(Uri::parse("file:a%3Foverwrite=on").rest, "a?overwrite=on");
}

TEST(Uri, ATypoInTheSchemeIsNamed)
{
    expect_usage_error([] { Uri::parse("simm:"); }, "simm:", "did you mean 'sim:'?", "file:simm:");
    expect_usage_error([] { Uri::parse("verfy:ramp"); }, "did you mean 'verify:'?");
    expect_usage_error([] { Uri::parse("gopher:"); }, "known: ");
    expect_usage_error([] { Uri::parse("null"); }, "'null'", "did you mean 'null:'?", "file:null");
    EXPECT_EQ(Uri::parse("./null").rest, "./null");
    EXPECT_EQ(Uri::parse("file:null").rest, "null");
}

TEST(Uri, ValuesAndRestArePercentDecoded)
{
    const Uri uri = Uri::parse("file:a%3Fb%20c?name=x%26y%3d%25");
    EXPECT_EQ(uri.rest, "a?b c");
    EXPECT_EQ(uri.options.values().at("name"), "x&y=%");
    EXPECT_EQ(Uri::parse("file:%41").rest, "A");
}

TEST(Uri, AnInvalidPercentCodeIsAUsageErrorWithAHint)
{
    for (const char* text : {"file:%", "file:a%4", "file:%4x", "file:%g0", "sim:?seed=%"})
        expect_usage_error([&] { Uri::parse(text); }, "%25");
}

TEST(Uri, OptionsWithoutAKeyOrAnEqualsSignAreRefused)
{
    for (const char* text : {"sim:?rate", "sim:?=1", "sim:?rate=1&&seed=2", "sim:?&rate=1"})
        expect_usage_error([&] { Uri::parse(text); }, "key=value");
    EXPECT_EQ(Uri::parse("sim:?").options.values().size(), 0u);
    EXPECT_EQ(Uri::parse("sim:?rate=").options.values().at("rate"), "");
    EXPECT_EQ(Uri::parse("sim:?a=b=c").options.values().at("a"), "b=c");
}

TEST(Uri, AnOptionGivenTwiceIsRefused)
{
    expect_usage_error([] { Uri::parse("sim:?rate=1&rate=1"); }, "rate", "twice");
}

TEST(Uri, TheTextParsesBackToTheSameUri)
{
    Uri uri;
    uri.scheme = "file";
    uri.rest = "a b?c%d&e#\xc3\xa9\x7f";
    uri.options.set("format", "ci16_le");
    uri.options.set("name", "x&y=z %");
    const Uri again = Uri::parse(uri.text());
    EXPECT_EQ(again.scheme, uri.scheme);
    EXPECT_EQ(again.rest, uri.rest);
    EXPECT_EQ(again.options.values(), uri.options.values());
    EXPECT_EQ(Uri::parse("sim:?rate=2M&seed=3").text(), "sim:?rate=2M&seed=3");
}

constexpr OptionTable kTable{
    Option{"rate", OptionType::rate, "RATE", "S/s", "2", "", OptionSide::both, "sample_rate"},
    Option{"pattern", OptionType::choice, "ramp|tone", "", "tone", ""},
    Option{"direct", OptionType::choice, "auto|on|off", "", "auto", ""},
    Option{"on-full", OptionType::choice, "block|drop|SIZE", "", "block", ""},
    Option{"attr.", OptionType::text, "VALUE", "", "", ""},
};

TEST(Options, AnOptionIsTakenOnce)
{
    Options options;
    options.set("rate", "1");
    EXPECT_EQ(options.take(kTable["rate"]), "1");
    EXPECT_EQ(options.take(kTable["rate"]), std::nullopt);
    EXPECT_EQ(options.take_or_standard(kTable["rate"]), "2");
}

constexpr OptionTable kTypes{
    Option{"bytes", OptionType::size, "SIZE", "bytes", "4Ki", ""},
    Option{"rate", OptionType::rate, "RATE", "S/s", "2M", ""},
    Option{"wait", OptionType::time, "TIME", "s", "30s", ""},
    Option{"loop", OptionType::on_off, "", "", "off", ""},
};

TEST(Options, AnOptionIsTakenInItsType)
{
    using namespace std::chrono_literals;
    Options options;
    for (const auto& [key, value] : {std::pair("bytes", "1Mi"), std::pair("rate", "2.4G"),
                                     std::pair("wait", "5ms"), std::pair("loop", "yes")})
        options.set(key, value);
    EXPECT_EQ(options.take_size(kTypes["bytes"]), 1048576u);
    EXPECT_EQ(options.take_rate(kTypes["rate"]), 2.4e9);
    EXPECT_EQ(options.take_duration(kTypes["wait"]), 5ms);
    EXPECT_EQ(options.take_switch(kTypes["loop"]), true);
    EXPECT_EQ(options.take_memory_size(kTypes["bytes"]), std::nullopt);
    EXPECT_EQ(options.take_size_or_standard(kTypes["bytes"]), 4096u);
    EXPECT_EQ(options.take_rate_or_standard(kTypes["rate"]), 2e6);
    EXPECT_EQ(options.take_duration_or_standard(kTypes["wait"]), 30s);
    EXPECT_EQ(options.take_switch_or_standard(kTypes["loop"]), false);
    options.set("wait", "soon");
    expect_usage_error([&] { (void)options.take_duration(kTypes["wait"]); }, "wait=soon");
}

TEST(Options, PrefixedOptionsAreTakenTogetherAndInOrder)
{
    Options options;
    options.set("attr.b", "2");
    options.set("attr.a/x", "1");
    options.set("attrs", "3");
    options.set("zz", "4");
    const auto taken = options.take_prefixed(kTable["attr."]);
    EXPECT_EQ(taken, (std::vector<std::pair<std::string, std::string>>{{"a/x", "1"}, {"b", "2"}}));
    EXPECT_EQ(options.values().size(), 2u);
}

TEST(Options, DashesUnderscoresAndAliasesMeanTheSameOption)
{
    Options options;
    options.set("sample-rate", "1");
    options.set("on_full", "drop");
    EXPECT_TRUE(options.has(kTable["rate"]));
    EXPECT_EQ(options.get(kTable["rate"]), "1");
    EXPECT_EQ(options.take(kTable["on-full"]), "drop");
    EXPECT_EQ(options.take(kTable["rate"]), "1");
    EXPECT_TRUE(options.values().empty());
}

TEST(Options, TwoKeysOfOneOptionAreRefused)
{
    Options options;
    options.set("sample_rate", "1");
    options.set("rate", "1");
    expect_usage_error([&] { (void)options.take(kTable["rate"]); }, "rate is given twice");
}

TEST(Options, AnAttributesNameIsTakenLiterally)
{
    Options options;
    options.set("attr.a-b/c_d", "1");
    EXPECT_EQ(options.take_prefixed(kTable["attr."])[0].first, "a-b/c_d");
    EXPECT_FALSE(kTable["attr."].is("attr."));
}

TEST(Options, AChoiceAcceptsOnlyItsValues)
{
    Options options;
    options.set("pattern", "tune");
    expect_usage_error([&] { (void)options.take(kTable["pattern"]); }, "pattern=tune",
                       "did you mean 'tone'?");
    // The code that reads the value handles placeholders and the synonyms of a switch.
    options.set("on-full", "4Mi");
    options.set("direct", "yes");
    EXPECT_EQ(options.take(kTable["on-full"]), "4Mi");
    EXPECT_EQ(options.take(kTable["direct"]), "yes");
}

TEST(Registry, AnOptionOfTheOtherSideIsRefusedWithAHint)
{
    Uri sink = Uri::parse("zmq:tcp://127.0.0.1:1?format=ci16_le");
    expect_usage_error([&] { detail::make_sink(sink); }, "no option 'format' as a sink",
                       "only as a source");
    Uri source = Uri::parse("file:/nowhere.ci16?overwrite=on");
    expect_usage_error([&] { detail::make_source(source); }, "no option 'overwrite' as a source",
                       "only as a sink");
}

TEST(Registry, AnOptionOfAnotherKindOfEndpointIsRefused)
{
    const TempDir dir;
    write_text(dir / "a.ci16", "1234");
    Uri recording = Uri::parse("file:/nowhere.sigmf-meta?frequency=1M");
    expect_usage_error([&] { detail::make_source(recording); },
                       "no option 'frequency': it is a SigMF recording", "help file");
    Uri samples = Uri::parse("file:" + (dir / "b.ci16") + "?hash=end");
    expect_usage_error([&] { detail::make_sink(samples); },
                       "no option 'hash': it is a file without metadata", "help file");
    Uri remote = Uri::parse("iio:adc?uri=ip:192.0.2.1&path=dmabuf");
    expect_usage_error([&] { detail::make_source(remote); },
                       "no option 'path': it is a remote device", "help iio");
}

const Scheme& scheme_of(const std::string& text)
{
    const std::string name = Uri::parse(text).scheme;
    return *std::ranges::find(schemes(), name, &Scheme::name);
}

bool is_common(const Option& option)
{
    return std::ranges::find(common_options(), option.key, &Option::key) != common_options().end();
}

// A valid value, which lets the endpoint be created without other options.
std::string value_of(const Option& option)
{
    static const std::map<std::string_view, std::string> kTexts{
        {"format", "ci16_le"},
        {"channels", "voltage0,voltage1"},
        {"channel_names", "2"},
        {"zeros", "1-2"},
        {"datetime", "2026-12-01T00:00:00Z"}};
    if (const auto text = kTexts.find(option.key); text != kTexts.end())
        return text->second;
    if (const auto words = option.words(); !words.empty())
        return words.front();
    return option.type == OptionType::text ? "text" : "1";
}

// Options whose value must name something that exists, or another option.
bool stands_alone(const Option& option)
{
    return !option.key.starts_with("curve_") && !option.key.starts_with("archive") &&
           option.key != "attr.";
}

TEST(Registry, EachOptionOfATableIsReadByItsEndpoint)
{
    const TempDir dir;
    write_text(dir / "a.ci16", "1234");
    const std::string raw = "file:" + (dir / "a.ci16");
    for (const std::string& text : std::vector<std::string>{"sim:", "zmq:tcp://127.0.0.1:1", raw})
        for (const Option& option : options_of(scheme_of(text), OptionSide::source)) {
            Uri uri = Uri::parse(text);
            if (is_common(option) || !stands_alone(option))
                continue;
            uri.options.set("format", "ci16_le");
            if (option.key != "format")
                uri.options.set(std::string(option.key), value_of(option));
            EXPECT_NO_THROW((void)detail::make_source(uri)) << uri.text();
        }
    const std::string recording = "file:" + (dir / "b.sigmf-meta");
    for (const std::string& text : std::vector<std::string>{
             "null:", "verify:ramp", "tcp:127.0.0.1:1", "zmq:tcp://127.0.0.1:1", recording})
        for (const Option& option : options_of(scheme_of(text), OptionSide::sink)) {
            Uri uri = Uri::parse(text);
            if (is_common(option) || !stands_alone(option))
                continue;
            uri.options.set(std::string(option.key), value_of(option));
            EXPECT_NO_THROW((void)detail::make_sink(uri)) << uri.text();
        }
}

TEST(Registry, AnOptionThatAnEndpointDoesNotReadIsAnError)
{
    register_scheme({.name = "deaf",
                     .source = {},
                     .sink = [](Uri&) -> std::unique_ptr<Sink> { return nullptr; },
                     .options = {Option{"gain", OptionType::number, "GAIN", "dB", "0", ""}}});
    Uri uri = Uri::parse("deaf:?gain=3");
    EXPECT_THROW((void)detail::make_sink(uri), Error);
    register_scheme({"deaf", {}, {}});
}

TEST(Registry, AMistypedOptionIsFoundBeforeADeviceIsOpened)
{
    Uri uri = Uri::parse("iio:no-such-device?gian=3");
    expect_usage_error([&] { detail::make_source(uri); }, "gian", "did you mean 'gain'?");
}

TEST(Registry, ASchemeForOneDirectionOnlySuggestsAnotherScheme)
{
    Uri null = Uri::parse("null:");
    expect_usage_error([&] { detail::make_source(null); }, "cannot be read from", "sim:");
    Uri sim = Uri::parse("sim:");
    expect_usage_error([&] { detail::make_sink(sim); }, "cannot be written to", "null:");
}

TEST(Registry, AnUnknownOptionIsRefusedByTheEndpoint)
{
    Uri sim = Uri::parse("sim:?ratte=1M");
    expect_usage_error([&] { detail::make_source(sim); }, "ratte", "did you mean 'rate'?");
    Uri null = Uri::parse("null:?frobnicate=1");
    expect_usage_error([&] { detail::make_sink(null); }, "frobnicate", "known: ");
    Uri verify = Uri::parse("verify:ramp?x=1");
    expect_usage_error([&] { detail::make_sink(verify); }, "x");
}

TEST(Registry, ACustomEndpointIsFoundByItsSchemeAndCanReplaceAnother)
{
    int made = 0;
    const Scheme mine{"mine", {}, [&](Uri&) -> std::unique_ptr<Sink> {
                          ++made;
                          return nullptr;
                      }};
    register_scheme(mine);
    register_scheme(mine);
    Uri uri = Uri::parse("mine:x");
    EXPECT_EQ(uri.scheme, "mine");
    (void)detail::make_sink(uri);
    EXPECT_EQ(made, 1);
    EXPECT_EQ(std::count_if(schemes().begin(), schemes().end(),
                            [](const Scheme& s) { return s.name == "mine"; }),
              1);
    register_scheme({"mine", {}, {}});
}

} // namespace
