// SPDX-License-Identifier: MIT
// run: runs a program written for libiio 0.x on this engine, by means of the libiio.so.0 of
// compat/.
#include "cli/command.hpp"
#include "cli/output/print.hpp"
#include "iio_stream/printable.hpp"
#include "iio_stream/stats.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <unistd.h>

namespace iio_stream::cli {

namespace {

namespace fs = std::filesystem;

// The folder of libiio.so.0: beside the command in a build tree, or where it is installed.
std::string drop_in_folder()
{
    const fs::path here = fs::read_symlink("/proc/self/exe").parent_path();
    for (const fs::path& folder : {here / "compat", here / IIO_STREAM_BIN_TO_LIB / "iio-stream"})
        if (fs::exists(folder / "libiio.so.0"))
            return fs::weakly_canonical(folder);
    throw Error(Fault::usage, ENOENT, "open", "libiio.so.0",
                "this build lacks the libiio 0.x layer that `run` needs");
}

using Variables = std::vector<std::pair<std::string, std::string>>; // environment variables

bool is_plain(const std::string& text)
{
    return std::all_of(text.begin(), text.end(), [](unsigned char c) {
        return std::isalnum(c) != 0 || std::strchr("_./+:@,=-", c) != nullptr;
    });
}

std::string shell_word(const std::string& text)
{
    if (is_plain(text))
        return text;
    std::string word = "'";
    for (const char c : text)
        word += c == '\'' ? "'\\''" : std::string(1, c);
    return word + "'";
}

// Quotes NAME=VALUE for Environment=, in which % begins a specifier.
std::string systemd_word(const std::string& text)
{
    if (is_plain(text))
        return text;
    std::string word = "\"";
    for (const char c : text) {
        if (c == '%')
            word += '%';
        if (c == '"' || c == '\\')
            word += '\\';
        word += c;
    }
    return word + '"';
}

void print_lines(const std::string& folder, const Variables& settings)
{
    for (const auto& [name, value] : settings)
        if (printable(value) != value)
            fail_usage(name + "=" + value + " cannot be written in a profile or a unit",
                       "--install needs a name without control characters");
    print_line(stdout, "# In a shell's profile:");
    print_line(stdout, "export LD_LIBRARY_PATH=%s\"${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}\"",
               shell_word(folder).c_str());
    for (const auto& [name, value] : settings)
        print_line(stdout, "export %s=%s", name.c_str(), shell_word(value).c_str());
    print_line(stdout, "%s", "");
    print_line(stdout, "# In a systemd unit, below [Service]:");
    print_line(stdout, "Environment=%s", systemd_word("LD_LIBRARY_PATH=" + folder).c_str());
    for (const auto& [name, value] : settings)
        print_line(stdout, "Environment=%s", systemd_word(name + "=" + value).c_str());
}

// Refuses a program name that does not follow "--". Otherwise the program's options would be taken
// for ours.
void refuse_program(const std::vector<std::string>& words)
{
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string before = i > 0 ? words[i - 1] : "";
        // The value of --path, of --metrics-file, or of an option that the parser does not have.
        const bool value = before.starts_with("--") && before != "--quiet" && before != "--install";
        if (!value && !words[i].starts_with('-'))
            fail_usage("'" + words[i] + "' comes before --",
                       "iio-stream run [OPTIONS] -- " + words[i] + " …");
    }
}

} // namespace

int run_command(std::vector<std::string> arguments)
{
    Parser parser(
        "run",
        "Runs a program written for libiio 0.x, unchanged, with its local buffers on this engine, "
        "as\n"
        "DMABUFs or the kernel's own blocks, and with losses reported on stderr. Devices over ip: "
        "and\n"
        "usb: still use libiio alone.",
        "iio-stream run -- iio_readdev -u local: -b 65536 -s 65536 cf-ad9361-lpc >/dev/null");
    std::string path, metrics_file;
    bool quiet = false, install = false;
    std::vector<std::string> program;
    parser.app()
        .add_option("--path", path,
                    "how blocks reach the device: dmabuf, mmap or fileio; off: by libiio")
        ->type_name("auto|dmabuf|mmap|fileio|off");
    parser.app().add_flag("-q,--quiet", quiet, "report no losses");
    parser.app()
        .add_option("--metrics-file", metrics_file,
                    "write each device's counters to this file each second, as OpenMetrics text")
        ->type_name("FILE");
    parser.app().add_flag(
        "--install", install,
        "print the lines that do the same in a shell's profile or a systemd unit");
    parser.app()
        .add_option("program", program, "the program and its arguments, after --")
        ->type_name("-- PROGRAM…");
    const auto mark = std::find(arguments.begin(), arguments.end(), "--");
    const std::vector<std::string> own(arguments.begin(), mark);
    refuse_program(own);
    parser.parse(own);
    if (mark != arguments.end())
        program.assign(mark + 1, arguments.end());
    if (!path.empty() && path != "auto" && path != "dmabuf" && path != "mmap" && path != "fileio" &&
        path != "off")
        fail_usage("--path " + path + " is not auto, dmabuf, mmap, fileio or off");

    const std::string folder = drop_in_folder();
    Variables settings;
    if (!path.empty() && path != "auto")
        settings.emplace_back("IIO_STREAM_PATH", path);
    if (quiet)
        settings.emplace_back("IIO_STREAM_QUIET", "1");
    if (!metrics_file.empty()) // the program might change its working folder
        settings.emplace_back("IIO_STREAM_METRICS_FILE", fs::absolute(metrics_file));
    if (install) {
        print_lines(folder, settings);
        return 0;
    }
    if (program.empty())
        fail_usage("no program is given", parser.such_as());
    if (!metrics_file.empty()) { // report a bad file now
        refuse_recording("--metrics-file", metrics_file, {});
        write_metrics(metrics_file, {});
    }
    const char* before = std::getenv("LD_LIBRARY_PATH");
    settings.emplace_back("LD_LIBRARY_PATH",
                          before == nullptr || *before == '\0' ? folder : folder + ":" + before);
    for (const auto& [name, value] : settings)
        ::setenv(name.c_str(), value.c_str(), 1);
    std::vector<char*> words;
    for (std::string& word : program)
        words.push_back(word.data());
    words.push_back(nullptr);
    ::execvp(words[0], words.data());
    throw Error(Fault::usage, errno, "start", program[0]);
}

} // namespace iio_stream::cli
