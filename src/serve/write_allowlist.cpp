// SPDX-License-Identifier: MIT
#include "serve/write_allowlist.hpp"

#include "iio_stream/error.hpp"

#include <algorithm>
#include <array>
#include <fnmatch.h>

namespace iio_stream::serve {

namespace {

// Rules for other attributes have none of these prefixes. A rule with wildcards matches names of
// its own kind only, because debug attributes can write any register.
constexpr std::array<std::string_view, 4> kKinds{"buffer:", "debug:", "trigger:", "play:"};

std::string_view kind_of(std::string_view rule)
{
    for (const std::string_view kind : kKinds)
        if (rule.starts_with(kind))
            return kind;
    return "";
}

std::string called(const std::string& device, const Request& request)
{
    if (request.verb == Verb::settrig)
        return "trigger:" + device;
    if (request.verb == Verb::open)
        return "play:" + device;
    const std::string& name = request.attribute;
    switch (request.owner) {
    case Owner::buffer:
        return "buffer:" + device + "/" + name;
    case Owner::debug:
        return "debug:" + device + "/" + name;
    case Owner::input:
        return device + "/in_" + request.channel + "/" + name;
    case Owner::output:
        return device + "/out_" + request.channel + "/" + name;
    case Owner::device:
        break;
    }
    return device + "/" + name;
}

} // namespace

WriteAllowlist::WriteAllowlist(std::vector<std::string> rules) : rules_(std::move(rules))
{
    for (const std::string& rule : rules_) {
        const std::string_view kind = kind_of(rule);
        const bool of_device = kind == "trigger:" || kind == "play:";
        const bool has_name = rule.find('/', kind.size()) != rule.npos || rule == "*";
        if (rule.size() == kind.size() || (!of_device && !has_name))
            fail_usage("--allow " + rule + " is not a rule",
                       "DEVICE/[CHANNEL/]NAME, buffer:DEVICE/NAME, debug:DEVICE/NAME, "
                       "trigger:DEVICE or play:DEVICE; "
                       "* stands for any text");
    }
}

std::string WriteAllowlist::name_of(const Tree::Device& device, const Request& request)
{
    return called(device.name(), request);
}

bool WriteAllowlist::permits(const Tree::Device& device, const Request& request) const
{
    for (const std::string* name : {&device.node->name, &device.node->label, &device.node->id}) {
        if (name->empty())
            continue;
        const std::string wanted = called(*name, request);
        if (std::any_of(rules_.begin(), rules_.end(), [&](const std::string& rule) {
                return kind_of(rule) == kind_of(wanted) &&
                       ::fnmatch(rule.c_str(), wanted.c_str(), 0) == 0;
            }))
            return true;
    }
    return false;
}

} // namespace iio_stream::serve
