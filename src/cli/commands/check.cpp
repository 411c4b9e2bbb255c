// SPDX-License-Identifier: MIT
#include "cli/command.hpp"
#include "cli/output/check_report.hpp"
#include "cli/output/print.hpp"
#include "iio_stream/conformance.hpp"

#include <atomic>
#include <csignal>
#include <cstdio>
#include <unistd.h>

namespace iio_stream::cli {

namespace {

std::atomic<bool> stop_check{false};

// The first signal ends the run, which then restores the settings that it changed. A second signal
// ends the program at once.
void on_check_signal(int)
{
    if (stop_check.exchange(true))
        ::_exit(130);
}

void list_checks()
{
    for (const ConformanceCheck& check : conformance_checks())
        print_line(stdout, "%d  %-18s %s", check.number, check.name.c_str(),
                   check.explains.c_str());
}

int status_of(const ConformanceReport& report)
{
    bool failed = !report.complete;
    for (const ConformanceResult& result : report.results) {
        if (result.outcome == CheckOutcome::fail && result.fault == Fault::device)
            return 3;
        failed = failed || result.outcome == CheckOutcome::fail;
    }
    return failed ? 1 : 0;
}

} // namespace

int check_command(std::vector<std::string> arguments)
{
    Parser parser(
        "check",
        "Tests this machine and its IIO devices, in numbered checks, each of which passes, fails "
        "or is skipped.\n"
        "It takes ten minutes at most, and restores every setting that it changes. The result is "
        "also\n"
        "written to check.json, without serial numbers and host names, to be attached to a report.",
        "iio-stream check --json");
    ConformanceOptions options;
    std::string json, report_file;
    bool list = false, identify = false;
    parser.app()
        .add_option("device", options.device, "name, label or id of one device; default all")
        ->type_name("[DEVICE]");
    parser.app()
        .add_option("--only", options.only,
                    "run this check alone, by name or number; may be repeated")
        ->type_name("NAME")
        ->allow_extra_args(false);
    parser.app().add_flag("--transmit", options.transmit,
                          "enable DACs even if the transmitter is not silent: it may radiate");
    parser.app().add_flag("--destructive", options.destructive,
                          "also unbind the device's driver and bind it again");
    parser.app()
        .add_option("--scratch", options.scratch,
                    "folder on the disk to measure; default: this one")
        ->type_name("FOLDER");
    parser.app()
        .add_option("--report", report_file,
                    "file for the report, or none; default check.json, and none with --only")
        ->type_name("FILE|none");
    parser.app().add_flag("--identify", identify,
                          "include the host's name and serial numbers in the report");
    parser.app().add_flag("--list", list, "only list the checks");
    parser.app().add_flag("--json", json, "print one JSON object, or write it to =FILE");
    parser.parse(std::move(arguments));
    if (list) {
        list_checks();
        return 0;
    }
    // A run of selected checks does not replace the report of a full run.
    if (!options.only.empty() && report_file.empty())
        report_file = "none";
    const std::string file = report_file == "none" ? ""
                             : report_file.empty() ? "check.json"
                                                   : report_file;
    refuse_other_report(file);
    const bool to_stdout = json == "true";
    on_end_signals(on_check_signal);
    const ConformanceReport report = check_conformance(
        options, [&](const ConformanceResult& result) { print_result(result, to_stdout); },
        stop_check);
    if (!json.empty())
        print_json(report_json(report, options, identify, -1), json);
    if (!file.empty())
        print_json(report_json(report, options, identify, 2), file);
    print_totals(report, file, to_stdout);
    return status_of(report);
}

} // namespace iio_stream::cli
