// SPDX-License-Identifier: MIT
// run: a program that was written for libiio 0.x on our engine, by a libiio.so.0 of ours (compat/).
#include "cli/command.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <unistd.h>

namespace iio_stream::cli {

namespace {

namespace fs = std::filesystem;

// Beside the command in a build tree, and where it was installed.
std::string drop_in_folder()
{
    const fs::path here = fs::read_symlink("/proc/self/exe").parent_path();
    for (const fs::path& folder : {here / "compat", here / IIO_STREAM_BIN_TO_LIB / "iio-stream"})
        if (fs::exists(folder / "libiio.so.0"))
            return fs::weakly_canonical(folder);
    throw Error(Fault::usage, ENOENT, "open", "libiio.so.0",
                "this iio-stream was built without libiio 0.x, for whose programs it is");
}

void set(const char* name, const std::string& value)
{
    if (!value.empty())
        ::setenv(name, value.c_str(), 1);
}

void print_lines(const std::string& folder, const std::string& path)
{
    std::printf("# In a shell's profile:\nexport LD_LIBRARY_PATH=%s${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}\n",
                folder.c_str());
    if (!path.empty())
        std::printf("export IIO_STREAM_PATH=%s\n", path.c_str());
    std::printf("\n# In a systemd unit, below [Service]:\nEnvironment=LD_LIBRARY_PATH=%s\n", folder.c_str());
    if (!path.empty())
        std::printf("Environment=IIO_STREAM_PATH=%s\n", path.c_str());
}

} // namespace

int run_command(std::vector<std::string> arguments)
{
    Parser parser("run",
                  "Runs a program written for libiio 0.x, unchanged, with its local buffers on this engine: as\n"
                  "DMABUFs, and with losses reported on stderr once a second. Devices over ip: and usb: stay libiio's.",
                  "iio-stream run -- iio_readdev -u local: -b 65536 -s 65536 iios-sim-adc >/dev/null");
    std::string path;
    bool quiet = false, install = false;
    std::vector<std::string> program;
    parser.app().add_option("--path", path, "dmabuf or fileio: how blocks reach the device; off: by libiio itself")
        ->type_name("auto|dmabuf|fileio|off");
    parser.app().add_flag("-q,--quiet", quiet, "report no losses");
    parser.app().add_flag("--install", install,
                          "print the lines that do the same in a shell's profile or a systemd unit");
    parser.app().add_option("program", program, "the program and its arguments, after --")->type_name("-- PROGRAM…");
    const auto mark = std::find(arguments.begin(), arguments.end(), "--");
    const std::vector<std::string> own(arguments.begin(), mark);
    parser.parse(own);
    if (!program.empty())
        fail_usage("'" + program[0] + "' comes before --", "iio-stream run [OPTIONS] -- " + program[0] + " …");
    if (mark != arguments.end())
        program.assign(mark + 1, arguments.end());
    if (!path.empty() && path != "auto" && path != "dmabuf" && path != "fileio" && path != "off")
        fail_usage("--path " + path + " is not auto, dmabuf, fileio or off");

    const std::string folder = drop_in_folder();
    const std::string wanted = path == "auto" ? "" : path;
    if (install) {
        print_lines(folder, wanted);
        return 0;
    }
    if (program.empty())
        fail_usage("there is no program", parser.such_as());
    const char* before = std::getenv("LD_LIBRARY_PATH");
    set("LD_LIBRARY_PATH", before == nullptr || *before == '\0' ? folder : folder + ":" + before);
    set("IIO_STREAM_PATH", wanted);
    set("IIO_STREAM_QUIET", quiet ? "1" : "");
    std::vector<char*> words;
    for (std::string& word : program)
        words.push_back(word.data());
    words.push_back(nullptr);
    ::execvp(words[0], words.data());
    throw Error(Fault::usage, errno, "run", program[0]);
}

} // namespace iio_stream::cli
