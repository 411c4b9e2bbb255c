// SPDX-License-Identifier: MIT
#include "cli/command.hpp"
#include "cli/output/print.hpp"
#include "iio_stream/api.hpp"
#include "iio_stream/scan.hpp"
#include "iio_stream/units.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <unistd.h>

namespace {

using namespace iio_stream;

constexpr std::array kCommands{
    cli::Command{"help", "explain a command, or an endpoint with all its options",
                 &cli::help_command},
    cli::Command{"info", "devices, channels, formats, attributes and what their buffers can do",
                 &cli::info_command},
    cli::Command{"attr", "get, set or list the attributes of a device", &cli::attr_command},
    cli::Command{"doctor", "what this machine can do, and how to fix what is missing",
                 &cli::doctor_command},
    cli::Command{"check", "test a board and its devices, in numbered checks", &cli::check_command},
    cli::Command{"stream", "move samples from a source to its sinks", &cli::stream_command},
    cli::Command{"record", "record a source into a file", &cli::record_command},
    cli::Command{"play", "play a file on a device", &cli::play_command},
    cli::Command{"bench", "measure how fast samples move", &cli::bench_command},
    cli::Command{"bench-io", "measure file I/O from each kind of memory, by each method",
                 &cli::bench_io_command},
    cli::Command{"view", "show a recording or a live source as spectrum and waterfall",
                 &cli::view_command},
    cli::Command{"verify", "check a recording", &cli::verify_command},
    cli::Command{"recover", "repair a recording after a crash or power cut", &cli::recover_command},
    cli::Command{"archive", "upload recordings to S3-compatible object storage",
                 &cli::archive_command},
    cli::Command{"gadget", "set up this board as a USB device, remove it, or show its state",
                 &cli::gadget_command},
    cli::Command{"serve",
                 "serve this machine's devices to remote libiio 0.x programs, as iiod does",
                 &cli::serve_command},
    cli::Command{"run", "run a program written for libiio 0.x on this engine", &cli::run_command}};

} // namespace

std::span<const iio_stream::cli::Command> iio_stream::cli::commands()
{
    return kCommands;
}

namespace {

const cli::Command& find(const std::string& name)
{
    std::vector<std::string> names;
    for (const cli::Command& command : kCommands) {
        if (name == command.name)
            return command;
        names.emplace_back(command.name);
    }
    if (name == "-V" || name == "-v")
        fail_usage("there is no option " + name, "did you mean '--version'?");
    fail_usage("there is no command '" + name + "'", suggest(name, names));
}

// Reports output that could not be written, for example because the disk is full or nobody reads
// the pipe. Returns the exit status.
int close_output(const std::string& name, int status)
{
    errno = 0;
    const bool written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
    if (written || errno == EBADF) // without a stdout, nobody expects output
        return status;
    if (errno == 0 &&
        ::write(STDOUT_FILENO, "\n", 1) == 1) // an earlier write failed: another one sets errno
        errno = EIO;
    const int error_status =
        cli::print_error(name, Error(Fault::storage, errno, "write", "stdout"));
    return status == 2 || status == 3 ? status : error_status;
}

} // namespace

int main(int argc, char** argv)
{
    std::signal(SIGPIPE, SIG_IGN); // a closed pipe is an ordinary write error
    std::signal(SIGXFSZ, SIG_IGN); // so is exceeding a file size limit, on any thread
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    if (arguments.empty() || arguments[0] == "--help" || arguments[0] == "-h") {
        cli::print_help();
        return close_output("help", arguments.empty() ? 2 : 0);
    }
    if (arguments[0] == "--version" || arguments[0] == "version") {
        cli::print_line(stdout, "iio-stream %s", kVersion);
        return close_output("version", 0);
    }
    hide_libiio_messages();
    const std::string& name = arguments[0];
    try {
        const int status = find(name).run({arguments.begin() + 1, arguments.end()});
        return close_output(name, status);
    } catch (const cli::Answered& answered) {
        return close_output(name, answered.status);
    } catch (const Error& error) {
        return cli::print_error(name, error);
    } catch (const std::exception& error) {
        cli::print_line(stderr, "iio-stream: %s: %s", name.c_str(), error.what());
        return 1;
    }
}
