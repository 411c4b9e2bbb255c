// SPDX-License-Identifier: MIT
#include "usb/attribute_allowlist.hpp"

#include "core/base/text.hpp"
#include "framing/info.hpp"
#include "iio_stream/device.hpp"
#include "iio_stream/error.hpp"
#include "iio_stream/units.hpp"

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <utility>

namespace iio_stream::usb {

namespace {

constexpr std::string_view kAttribute = "attr.";

bool is_portable(const std::string& name)
{
    return std::find(kPortable.begin(), kPortable.end(), name) != kPortable.end();
}

// The path of "attr.PATH".
std::string path_of(const std::string& name)
{
    return name.substr(kAttribute.size());
}

std::string text_of(const nlohmann::json& json)
{
    return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string answer_of(const std::string& value)
{
    return text_of({{"value", value}});
}

int errno_in(const nlohmann::json& number)
{
    constexpr std::uint64_t kLast = 4095; // the kernel's largest errno
    const bool is_one = number.is_number_unsigned() && number.get<std::uint64_t>() <= kLast;
    return is_one && number != 0 ? number.get<int>() : EIO;
}

} // namespace

std::string error_answer(const Error& error)
{
    return text_of(
        {{"error",
          {{"errno", error.code().value()}, {"message", error.what()}, {"hint", error.hint()}}}});
}

std::vector<std::string> AttributeAllowlist::parse(const std::string& list)
{
    std::vector<std::string> names = detail::split(list);
    for (const std::string& name : names) {
        const bool attribute = name.starts_with(kAttribute) && name.find('/') != name.npos;
        if (attribute || is_portable(name))
            continue;
        std::vector<std::string> known(kPortable.begin(), kPortable.end());
        known.emplace_back("attr.DEVICE/[CHANNEL/]NAME");
        fail_usage("allow=" + name + " cannot be set by a host", suggest(name, known));
    }
    return names;
}

AttributeAllowlist::AttributeAllowlist(std::vector<std::string> names, Uri source, Tuning tuning)
    : names_(std::move(names)),
      source_(std::move(source)),
      uri_(source_.options.get("uri", "local:")),
      tuning_(std::move(tuning)),
      unread_answers_(names_.size())
{
    if (std::any_of(names_.begin(), names_.end(), is_portable))
        tuning_ = tune(source_, {});
    for (const std::string& name : names_)
        (void)(is_portable(name) ? tuned(name) : get_attribute(path_of(name), uri_));
}

// The last known value of a portable option.
std::string AttributeAllowlist::tuned(const std::string& name) const
{
    for (const auto& [word, value] : {std::pair{"antenna", tuning_.antenna}, {"agc", tuning_.agc}})
        if (name == word && !value.empty())
            return value;
    for (const auto& [number, value] : framing::kTuningNumbers)
        if (number == name && tuning_.*value)
            return nlohmann::json(*(tuning_.*value)).dump();
    fail_usage("allow=" + name + ": " + source_.text() + " has no such setting");
}

std::string AttributeAllowlist::answer(std::size_t number)
try {
    if (std::string unread = std::exchange(unread_answers_[number], {}); !unread.empty())
        return unread;
    const std::string& name = names_[number];
    if (!is_portable(name))
        return answer_of(get_attribute(path_of(name), uri_));
    tuning_ = tune(source_, {});
    return answer_of(tuned(name));
} catch (const Error& error) {
    return error_answer(error);
}

void AttributeAllowlist::set(std::size_t number, const std::string& value)
try {
    const std::string& name = names_[number];
    if (is_portable(name)) {
        Options change;
        change.set(name, value);
        tuning_ = tune(source_, change);
        unread_answers_[number] = answer_of(tuned(name));
        return;
    }
    unread_answers_[number] = answer_of(iio_stream::set_attribute(path_of(name), value, uri_));
    if (source_.scheme != "iio")
        return;
    try {
        tuning_ = tune(source_, {}); // the name may be one of the radio's settings
    } catch (const Error&) {
        // the attribute has been set anyway
    }
} catch (const Error& error) {
    unread_answers_[number] = error_answer(error);
}

std::string value_of(const std::string& answer, const std::string& what)
{
    try {
        const auto json = nlohmann::json::parse(answer);
        if (json.contains("value"))
            return detail::printable(json.at("value").get<std::string>(), detail::Lines::many);
        const auto& error = json.at("error");
        throw Error(Fault::device, errno_in(error.at("errno")), "set", what,
                    detail::printable(error.at("message").get<std::string>()),
                    detail::printable(error.value("hint", "")));
    } catch (const nlohmann::json::exception& error) {
        throw Error(Fault::device, EPROTO, "set", what, error.what(),
                    "board and host must speak the same version of docs/usb-protocol.md");
    }
}

} // namespace iio_stream::usb
