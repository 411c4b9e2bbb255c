// SPDX-License-Identifier: MIT
#include "core/options/registry.hpp"
#include "iio_stream/units.hpp"
#include "support/errors.hpp"

#include <cctype>
#include <gtest/gtest.h>
#include <set>
#include <sstream>

namespace iio_stream {

namespace {

const Scheme& scheme_named(const std::string& name)
{
    for (const Scheme& scheme : schemes())
        if (scheme.name == name)
            return scheme;
    throw std::out_of_range(name);
}

struct Promise {
    const char *scheme, *keys;
    OptionSide side;
};

// The contract's tables of endpoint options: other programs rely on these names.
constexpr Promise kPromised[] = {
    {"sim", "pattern rate channels frequency seed drop_at stall_at stall_for", OptionSide::source},
    {"iio",
     "channels path memory buffer iq agc uri phy frequency gain bandwidth rate antenna attr. "
     "counter",
     OptionSide::source},
    {"usb", "serial transfers transfer_size", OptionSide::source},
    {"file", "format rate loop", OptionSide::source},
    {"zmq", "pattern", OptionSide::source},
    {"file", "engine depth direct rotate_bytes rotate_time preallocate sync hash overwrite",
     OptionSide::sink},
    {"iio", "cyclic", OptionSide::sink},
    {"null", "rate stall_at stall_for", OptionSide::sink},
    {"zmq", "pattern", OptionSide::sink},
};

TEST(OptionTables, EveryOptionOfTheContractExists)
{
    for (const Promise& promise : kPromised) {
        const std::vector<Option> options = options_of(scheme_named(promise.scheme), promise.side);
        std::istringstream keys(promise.keys);
        for (std::string key; keys >> key;)
            EXPECT_TRUE(std::any_of(options.begin(), options.end(),
                                    [&](const Option& option) { return option.key == key; }))
                << promise.scheme << ": " << key;
    }
    for (const Scheme& scheme : schemes())
        if (scheme.sink)
            for (const char* key : {"convert", "on-full", "hold"}) {
                const auto options = options_of(scheme, OptionSide::sink);
                EXPECT_TRUE(std::any_of(options.begin(), options.end(),
                                        [&](const Option& option) { return option.is(key); }))
                    << scheme.name << ": " << key;
            }
}

TEST(OptionTables, EachOptionHasAHelpTextAndADefault)
{
    for (const Scheme& scheme : schemes())
        for (const Option& option : options_of(scheme)) {
            const std::string name = scheme.name + ": " + std::string(option.key);
            ASSERT_FALSE(option.help.empty()) << name;
            EXPECT_FALSE(option.standard.empty()) << name;
            EXPECT_FALSE(std::islower(static_cast<unsigned char>(option.help.front())) &&
                         !option.help.starts_with("libiio"))
                << name;
            EXPECT_NE(option.help.back(), '.') << name;
            if (option.type == OptionType::choice) {
                EXPECT_GE(option.words().size(), 2u) << name;
            }
        }
}

TEST(OptionTables, NoKeyIsRepeatedOnOneSide)
{
    for (const Scheme& scheme : schemes())
        for (const OptionSide side : {OptionSide::source, OptionSide::sink}) {
            std::set<std::string> keys;
            for (const Option& option : options_of(scheme, side))
                EXPECT_TRUE(keys.insert(std::string(option.key)).second)
                    << scheme.name << ": " << option.key;
        }
}

TEST(OptionTables, OptionsForSizesRatesAndTimesStateTheirUnit)
{
    for (const Scheme& scheme : schemes())
        for (const Option& option : options_of(scheme))
            if (option.type == OptionType::size || option.type == OptionType::rate ||
                option.type == OptionType::time) {
                EXPECT_FALSE(option.unit.empty()) << scheme.name << ": " << option.key;
            }
}

TEST(OptionTables, AliasesAndDashesMeanTheSameOption)
{
    for (const char* text : {"sim:?rate=2M", "sim:?sample_rate=2M", "sim:?sample-rate=2M"}) {
        Uri uri = Uri::parse(text);
        EXPECT_EQ(detail::make_source(uri)->format().sample_rate, 2e6) << text;
    }
}

TEST(OptionTables, OptionsOfARegisteredSchemeAreAcceptedAndSuggested)
{
    static constexpr OptionTable kAdded{
        Option{"colour", OptionType::choice, "red|green", "", "red", "Colour of the samples"}};
    std::string taken;
    register_scheme({"added",
                     {},
                     [&](Uri& uri) -> std::unique_ptr<Sink> {
                         taken = uri.options.take_or_standard(kAdded["colour"]);
                         return nullptr;
                     },
                     "",
                     "",
                     "",
                     join(kAdded)});
    Uri given = Uri::parse("added:?colour=green");
    (void)detail::make_sink(given);
    EXPECT_EQ(taken, "green");
    Uri bare = Uri::parse("added:");
    (void)detail::make_sink(bare);
    EXPECT_EQ(taken, "red");
    Uri wrong = Uri::parse("added:?color=green");
    test::expect_usage_error([&] { detail::make_sink(wrong); }, "'color'",
                             "did you mean 'colour'?");
    Uri blue = Uri::parse("added:?colour=blue");
    test::expect_usage_error([&] { detail::make_sink(blue); }, "colour=blue", "red", "green");
    register_scheme({"added", {}, {}});
}

} // namespace

} // namespace iio_stream
