// SPDX-License-Identifier: MIT
#include "sys/machine.hpp"

#include "sys/files.hpp"

#include <cstdlib>
#include <sys/resource.h>
#include <sys/utsname.h>

namespace iio_stream::sys {

namespace {

// "Hugepagesize:    2048 kB" → 2048
std::size_t meminfo(const std::string& text, const std::string& key)
{
    const std::size_t at = text.find(key);
    if (at == std::string::npos)
        return 0;
    return std::strtoull(text.c_str() + at + key.size(), nullptr, 10);
}

} // namespace

std::size_t huge_page_bytes()
{
    const std::string text = read_text("/proc/meminfo").value_or("");
    if (meminfo(text, "HugePages_Free:") == 0)
        return 0;
    return meminfo(text, "Hugepagesize:") * 1024;
}

std::size_t udmabuf_limit_bytes()
{
    const auto text = read_text("/sys/module/udmabuf/parameters/size_limit_mb");
    const std::size_t mib = text ? std::strtoull(text->c_str(), nullptr, 10) : 64;
    return mib << 20;
}

std::string kernel_release()
{
    utsname name{};
    return ::uname(&name) == 0 ? name.release : "";
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
