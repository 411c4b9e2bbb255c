// SPDX-License-Identifier: MIT
#include "usb/allowed.hpp"

#include "core/text.hpp"
#include "iio_stream/device.hpp"
#include "iio_stream/error.hpp"
#include "iio_stream/units.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <nlohmann/json.hpp>

namespace iio_stream::usb {

namespace {

constexpr std::string_view kAttribute = "attr.";

// Not the rate: losses are counted by what it was when the stream began.
struct Portable {
    const char* name;
    std::optional<double> Tuning::*number;
};
constexpr std::array kPortable{Portable{"frequency", &Tuning::frequency},
                               Portable{"gain", &Tuning::gain},
                               Portable{"bandwidth", &Tuning::bandwidth},
                               Portable{"antenna", nullptr}};

const Portable* portable(const std::string& name)
{
    const auto* found = std::find_if(kPortable.begin(), kPortable.end(),
                                     [&](const Portable& p) { return p.name == name; });
    return found == kPortable.end() ? nullptr : found;
}

std::string text_of(const nlohmann::json& json)
{
    return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string text_of(const Error& error)
{
    return text_of({{"error",
                     {{"errno", error.code().value()},
                      {"message", error.what()},
                      {"hint", error.hint()}}}});
}

} // namespace

std::vector<std::string> Allowed::parse(const std::string& list)
{
    std::vector<std::string> names = detail::split(list);
    for (const std::string& name : names) {
        const bool attribute = name.starts_with(kAttribute) && name.find('/') != name.npos;
        if (!attribute && portable(name) == nullptr)
            fail_usage("allow=" + name + " is nothing that a host could set",
                       suggest(name, {"frequency", "gain", "bandwidth", "antenna",
                                      "attr.DEVICE/[CHANNEL/]NAME"}));
    }
    return names;
}

Allowed::Allowed(std::vector<std::string> names, std::string source)
    : names_(std::move(names)), source_(std::move(source)), refused_(names_.size())
{
    const Uri at = Uri::parse(source_);
    const auto uri = at.options.values().find("uri");
    uri_ = uri == at.options.values().end() ? "local:" : uri->second;
    for (const std::string& name : names_)
        (void)read(name);
}

std::string Allowed::read(const std::string& name) const
{
    if (name.starts_with(kAttribute))
        return get_attribute(name.substr(kAttribute.size()), uri_);
    const Tuning tuning = tune(source_, {});
    const auto number = portable(name)->number;
    if (number == nullptr && !tuning.antenna.empty())
        return tuning.antenna;
    if (number == nullptr || !(tuning.*number))
        fail_usage("allow=" + name + ": " + source_ + " has nothing of the kind");
    return nlohmann::json(*(tuning.*number)).dump();
}

void Allowed::write(const std::string& name, const std::string& value) const
{
    if (name.starts_with(kAttribute)) {
        (void)iio_stream::set_attribute(name.substr(kAttribute.size()), value, uri_);
        return;
    }
    Options change;
    change.set(name, value);
    (void)tune(source_, change);
}

std::string Allowed::answer(std::size_t number)
try {
    if (std::string refused = std::exchange(refused_[number], {}); !refused.empty())
        return refused;
    return text_of({{"value", read(names_[number])}});
} catch (const Error& error) {
    return text_of(error);
}

void Allowed::set(std::size_t number, const std::string& value)
try {
    refused_[number].clear();
    write(names_[number], value);
} catch (const Error& error) {
    refused_[number] = text_of(error);
}

Tuning Allowed::tuning() const
try {
    return tune(source_, {});
} catch (const Error&) {
    return {};
}

std::string value_of(const std::string& answer, const std::string& what)
{
    try {
        const auto json = nlohmann::json::parse(answer);
        if (json.contains("value"))
            return json.at("value").get<std::string>();
        const auto& error = json.at("error");
        throw Error(Fault::device, error.at("errno").get<int>(), "set", what,
                    error.at("message").get<std::string>(), error.value("hint", ""));
    } catch (const nlohmann::json::exception& error) {
        throw Error(Fault::device, EPROTO, "set", what, error.what(),
                    "board and host must speak the same version of docs/usb-protocol.md");
    }
}

} // namespace iio_stream::usb
