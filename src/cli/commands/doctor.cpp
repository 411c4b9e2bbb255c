// SPDX-License-Identifier: MIT
#include "iio_stream/doctor.hpp"

#include "cli/command.hpp"
#include "cli/output/json.hpp"
#include "cli/output/print.hpp"
#include "cli/output/summary_text.hpp"
#include "iio_stream/api.hpp"

#include <cstdio>
#include <optional>
#include <sys/utsname.h>

namespace iio_stream::cli {

namespace {

Json row_json(const ProbeRow& row)
{
    return {{"memory", row.memory.name()},
            {"error", or_null(row.error)},
            {"blocks", row.blocks},
            {"bytes_per_second", row.bytes_per_second},
            {"cpu_seconds_per_gib", row.cpu_seconds_per_gib},
            {"interrupts_per_block", or_null(row.interrupts_per_block)},
            {"data_arrived", or_null(row.data_arrived)}};
}

Json doctor_json(const std::vector<Check>& checks, const std::string& device,
                 const std::optional<ProbeResult>& probed)
{
    utsname name{};
    ::uname(&name);
    Json json{
        {"schema", 1}, {"command", "doctor"}, {"version", kVersion}, {"kernel", name.release}};
    json["checks"] = Json::array();
    for (const Check& check : checks)
        json["checks"].push_back({{"name", check.name},
                                  {"ok", check.state == Check::State::ok},
                                  {"detail", check.detail},
                                  {"fix", or_null(check.fix)}});
    json["probe"] = nullptr;
    if (!probed)
        return json;
    json["probe"] = {{"device", device},
                     {"block_bytes", probed->block_size},
                     {"recommended", probed->recommended.name()},
                     {"reason", probed->reason},
                     {"stored_in", probed->stored_in}};
    json["probe"]["memories"] = Json::array();
    for (const ProbeRow& row : probed->rows)
        json["probe"]["memories"].push_back(row_json(row));
    return json;
}

void print_probe(const std::string& device, const ProbeResult& probed)
{
    print_line(stdout, "%s", "");
    print_line(stdout, "%s, blocks of %s:", device.c_str(),
               human_bytes(static_cast<double>(probed.block_size)).c_str());
    for (const ProbeRow& row : probed.rows) {
        if (!row.error.empty()) {
            print_line(stdout, "  %-14s %s", row.memory.name().c_str(), row.error.c_str());
            continue;
        }
        const std::string interrupts =
            row.interrupts_per_block
                ? formatted("%.1f interrupts per block", *row.interrupts_per_block)
                : "interrupts unknown";
        print_line(stdout, "  %-14s %s/s, %.3f CPU seconds per GiB, %s%s",
                   row.memory.name().c_str(), human_bytes(row.bytes_per_second).c_str(),
                   row.cpu_seconds_per_gib, interrupts.c_str(),
                   row.data_arrived == true ? ", each page written" : "");
    }
    print_line(stdout, "  memory=auto uses %s: %s", probed.recommended.name().c_str(),
               probed.reason.c_str());
    print_line(stdout, "  (stored in %s)", probed.stored_in.c_str());
}

} // namespace

int doctor_command(std::vector<std::string> arguments)
{
    Parser parser("doctor", "Reports what this machine can do, and how to fix what is missing.",
                  "iio-stream doctor");
    std::string device, json;
    parser.app()
        .add_option(
            "--probe", device,
            "stream briefly from this device into each kind of memory and store the result for "
            "memory=auto")
        ->type_name("iio:DEVICE");
    parser.app().add_flag("--json", json, "print one JSON object, or write it to =FILE");
    parser.parse(std::move(arguments));

    const std::vector<Check> checks = doctor();
    std::optional<ProbeResult> probed;
    if (!device.empty())
        probed = probe(device);
    if (!json.empty()) {
        print_json(json_text(doctor_json(checks, device, probed)), json);
        return 0;
    }
    for (const Check& check : checks) {
        const bool ok = check.state == Check::State::ok;
        print_line(stdout, "%-7s %-14s %s", ok ? "ok" : "missing", check.name.c_str(),
                   check.detail.c_str());
        if (!check.fix.empty())
            print_line(stdout, "        Fix with: %s", check.fix.c_str());
    }
    if (probed)
        print_probe(device, *probed);
    return 0;
}

} // namespace iio_stream::cli
