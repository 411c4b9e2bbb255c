// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/error.hpp"

#include <CLI/CLI.hpp>
#include <span>
#include <string>
#include <vector>

namespace iio_stream::cli {

/// A subcommand of iio-stream.
struct Command {
    const char* name;
    const char* summary; ///< for the list of commands
    int (*run)(std::vector<std::string> arguments);
};

/// All subcommands, in the order in which the help lists them.
std::span<const Command> commands();

int help_command(std::vector<std::string> arguments);
int stream_command(std::vector<std::string> arguments);
int record_command(std::vector<std::string> arguments);
int play_command(std::vector<std::string> arguments);
int bench_command(std::vector<std::string> arguments);
int bench_io_command(std::vector<std::string> arguments);
int view_command(std::vector<std::string> arguments);
int verify_command(std::vector<std::string> arguments);
int recover_command(std::vector<std::string> arguments);
int info_command(std::vector<std::string> arguments);
int attr_command(std::vector<std::string> arguments);
int doctor_command(std::vector<std::string> arguments);
int check_command(std::vector<std::string> arguments);
int gadget_command(std::vector<std::string> arguments);
int archive_command(std::vector<std::string> arguments);
int serve_command(std::vector<std::string> arguments);
int run_command(std::vector<std::string> arguments);

/// Prints the text of `iio-stream --help`.
void print_help();

/// An option or a positional argument of a command, as its parser defines it.
struct CommandOption {
    std::string name;  ///< "--duration", or "endpoints" for a positional argument
    std::string value; ///< "TIME", "mark|stop"; empty if it takes none
    std::string help;
};
std::vector<CommandOption> options_of(const Command& command);

/// Thrown when parsing the arguments completes the command, as for --help. Contains the exit
/// status.
struct Answered {
    int status;
};

/// A CLI11 parser with the conventions of iio-stream: --help shows an example, --help-all does not
/// exist, and errors are usage Errors.
class Parser {
public:
    Parser(const std::string& name, const std::string& description, const std::string& example);
    CLI::App& app() noexcept { return app_; }
    /// Throws a usage Error that names the nearest option, or Answered for --help.
    void parse(std::vector<std::string> arguments);
    /// The hint for a missing argument: "such as: iio-stream …".
    std::string such_as() const;

private:
    CLI::App app_;
    std::string example_;
};

/// Throws a usage Error if `path`, the file that `option` writes, belongs to a recording or is one
/// of `others`.
void refuse_recording(const char* option, const std::string& path,
                      const std::vector<std::string>& others);
/// Throws a storage Error if the folder of `path` does not exist.
void require_folder(const std::string& path);
std::string host_name(); ///< "localhost" if the host has no name

/// Writes one JSON object to the destination of --json: stdout if `where` is "true", otherwise the
/// file `where`. Throws a storage Error if the file cannot be written.
void print_json(const std::string& object, const std::string& where);

/// Installs `handler` for SIGINT, SIGTERM and SIGHUP. A signal that is already ignored stays
/// ignored, as `nohup` and a shell's `&` require.
void on_end_signals(void (*handler)(int)) noexcept;

/// Prints "iio-stream: record: open x: Permission denied (hint)" to stderr. Returns the error's
/// exit status.
int print_error(const std::string& command, const Error& error);

} // namespace iio_stream::cli
