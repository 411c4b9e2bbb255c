// SPDX-License-Identifier: MIT
#include "sys/machine.hpp"

#include "sys/files.hpp"

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

namespace iio_stream::sys {

namespace {

// Parses a line such as "Hugepagesize:    2048 kB" and returns 2048.
std::uint64_t meminfo(const std::string& text, const std::string& key)
{
    const std::size_t at = text.find(key);
    if (at == std::string::npos)
        return 0;
    return std::strtoull(text.c_str() + at + key.size(), nullptr, 10);
}

// Saturates, because a 32-bit program cannot address more anyway.
std::size_t at_most_all(std::uint64_t bytes)
{
    return static_cast<std::size_t>(std::min<std::uint64_t>(bytes, SIZE_MAX));
}

std::uint64_t limit_of(decltype(RLIMIT_NOFILE) what)
{
    rlimit limit{};
    ::getrlimit(what, &limit);
    return limit.rlim_cur == RLIM_INFINITY ? UINT64_MAX : limit.rlim_cur;
}

} // namespace

std::size_t huge_page_bytes()
{
    const std::string text = read_text("/proc/meminfo").value_or("");
    if (meminfo(text, "HugePages_Free:") == 0)
        return 0;
    return at_most_all(meminfo(text, "Hugepagesize:") * 1024);
}

std::size_t transparent_huge_page_bytes()
{
    const std::string folder = "/sys/kernel/mm/transparent_hugepage/";
    const std::string enabled = read_text(folder + "enabled").value_or("[never]");
    if (enabled.find("[never]") != std::string::npos)
        return 0;
    return std::strtoul(read_text(folder + "hpage_pmd_size").value_or("0").c_str(), nullptr, 10);
}

std::size_t available_bytes()
{
    const std::uint64_t kib = meminfo(read_text("/proc/meminfo").value_or(""), "MemAvailable:");
    return kib == 0 ? SIZE_MAX : at_most_all(kib * 1024);
}

std::size_t udmabuf_limit_bytes()
{
    const auto text = read_text("/sys/module/udmabuf/parameters/size_limit_mb");
    const std::uint64_t mib = text ? std::strtoull(text->c_str(), nullptr, 10) : 64;
    return at_most_all(mib << 20);
}

bool bouncing_is_forced()
{
    std::istringstream arguments(read_text("/proc/cmdline").value_or(""));
    for (std::string word; arguments >> word;)
        if (word.starts_with("swiotlb=") &&
            (word.ends_with("=force") || word.find(",force") != word.npos ||
             word.find("=force,") != word.npos))
            return true;
    return false;
}

bool memory_may_bounce()
{
    if (bouncing_is_forced())
        return true;
    const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    std::istringstream zones(read_text("/proc/zoneinfo").value_or(""));
    std::uint64_t present = 0;
    for (std::string line; std::getline(zones, line);) {
        std::istringstream words(line);
        std::string key;
        std::uint64_t value = 0;
        if (words >> key >> value; key == "present")
            present = value;
        // The pages of a zone follow its first page; holes only move its end further up.
        else if (key == "start_pfn:" && present != 0 && (value + present) * page > kDmaReach)
            return true;
    }
    return false;
}

std::string host_name()
{
    utsname name{};
    return ::uname(&name) == 0 ? name.nodename : "";
}

std::string kernel_release()
{
    utsname name{};
    return ::uname(&name) == 0 ? name.release : "";
}

bool has_kernel_module(const std::string& name)
{
    const std::string modules =
        read_text("/lib/modules/" + kernel_release() + "/modules.dep").value_or("");
    return modules.find("/" + name + ".ko") != std::string::npos;
}

bool is_root() noexcept
{
    return ::geteuid() == 0;
}

std::string machine_type()
{
    utsname name{};
    return ::uname(&name) == 0 ? name.machine : "";
}

std::string udev_hint()
{
    static constexpr const char* kRules[] = {
        R"(SUBSYSTEM=="iio", GROUP="plugdev", MODE="0660")",
        R"(ACTION!="remove", SUBSYSTEM=="iio", RUN+="/bin/chgrp -R plugdev /sys%p", )"
        R"(RUN+="/bin/chmod -R g=u /sys%p")",
        R"(SUBSYSTEM=="dma_heap", GROUP="plugdev", MODE="0660")",
        R"(KERNEL=="udmabuf", GROUP="plugdev", MODE="0660")",
        R"(SUBSYSTEM=="usb", ENV{DEVTYPE}=="usb_device", ATTR{idVendor}=="1d6b", )"
        R"(ATTR{idProduct}=="0104", GROUP="plugdev", MODE="0660", TAG+="uaccess")"};
    std::string command = "printf '%s\\n'"; // not every shell's echo interprets \n
    for (const char* rule : kRules)
        command += std::string(" '") + rule + "'";
    return command + " | sudo tee /etc/udev/rules.d/70-iio-stream.rules && "
                     "sudo udevadm control --reload && sudo udevadm trigger";
}

std::size_t locked_memory_limit()
{
    return at_most_all(limit_of(RLIMIT_MEMLOCK));
}

std::uint64_t file_size_limit()
{
    return limit_of(RLIMIT_FSIZE);
}

std::size_t open_files_limit()
{
    return at_most_all(limit_of(RLIMIT_NOFILE));
}

std::size_t room_for_open_files(std::size_t wanted)
{
    const std::size_t open = list_directory("/proc/self/fd").size();
    const std::uint64_t needed = std::uint64_t{open} + wanted;
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < needed &&
        limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = static_cast<rlim_t>(std::min<std::uint64_t>(needed, limit.rlim_max));
        (void)::setrlimit(RLIMIT_NOFILE, &limit);
    }
    const std::size_t most = open_files_limit();
    return most - std::min(open, most);
}

std::optional<std::uint64_t> interrupt_count(const std::string& name)
{
    if (name.empty())
        return std::nullopt;
    std::istringstream lines(read_text("/proc/interrupts").value_or(""));
    std::optional<std::uint64_t> total;
    for (std::string line; std::getline(lines, line);) {
        if (!line.ends_with(" " + name))
            continue;
        std::istringstream words(line);
        std::string number;
        words >> number; // "28:"
        for (std::uint64_t count; words >> count;)
            total = total.value_or(0) + count;
    }
    return total;
}

std::string state_dir()
{
    const auto variable = [](const char* name) {
        const char* value = std::getenv(name);
        return std::string(value == nullptr ? "" : value);
    };
    if (std::string own = variable("IIO_STREAM_STATE"); !own.empty())
        return own;
    if (::geteuid() == 0)
        return "/var/lib/iio-stream";
    const std::string xdg = variable("XDG_STATE_HOME");
    return (xdg.empty() ? variable("HOME") + "/.local/state" : xdg) + "/iio-stream";
}

CpuTime cpu_time()
{
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
    };
    return {seconds(usage.ru_utime), seconds(usage.ru_stime)};
}

} // namespace iio_stream::sys
