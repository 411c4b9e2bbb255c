// SPDX-License-Identifier: MIT
#include "cli/output/check_report.hpp"

#include "cli/command.hpp"
#include "cli/output/json.hpp"
#include "cli/output/print.hpp"
#include "iio_stream/api.hpp"
#include "iio_stream/utc.hpp"

#include <chrono>
#include <cstdio>
#include <fstream>
#include <set>
#include <sys/utsname.h>

namespace iio_stream::cli {

namespace {

constexpr const char* kSerialFiles[] = {"/sys/firmware/devicetree/base/serial-number",
                                        "/sys/class/dmi/id/product_serial"};
constexpr const char* kModelFiles[] = {"/sys/firmware/devicetree/base/model",
                                       "/sys/class/dmi/id/product_name"};

std::string first_text_of(std::span<const char* const> files)
{
    for (const char* file : files) {
        std::ifstream in(file);
        std::string text;
        if (std::getline(in, text, '\0') && !text.empty()) {
            while (!text.empty() && text.back() == '\n')
                text.pop_back();
            return text;
        }
    }
    return "";
}

Json facts_json(const std::vector<CheckFact>& facts)
{
    Json json = Json::object();
    for (const CheckFact& fact : facts)
        std::visit([&](const auto& value) { json[fact.name] = value; }, fact.value);
    return json;
}

Json result_json(const ConformanceResult& result)
{
    return {{"number", result.number},
            {"name", result.name},
            {"device", or_null(result.device)},
            {"variant", or_null(result.variant)},
            {"outcome", name_of(result.outcome)},
            {"text", result.text},
            {"facts", facts_json(result.facts)},
            {"seconds", result.seconds}};
}

Json totals_json(const ConformanceReport& report)
{
    return {{"pass", report.count(CheckOutcome::pass)},
            {"fail", report.count(CheckOutcome::fail)},
            {"skip", report.count(CheckOutcome::skip)}};
}

} // namespace

void print_result(const ConformanceResult& result, bool to_stderr)
{
    std::string subject = result.device;
    if (!result.variant.empty())
        subject += (subject.empty() ? "" : " ") + result.variant;
    print_line(to_stderr ? stderr : stdout, "%s %d %-18s %s%s%s",
               result.outcome == CheckOutcome::fail ? "FAIL" : name_of(result.outcome),
               result.number, result.name.c_str(), subject.c_str(), subject.empty() ? "" : ": ",
               result.text.c_str());
    std::fflush(to_stderr ? stderr : stdout);
}

namespace {

// Names the devices that were not tested. A report without a failure proves nothing about a device
// whose checks were all skipped.
void print_untested(const ConformanceReport& report, std::FILE* out)
{
    std::set<std::string> devices;
    for (const ConformanceResult& result : report.results)
        if (result.outcome == CheckOutcome::skip && result.text.starts_with("in use, not probed") &&
            devices.insert(result.device).second)
            print_line(out,
                       "%s was not tested: it is %s. End the program that uses it, and run the "
                       "check again",
                       result.device.c_str(), result.text.c_str());
}

} // namespace

void print_totals(const ConformanceReport& report, const std::string& file, bool to_stderr)
{
    print_untested(report, to_stderr ? stderr : stdout);
    print_line(to_stderr ? stderr : stdout, "%zu passed, %zu failed, %zu skipped in %.1f s%s%s%s",
               report.count(CheckOutcome::pass), report.count(CheckOutcome::fail),
               report.count(CheckOutcome::skip), report.seconds,
               report.complete ? "" : "; stopped before the end",
               file.empty() ? "" : "; report: ", file.c_str());
}

std::string report_json(const ConformanceReport& report, const ConformanceOptions& options,
                        bool identify, int indent)
{
    utsname name{};
    ::uname(&name);
    Json json{{"schema", 1},
              {"command", "check"},
              {"version", kVersion},
              {"kernel", name.release},
              {"architecture", name.machine},
              {"model", or_null(first_text_of(kModelFiles))},
              {"emulated", report.emulated},
              {"host", identify ? Json(host_name()) : Json(nullptr)},
              {"serial", identify ? or_null(first_text_of(kSerialFiles)) : Json(nullptr)},
              {"transmit", options.transmit},
              {"destructive", options.destructive},
              {"only", options.only}};
    json["devices"] = Json::array();
    for (const CheckedDevice& device : report.devices)
        json["devices"].push_back({{"id", device.id},
                                   {"name", or_null(device.name)},
                                   {"label", or_null(device.label)},
                                   {"buffers", device.buffers}});
    json["checks"] = Json::array();
    for (const ConformanceResult& result : report.results)
        json["checks"].push_back(result_json(result));
    json["totals"] = totals_json(report);
    json["complete"] = report.complete;
    json["seconds"] = report.seconds;
    return json_text(json, indent);
}

void refuse_other_report(const std::string& file)
{
    if (file.empty())
        return;
    require_folder(file);
    std::ifstream in(file);
    if (!in)
        return;
    const Json old = Json::parse(in, nullptr, false);
    if (!old.is_object() || old.value("command", Json()) != "check")
        fail_usage(file + " exists and is not a check report",
                   "use --report FILE, or --report none");
}

} // namespace iio_stream::cli
