// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/error.hpp"

#include <CLI/CLI.hpp>
#include <span>
#include <string>
#include <vector>

namespace iio_stream::cli {

/// A subcommand; each has a file of its own.
struct Command {
    const char* name;
    const char* summary; ///< for the list of commands
    int (*run)(std::vector<std::string> arguments);
};

/// All of them, in the order of the help.
std::span<const Command> commands();

int help_command(std::vector<std::string> arguments);
int stream_command(std::vector<std::string> arguments);
int record_command(std::vector<std::string> arguments);
int play_command(std::vector<std::string> arguments);
int bench_command(std::vector<std::string> arguments);
int bench_io_command(std::vector<std::string> arguments);
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

/// What `iio-stream --help` prints.
void print_help();

/// An option of a command, or a positional argument, as its parser knows it.
struct CommandOption {
    std::string name;  ///< "--duration", or "endpoints" for a positional argument
    std::string value; ///< "TIME", "mark|stop"; empty if it takes none
    std::string help;
};
std::vector<CommandOption> options_of(const Command& command);

/// Thrown when a command has already answered, such as --help: its exit status.
struct Answered {
    int status;
};

/// A CLI11 parser with our conventions: an example in --help, no --help-all, errors as usage
/// Errors.
class Parser {
public:
    Parser(const std::string& name, const std::string& description, const std::string& example);
    CLI::App& app() noexcept { return app_; }
    /// Throws a usage Error that names the nearest option, or Answered for --help.
    void parse(std::vector<std::string> arguments);
    /// "such as: iio-stream …": the hint where something is missing.
    std::string such_as() const;

private:
    CLI::App app_;
    std::string example_;
};

/// Throws a usage Error if the file that `option` is to write is a recording's, or one of the
/// others.
void refuse_recording(const char* option, const std::string& path,
                      const std::vector<std::string>& others);
/// Throws a storage Error if the file would be in no folder.
void require_folder(const std::string& path);
std::string host_name(); ///< "localhost" if it has none

/// One JSON object to where --json says ("true" = stdout, otherwise a file).
void print_json(const std::string& object, const std::string& where);

/// SIGINT, SIGTERM and SIGHUP call `handler` from here on, except those already ignored when the
/// program started: `nohup` and a shell's `&` rely on that.
void on_end_signals(void (*handler)(int)) noexcept;

/// Prints "iio-stream: record: open x: Permission denied (hint)" to stderr; returns its exit
/// status.
int print_error(const std::string& command, const Error& error);

} // namespace iio_stream::cli
