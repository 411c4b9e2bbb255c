// SPDX-License-Identifier: MIT
#include "file/sigmf/check.hpp"

#include "core/base/text.hpp"
#include "file/sigmf/rules.hpp"
#include "iio_stream/error.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

namespace iio_stream::file {

namespace {

/// Extensions that add keys and leave the samples as core:datatype describes them. A recorder may
/// nevertheless have declared them as required.
constexpr std::array kDescriptiveExtensions{"iio_stream", "antenna", "capture_details",
                                            "signal",     "spatial", "traceability"};
constexpr const char* kDescriptivePrefix = "ntia-"; ///< prefix of NTIA's extensions for scos-sensor

bool only_describes(const std::string& extension)
{
    return extension.starts_with(kDescriptivePrefix) ||
           std::find(kDescriptiveExtensions.begin(), kDescriptiveExtensions.end(), extension) !=
               kDescriptiveExtensions.end();
}

/// An object of the metadata.
struct Place {
    std::string list; ///< "global", "captures" …
    std::size_t number = 0;

    std::string text() const
    {
        return list == "captures" || list == "annotations"
                   ? list + "[" + std::to_string(number) + "]"
                   : list;
    }
};

/// Finds names that an object of a JSON text has more than once. The parser keeps only the last
/// one.
class NamesTwice final : public nlohmann::json_sax<Json> {
public:
    struct Found {
        Place at;
        std::string name;
    };

    bool start_object(std::size_t) override
    {
        begin_value();
        levels_.push_back({.names = {}});
        return true;
    }
    bool end_object() override { return end_level(); }
    bool start_array(std::size_t) override
    {
        begin_value();
        levels_.push_back({.is_array = true});
        return true;
    }
    bool end_array() override { return end_level(); }
    bool key(std::string& name) override
    {
        if (levels_.size() == 1)
            top_ = name;
        if (!levels_.back().names.insert(name).second && found.size() < kMost)
            found.push_back({place(), name});
        return true;
    }
    bool null() override { return begin_value(); }
    bool boolean(bool) override { return begin_value(); }
    bool number_integer(std::int64_t) override { return begin_value(); }
    bool number_unsigned(std::uint64_t) override { return begin_value(); }
    bool number_float(double, const std::string&) override { return begin_value(); }
    bool string(std::string&) override { return begin_value(); }
    bool binary(Json::binary_t&) override { return begin_value(); }
    bool parse_error(std::size_t, const std::string&, const Json::exception&) override
    {
        return false;
    }

    std::vector<Found> found;

private:
    static constexpr std::size_t kMost = 1000;

    struct Level {
        bool is_array = false;
        std::size_t values = 0;
        std::set<std::string> names = {};
    };

    bool begin_value()
    {
        if (!levels_.empty())
            ++levels_.back().values;
        return true;
    }
    bool end_level()
    {
        levels_.pop_back();
        return true;
    }
    Place place() const
    {
        if (levels_.size() == 1)
            return {"metadata"};
        return {top_, levels_[1].is_array ? levels_[1].values - 1 : 0};
    }

    std::vector<Level> levels_;
    std::string top_; ///< the top-level name that is being read
};

std::uint64_t start_in(const Json& one)
{
    return one["core:sample_start"].get<std::uint64_t>();
}

/// Collects problems and the namespaces in use, and repairs the metadata.
class Inspector {
public:
    explicit Inspector(const Json& metadata) : repaired_(metadata) {}
    void text(std::string_view text);
    Inspection inspect() &&;

private:
    static constexpr std::size_t kMost = 100;

    /// Problems of one kind, for a reader.
    struct Kind {
        std::string name, first;
        std::size_t count = 1;
    };

    void problem(const Place& at, const std::string& key, const Json* value, const std::string& why,
                 const std::string& done = "");
    void obstruct(const std::string& why)
    {
        if (obstacle_.empty())
            obstacle_ = why;
    }
    void global();
    void list(const char* name, std::span<const Rule> rules);
    void object(Json& value, const Place& at, std::span<const Rule> rules);
    void wrong_value(Json& object, const Place& at, const Rule& rule, const std::string& why);
    bool is_placed(const Json& one, const Place& at, std::uint64_t& last);
    void offset();
    void indexes();
    void extensions();
    void pairs();
    void channels();
    void dataset();

    Json repaired_;
    std::vector<std::string> problems_;
    std::vector<Kind> kinds_;
    std::string obstacle_;
    std::set<std::string> used_;
};

void Inspector::problem(const Place& at, const std::string& key, const Json* value,
                        const std::string& why, const std::string& done)
{
    std::string text = key;
    if (value != nullptr) {
        std::string shown = value->dump(-1, ' ', false, Json::error_handler_t::replace);
        if (shown.size() > 80)
            shown = shown.substr(0, 80) + "…";
        text += " = " + shown;
    }
    text = at.text() + ": " + text + " " + why;
    if (problems_.size() < kMost)
        problems_.push_back(text);
    const std::string name = at.list + " " + key + " " + why;
    const auto same = std::find_if(kinds_.begin(), kinds_.end(),
                                   [&](const Kind& kind) { return kind.name == name; });
    if (same != kinds_.end())
        ++same->count;
    else if (kinds_.size() < kMost)
        kinds_.push_back({name, text + done});
}

// A null value counts as a missing one.
void Inspector::wrong_value(Json& object, const Place& at, const Rule& rule, const std::string& why)
{
    const Json value = object[rule.key];
    const Json other = rule.repair != nullptr ? rule.repair(value) : Json();
    problem(at, rule.key, &value, why, other.is_null() ? "" : "; it is read as " + other.dump());
    if (other.is_null())
        object.erase(rule.key);
    else
        object[rule.key] = other;
    const bool needed = !value.is_null() || rule.presence == Rule::must;
    if (other.is_null() && rule.if_wrong == Rule::prevents_reading && needed)
        obstruct(at.text() + ": " + rule.key + " = " + value.dump().substr(0, 80) + " " + why);
}

void Inspector::object(Json& value, const Place& at, std::span<const Rule> rules)
{
    for (const Rule& rule : rules) {
        const auto found = value.find(rule.key);
        if (found != value.end()) {
            if (const std::string why = rule.want(*found); !why.empty())
                wrong_value(value, at, rule, why);
        } else if (rule.presence == Rule::must) {
            problem(at, rule.key, nullptr, "is missing");
            if (rule.if_wrong == Rule::prevents_reading)
                obstruct(at.text() + ": " + rule.key + " is missing");
        }
    }
    for (const auto& [key, _] : value.items())
        if (const std::size_t colon = key.find(':'); colon != std::string::npos)
            used_.insert(key.substr(0, colon));
}

void Inspector::global()
{
    const Place at{"global"};
    const auto found = repaired_.find("global");
    if (found == repaired_.end() || !found->is_object()) {
        const std::string why = found == repaired_.end() ? "is missing" : "must be an object";
        problem({"metadata"}, "global", nullptr, why);
        obstruct("metadata: global " + why);
        repaired_["global"] = Json::object();
        return;
    }
    object(*found, at, global_rules());
    channels();
}

// Reports everything that format_of() rejects.
void Inspector::channels()
{
    Json& global = repaired_["global"];
    const auto count = global.value("core:num_channels", std::uint64_t{1});
    const std::string datatype = global.value("core:datatype", "");
    if (datatype.empty())
        return;
    std::string why;
    if (const auto own = global.find("iio_stream:channels"); own != global.end()) {
        try {
            (void)format_of({datatype, count}, *own);
            return;
        } catch (const Error& error) {
            why = std::string("cannot be read: ") + error.what();
        } catch (const Json::exception&) {
            why = "must list id, scan_type and scan_index";
        }
        problem({"global"}, "iio_stream:channels", nullptr, why);
        global.erase(own);
    }
    try {
        (void)format_of({datatype, count}, Json());
    } catch (const Error& error) {
        why = std::string("cannot be read: ") + error.what();
        problem({"global"}, "core:num_channels", nullptr, why);
        obstruct("global: core:num_channels " + why);
    }
}

// Whether an object has a core:sample_start. Reports a value that is less than the previous one.
bool Inspector::is_placed(const Json& one, const Place& at, std::uint64_t& last)
{
    if (!one.contains("core:sample_start")) {
        if (one.value("core:header_bytes", std::uint64_t{0}) != 0)
            obstruct(at.text() + ": a header has no core:sample_start");
        return false;
    }
    if (start_in(one) < last)
        problem(at, "core:sample_start", &one["core:sample_start"],
                at.number == 0 ? "is less than core:offset" : "is less than the one before");
    last = std::max(last, start_in(one));
    return true;
}

void Inspector::list(const char* name, std::span<const Rule> rules)
{
    const auto found = repaired_.find(name);
    if (found == repaired_.end() || !found->is_array()) {
        const bool missing = found == repaired_.end();
        problem({"metadata"}, name, missing ? nullptr : &*found,
                missing ? "is missing" : "must be an array");
        repaired_[name] = Json::array();
        return;
    }
    Json all = std::exchange(*found, Json::array());
    std::vector<Json> kept;
    std::uint64_t last = repaired_["global"].value("core:offset", std::uint64_t{0});
    for (std::size_t i = 0; i < all.size(); ++i) {
        Json& one = all[i];
        const Place at{name, i};
        if (!one.is_object()) {
            problem(at, "it", nullptr, "must be an object");
            continue;
        }
        object(one, at, rules);
        if (!is_placed(one, at, last))
            continue;
        const Json count = one.value("core:sample_count", Json(0));
        if (count_in(count).value_or(0) > kMostCount - start_in(one)) {
            problem(at, "core:sample_count", &count, "is too large");
            one.erase("core:sample_count");
        }
        kept.push_back(std::move(one));
    }
    std::stable_sort(kept.begin(), kept.end(),
                     [](const Json& a, const Json& b) { return start_in(a) < start_in(b); });
    repaired_[name] = std::move(kept);
}

// If the captures lie before core:offset, their places count from the file's first sample, and the
// offset is ignored. Otherwise annotations before core:offset are outside the file and are removed.
void Inspector::offset()
{
    const auto offset = repaired_["global"].value("core:offset", std::uint64_t{0});
    const auto is_before = [&](const Json& one) { return start_in(one) < offset; };
    const Json& captures = repaired_["captures"];
    Json& annotations = repaired_["annotations"];
    const Json& first = captures.empty() ? annotations : captures;
    if (!first.empty() && is_before(first[0]))
        repaired_["global"].erase("core:offset");
    else
        annotations.erase(annotations.begin(),
                          std::find_if_not(annotations.begin(), annotations.end(), is_before));
}

// Reports indexes that step back. Lost samples move the stream's index ahead of the file's samples,
// and nothing moves it back.
void Inspector::indexes()
{
    const Json& captures = repaired_["captures"];
    const auto offset = repaired_["global"].value("core:offset", std::uint64_t{0});
    std::uint64_t start = 0, index = 0;
    for (std::size_t i = 0; i < captures.size(); ++i) {
        const std::uint64_t place = start_in(captures[i]) - offset;
        const std::uint64_t follows = index + (place - start);
        const Json stated = captures[i].value("core:global_index", Json());
        if (stated.is_number() && stated.get<std::uint64_t>() < follows)
            problem({"captures", i}, "core:global_index", &stated,
                    i == 0 ? "is less than core:sample_start"
                           : "does not continue the previous capture");
        index = stated.is_number() ? stated.get<std::uint64_t>() : follows;
        start = place;
    }
}

// Checks keys that are valid only together.
void Inspector::pairs()
{
    Json& annotations = repaired_["annotations"];
    for (std::size_t i = 0; i < annotations.size(); ++i) {
        Json& one = annotations[i];
        const Place at{"annotations", i};
        if (one.contains("core:freq_lower_edge") != one.contains("core:freq_upper_edge")) {
            problem(at, "core:freq_lower_edge", nullptr,
                    "and core:freq_upper_edge are valid only together");
            one.erase("core:freq_lower_edge");
            one.erase("core:freq_upper_edge");
        }
        const Json least = one.value("iio_stream:lost_min", Json());
        const Json most = one.value("iio_stream:lost_max", Json());
        if (least.is_number() && most.is_number() && most < least) {
            problem(at, "iio_stream:lost_max", &most, "is less than iio_stream:lost_min");
            one["iio_stream:lost_max"] = nullptr;
        }
    }
}

// Headers and trailing bytes are valid only with core:dataset. That key gives the data file a
// different name, which shows other programs that the file contains more than samples.
void Inspector::dataset()
{
    const Json& global = repaired_["global"];
    if (global.contains("core:dataset"))
        return;
    const std::string why = "is used only with core:dataset";
    if (const Json trailing = global.value("core:trailing_bytes", Json(0)); trailing != 0)
        problem({"global"}, "core:trailing_bytes", &trailing, why);
    const Json& captures = repaired_["captures"];
    for (std::size_t i = 0; i < captures.size(); ++i)
        if (const Json header = captures[i].value("core:header_bytes", Json(0)); header != 0)
            problem({"captures", i}, "core:header_bytes", &header, why);
}

void Inspector::extensions()
{
    const Place at{"global"};
    Json& global = repaired_["global"];
    std::set<std::string> declared{"core"};
    const Json list = global.value("core:extensions", Json::array());
    Json kept = Json::array();
    if (!list.is_array())
        problem(at, "core:extensions", &list, "must be an array");
    for (const Json& one : list.is_array() ? list : Json::array()) {
        const bool whole = one.is_object() && one.size() == 3 && one.contains("name") &&
                           one["name"].is_string() && one.contains("version") &&
                           one["version"].is_string() && one.contains("optional") &&
                           one["optional"].is_boolean();
        if (!whole) {
            problem(at, "core:extensions", &one, "must have name, version and optional");
            continue;
        }
        kept.push_back(one);
        const std::string name = one["name"].get<std::string>();
        declared.insert(name);
        if (one["optional"].get<bool>() || name == "iio_stream")
            continue;
        problem(at, "core:extensions", &one, "is required for reading, but not known");
        if (!only_describes(name))
            obstruct("global: the extension '" + name + "' is required for reading, but not known");
    }
    for (const std::string& name : used_)
        if (!declared.contains(name))
            problem(at, "core:extensions", &list, "does not declare '" + name + "', which is used");
    if (global.contains("core:extensions"))
        global["core:extensions"] = kept;
}

void Inspector::text(std::string_view text)
{
    if (text.starts_with("\xEF\xBB\xBF"))
        problem({"metadata"}, "a byte order mark", nullptr,
                "is before the JSON text (RFC 8259, 8.1)", "; it is skipped");
    NamesTwice names;
    (void)Json::sax_parse(text, &names);
    for (const NamesTwice::Found& one : names.found)
        problem(one.at, one.name, nullptr, "occurs more than once (RFC 8259, 4)",
                "; the last one is read");
}

Inspection Inspector::inspect() &&
{
    if (!repaired_.is_object()) {
        problem({"metadata"}, "it", nullptr, "must be an object");
        obstruct("metadata: it must be an object");
        repaired_ = Json::object();
    }
    const bool is_object = obstacle_.empty();
    if (is_object) {
        global();
        list("captures", capture_rules());
        list("annotations", annotation_rules());
    } else {
        repaired_ = {{"global", Json::object()},
                     {"captures", Json::array()},
                     {"annotations", Json::array()}};
    }
    offset();
    indexes();
    pairs();
    dataset();
    extensions();
    std::vector<std::string> others;
    for (const auto& [key, _] : repaired_.items())
        if (key != "global" && key != "captures" && key != "annotations")
            others.push_back(key);
    for (const std::string& key : others) {
        problem({"metadata"}, key, nullptr, "is not allowed there");
        repaired_.erase(key);
    }
    Inspection found{std::move(problems_), {}, std::move(obstacle_), std::move(repaired_)};
    for (const Kind& kind : kinds_)
        found.warnings.push_back(kind.count == 1 ? kind.first
                                                 : kind.first + " (and " +
                                                       std::to_string(kind.count - 1) + " more)");
    // These texts quote the file and are printed without another check.
    for (auto* texts : {&found.problems, &found.warnings})
        for (std::string& text : *texts)
            text = detail::printable(text);
    found.obstacle = detail::printable(found.obstacle);
    return found;
}

} // namespace

Inspection inspect(const Json& metadata)
{
    return Inspector(metadata).inspect();
}

Inspection inspect(const Json& metadata, std::string_view text)
{
    Inspector inspector(metadata);
    inspector.text(text);
    return std::move(inspector).inspect();
}

std::string why_not_archived(const Json& metadata, const Inspection& found)
{
    const Json global = metadata.is_object() ? metadata.value("global", Json()) : Json();
    const bool is_ours = global.is_object() && global.contains("iio_stream:state");
    return is_ours && !found.problems.empty() ? found.problems[0] : found.obstacle;
}

} // namespace iio_stream::file
