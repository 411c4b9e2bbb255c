// SPDX-License-Identifier: MIT
#include "file/sigmf/check.hpp"

#include "file/sigmf/rules.hpp"
#include "iio_stream/error.hpp"

#include <algorithm>
#include <cerrno>
#include <set>

namespace iio_stream::file {

namespace {

/// Collects problems, and the namespaces in use.
class Inspector {
public:
    std::vector<std::string> problems;

    void global(const Json& metadata);
    void list(const Json& metadata, const char* name, std::span<const Rule> rules);
    void extensions(const Json& global);
    void pairs(const Json& annotations);
    void channels(const Json& global);

private:
    static constexpr std::size_t kMost = 100;

    void problem(const std::string& where, const std::string& key, const Json* value,
                 const std::string& why)
    {
        if (problems.size() >= kMost)
            return;
        std::string text = where + ": " + key;
        if (value != nullptr) {
            std::string shown = value->dump(-1, ' ', false, Json::error_handler_t::replace);
            if (shown.size() > 80)
                shown = shown.substr(0, 80) + "…";
            text += " = " + shown;
        }
        problems.push_back(text + " " + why);
    }
    bool object(const Json& value, const std::string& where, std::span<const Rule> rules);

    std::set<std::string> used_;
    std::uint64_t offset_ = 0;
};

bool Inspector::object(const Json& value, const std::string& where, std::span<const Rule> rules)
{
    if (!value.is_object()) {
        problem(where, "it", nullptr, "must be an object");
        return false;
    }
    const std::size_t before = problems.size();
    for (const Rule& rule : rules) {
        const auto at = value.find(rule.key);
        if (at != value.end()) {
            if (const std::string why = rule.want(*at); !why.empty())
                problem(where, rule.key, &*at, why);
        } else if (rule.presence == Rule::must) {
            problem(where, rule.key, nullptr, "is missing");
        }
    }
    for (const auto& [key, _] : value.items())
        if (const std::size_t colon = key.find(':'); colon != std::string::npos)
            used_.insert(key.substr(0, colon));
    return problems.size() == before;
}

void Inspector::global(const Json& metadata)
{
    const auto at = metadata.find("global");
    if (at == metadata.end())
        return problem("metadata", "global", nullptr, "is missing");
    if (object(*at, "global", global_rules())) {
        offset_ = at->value("core:offset", std::uint64_t{0});
        channels(*at);
    }
}

// Whatever the datatype's own reader refuses.
void Inspector::channels(const Json& global)
{
    const auto at = global.find("iio_stream:channels");
    try {
        const std::uint64_t count = global.value("core:num_channels", std::uint64_t{1});
        (void)format_of({global.at("core:datatype").get<std::string>(), count},
                        at == global.end() ? Json() : *at);
    } catch (const Error& error) {
        problem("global", at == global.end() ? "core:num_channels" : "iio_stream:channels", nullptr,
                std::string("cannot be read: ") + error.what());
    } catch (const Json::exception&) {
        problem("global", "iio_stream:channels", &*at, "must list id, scan_type and scan_index");
    }
}

void Inspector::list(const Json& metadata, const char* name, std::span<const Rule> rules)
{
    const auto at = metadata.find(name);
    if (at == metadata.end())
        return problem("metadata", name, nullptr, "is missing");
    if (!at->is_array())
        return problem("metadata", name, &*at, "must be an array");
    std::uint64_t last = offset_;
    for (std::size_t i = 0; i < at->size() && problems.size() < kMost; ++i) {
        const Json& one = (*at)[i];
        const std::string where = std::string(name) + "[" + std::to_string(i) + "]";
        if (!object(one, where, rules))
            continue;
        const auto start = one["core:sample_start"].get<std::uint64_t>();
        if (start < last)
            problem(where, "core:sample_start", &one["core:sample_start"],
                    i == 0 ? "is less than core:offset" : "is less than the one before");
        last = std::max(last, start);
        const Json count = one.value("core:sample_count", Json(0));
        if (count_in(count).value_or(0) > kMostCount - start)
            problem(where, "core:sample_count", &count, "is beyond all samples");
    }
}

// Keys that make sense only together.
void Inspector::pairs(const Json& annotations)
{
    for (std::size_t i = 0; i < annotations.size(); ++i) {
        const Json& one = annotations[i];
        const std::string where = "annotations[" + std::to_string(i) + "]";
        if (!one.is_object())
            continue;
        if (one.contains("core:freq_lower_edge") != one.contains("core:freq_upper_edge"))
            problem(where, "core:freq_lower_edge", nullptr,
                    "and core:freq_upper_edge are there only together");
        const Json least = one.value("iio_stream:lost_min", Json());
        const Json most = one.value("iio_stream:lost_max", Json());
        if (least.is_number() && most.is_number() && most < least)
            problem(where, "iio_stream:lost_max", &most, "is less than iio_stream:lost_min");
    }
}

void Inspector::extensions(const Json& global)
{
    std::set<std::string> declared{"core"};
    const Json list = global.value("core:extensions", Json::array());
    if (!list.is_array())
        return problem("global", "core:extensions", &list, "must be an array");
    for (const Json& one : list) {
        const bool whole = one.is_object() && one.size() == 3 && one.contains("name") &&
                           one["name"].is_string() && one.contains("version") &&
                           one["version"].is_string() && one.contains("optional") &&
                           one["optional"].is_boolean();
        if (!whole) {
            problem("global", "core:extensions", &one, "must have name, version and optional");
            continue;
        }
        declared.insert(one["name"].get<std::string>());
        if (!one["optional"].get<bool>() && one["name"] != "iio_stream")
            problem("global", "core:extensions", &one, "is needed for reading, and not known");
    }
    for (const std::string& name : used_)
        if (!declared.contains(name))
            problem("global", "core:extensions", &list,
                    "does not declare '" + name + "', which is used");
}

} // namespace

std::vector<std::string> problems_of(const Json& metadata)
{
    if (!metadata.is_object())
        return {"metadata: it must be an object"};
    Inspector inspector;
    inspector.global(metadata);
    inspector.list(metadata, "captures", capture_rules());
    inspector.list(metadata, "annotations", annotation_rules());
    if (metadata.contains("annotations") && metadata["annotations"].is_array())
        inspector.pairs(metadata["annotations"]);
    if (metadata.contains("global") && metadata["global"].is_object())
        inspector.extensions(metadata["global"]);
    for (const auto& [key, _] : metadata.items())
        if (key != "global" && key != "captures" && key != "annotations")
            inspector.problems.push_back("metadata: " + key + " has no place there");
    return inspector.problems;
}

void require_valid(const Json& metadata, const std::string& path)
{
    const auto problems = problems_of(metadata);
    if (problems.empty())
        return;
    std::string what = problems[0];
    if (problems.size() > 1)
        what += " (and " + std::to_string(problems.size() - 1) + " more)";
    throw Error(Fault::storage, EBADMSG, "read", path, what,
                "iio-stream verify lists all problems");
}

} // namespace iio_stream::file
