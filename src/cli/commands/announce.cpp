// SPDX-License-Identifier: MIT
#include "cli/commands/announce.hpp"

#include "cli/command.hpp"
#include "cli/output/print.hpp"
#include "iio_stream/error.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace iio_stream::cli {

namespace {

bool is_of_this_machine_alone(const std::string& address)
{
    return address.starts_with("127.") || address.starts_with("[::1]");
}

} // namespace

Announcement::Announcement(const std::vector<std::string>& addresses)
{
    const auto reached =
        std::find_if_not(addresses.begin(), addresses.end(), &is_of_this_machine_alone);
    if (reached == addresses.end())
        fail_usage("--announce: only this machine can connect to " +
                       (addresses.empty() ? "it" : addresses[0]),
                   "--listen '*' lets others connect");
    std::string port = reached->substr(reached->rfind(':') + 1);
    std::string name = "iio-stream on " + host_name(); // like "iiod on …"
    std::string program = "avahi-publish", patient = "--no-fail", service = "--service",
                type = "_iio._tcp";
    char* words[] = {program.data(), patient.data(), service.data(), name.data(),
                     type.data(),    port.data(),    nullptr};
    if (const int error = ::posix_spawnp(&process_, words[0], nullptr, nullptr, words, environ);
        error != 0)
        throw Error(Fault::other, error, "start", program, "--announce needs it",
                    "install avahi-utils");
}

Announcement::~Announcement()
{
    if (process_ < 0)
        return;
    ::kill(process_, SIGKILL); // Avahi withdraws the service when its client exits
    while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
    }
}

void Announcement::check()
{
    int status = 0;
    if (process_ < 0 || ::waitpid(process_, &status, WNOHANG) != process_)
        return;
    process_ = -1;
    print_line(stderr,
               "iio-stream: serve: not announced: avahi-publish ended with status %d (is "
               "avahi-daemon running?)",
               WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

} // namespace iio_stream::cli
