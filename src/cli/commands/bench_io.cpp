// SPDX-License-Identifier: MIT
#include "cli/command.hpp"
#include "cli/output/json.hpp"
#include "cli/output/print.hpp"
#include "iio_stream/api.hpp"
#include "iio_stream/bench.hpp"
#include "iio_stream/units.hpp"

#include <atomic>
#include <cstdio>
#include <sys/utsname.h>
#include <unistd.h>

namespace iio_stream::cli {

namespace {

constexpr std::size_t kMethods = 8; ///< rows for each pair of memory and direction

std::atomic<bool> g_stop{false};

void end_bench(int)
{
    if (g_stop.exchange(true))
        ::_exit(130);
}

std::string kernel()
{
    utsname name{};
    ::uname(&name);
    return name.release;
}

/// The rows measured so far. The speed of each row is also given relative to that of the first.
struct Table {
    IoBench what;
    std::vector<IoRow> rows;
    std::vector<IoRow> alike; ///< rows with the same error, not printed yet

    std::optional<double> speed(const IoRow& row) const;
    std::optional<double> percent(const IoRow& row) const;
    void print_head() const;
    void add(const IoRow& row, bool print);
    void print_alike();
    void print_row(const IoRow& row) const;
    std::string json(bool complete) const;
};

std::optional<double> Table::speed(const IoRow& row) const
{
    if (row.error || !row.io_seconds || *row.io_seconds <= 0)
        return std::nullopt;
    return static_cast<double>(what.bytes) / *row.io_seconds;
}

std::optional<double> Table::percent(const IoRow& row) const
{
    const auto own = speed(row), first = speed(rows.front());
    if (!own || !first)
        return std::nullopt;
    return *own / *first * 100;
}

void Table::print_head() const
{
    print_line(stdout, "%s, %s in blocks of %s, %zu in flight, Linux %s. The figures apply to this",
               what.file.c_str(), format_size(what.bytes).c_str(),
               format_size(what.block_size).c_str(), what.depth, kernel().c_str());
    print_line(stdout,
               "machine and its storage; figures from an emulator do not apply to hardware.");
    print_line(stdout, "%s", "");
    print_line(stdout, "%-5s %-13s %5s %-19s %9s %9s %9s %9s %8s %7s", "", "memory", "pages",
               "method", "create s", "I/O s", "close s", "MB/s", "CPU s", "percent");
}

void Table::print_row(const IoRow& row) const
{
    print_line(stdout, "%-5s %-13s %5s %-19s %9.4f %9.4f %9.4f %9.1f %8.3f %7.0f",
               row.direction.c_str(), row.memory.c_str(), format_size(row.page_bytes).c_str(),
               row.method.c_str(), row.create_seconds.value_or(0), row.io_seconds.value_or(0),
               row.close_seconds.value_or(0), speed(row).value_or(0) / 1e6,
               row.cpu_seconds.value_or(0), percent(row).value_or(0));
    std::fflush(stdout);
}

void Table::print_alike()
{
    if (alike.empty())
        return;
    std::string methods;
    for (const IoRow& row : alike)
        methods += (methods.empty() ? "" : ", ") + row.method;
    if (!alike[0].create_seconds && alike.size() == kMethods)
        methods = "(each)";
    const IoRow& row = alike[0];
    print_line(stdout, "%-5s %-13s %5s %-19s %s: %s", row.direction.c_str(), row.memory.c_str(),
               format_size(row.page_bytes).c_str(), methods.c_str(),
               errno_name(row.error->code().value()).c_str(), row.error->what());
    std::fflush(stdout);
    alike.clear();
}

void Table::add(const IoRow& row, bool print)
{
    rows.push_back(row);
    if (!print)
        return;
    const auto same = [&row](const IoRow& other) {
        return row.error && row.memory == other.memory && row.page_bytes == other.page_bytes &&
               row.direction == other.direction &&
               std::string(row.error->what()) == other.error->what();
    };
    if (!alike.empty() && !same(alike[0]))
        print_alike();
    if (row.error)
        alike.push_back(row);
    else
        print_row(row);
}

std::string Table::json(bool complete) const
{
    Json json{{"schema", 1},
              {"command", "bench-io"},
              {"version", kVersion},
              {"kernel", kernel()},
              {"file", what.file},
              {"bytes", what.bytes},
              {"block_bytes", what.block_size},
              {"depth", what.depth},
              {"complete", complete},
              {"rows", Json::array()}};
    for (const IoRow& row : rows) {
        Json cell{{"memory", row.memory},
                  {"page_bytes", row.page_bytes},
                  {"method", row.method},
                  {"direction", row.direction}};
        cell["create_seconds"] = or_null(row.create_seconds);
        cell["io_seconds"] = or_null(row.io_seconds);
        cell["close_seconds"] = or_null(row.close_seconds);
        cell["bytes_per_second"] = or_null(speed(row));
        cell["cpu_seconds"] = or_null(row.cpu_seconds);
        cell["percent"] = or_null(percent(row));
        cell["checked"] = row.checked;
        cell["error"] = nullptr;
        if (row.error)
            cell["error"] = {{"operation", row.error->operation()},
                             {"errno", row.error->code().value()},
                             {"name", errno_name(row.error->code().value())},
                             {"message", row.error->what()}};
        json["rows"].push_back(cell);
    }
    return json_text(json);
}

// A combination that does not work is a valid result. Only data that differ from the data written
// are a failure.
int status_of(const std::vector<IoRow>& rows)
{
    for (const IoRow& row : rows)
        if (row.error && row.error->operation() == "compare")
            return print_error("bench-io", *row.error);
    return 0;
}

IoBench parse_options(std::vector<std::string> arguments, std::string& json)
{
    Parser parser(
        "bench-io",
        "Measures how fast each kind of memory is written to a file and read from it, by "
        "every I/O method, including the times to create and release the memory. A write ends when "
        "the data are on the storage (fdatasync); reads start with an empty cache. All data are "
        "verified, outside the measured time. A combination that does not work is listed with its "
        "error. The figures apply to this machine; figures from an emulator do not apply to "
        "hardware.",
        "iio-stream bench-io bench-io.tmp --size 4Mi --block-size 1Mi");
    IoBench what;
    std::string size, block_size, depth;
    CLI::App& app = parser.app();
    app.add_option("file", what.file,
                   "scratch file on the storage to measure; created, unlinked at once")
        ->type_name("FILE")
        ->required();
    app.add_option("--size", size, "bytes to move in each measurement; default 1Gi")
        ->type_name("SIZE");
    app.add_option("--block-size", block_size, "bytes per request, and per DMABUF; default 4Mi")
        ->type_name("SIZE");
    app.add_option("--depth", depth, "requests in flight with libaio and io_uring; default 4")
        ->type_name("N");
    app.add_flag("--overwrite", what.overwrite, "replace an existing file");
    app.add_flag("--json", json, "print one JSON object, or write it to =FILE");
    parser.parse(std::move(arguments));
    if (!size.empty())
        what.bytes = parse_memory_size("--size", size);
    if (!block_size.empty())
        what.block_size = parse_memory_size("--block-size", block_size);
    if (!depth.empty())
        what.depth = parse_memory_size("--depth", depth);
    return what;
}

} // namespace

int bench_io_command(std::vector<std::string> arguments)
{
    std::string json;
    Table table;
    table.what = parse_options(std::move(arguments), json);
    const bool people = json.empty() || json == "false";

    on_end_signals(&end_bench);
    std::optional<Error> failure;
    try {
        bench_io(
            table.what,
            [&](const IoRow& row) {
                if (people && table.rows.empty())
                    table.print_head();
                table.add(row, people);
                return true;
            },
            g_stop);
    } catch (const Error& error) {
        if (table.rows.empty())
            throw;
        failure = error;
    }
    if (people)
        table.print_alike();
    else
        print_json(table.json(!failure && !g_stop), json);
    if (g_stop)
        print_line(stderr, "iio-stream: bench-io: stopped by a signal before all combinations were "
                           "measured");
    return failure ? print_error("bench-io", *failure) : status_of(table.rows);
}

} // namespace iio_stream::cli
