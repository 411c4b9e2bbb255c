// SPDX-License-Identifier: MIT
#include "sys/device/kernel_log.hpp"

#include "sys/unique_fd.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <unistd.h>

namespace iio_stream::sys {

std::optional<std::vector<std::string>> kernel_log_since(std::int64_t monotonic_ns)
{
    const UniqueFd file{::open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC)};
    if (!file.valid())
        return std::nullopt;
    std::vector<std::string> lines;
    std::array<char, 8193> record;
    for (;;) {
        const ssize_t bytes = ::read(file.get(), record.data(), record.size() - 1);
        if (bytes < 0 && errno == EPIPE)
            continue; // some records have been overwritten
        if (bytes < 0 && errno != EAGAIN)
            return std::nullopt;
        if (bytes <= 0)
            return lines;
        const std::string text(record.data(), static_cast<std::size_t>(bytes));
        long long microseconds = 0; // "priority,sequence,microseconds,flags;message"
        if (std::sscanf(text.c_str(), "%*u,%*u,%lld", &microseconds) != 1 ||
            (microseconds + 1000) * 1000 < monotonic_ns)
            continue;
        if (const std::size_t begin = text.find(';'); begin != std::string::npos)
            lines.push_back(text.substr(begin + 1, text.find('\n', begin) - begin - 1));
    }
}

} // namespace iio_stream::sys
