// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <span>
#include <string>
#include <unistd.h>
#include <vector>

namespace iio_stream::test {

/// Returns all bytes of a file or pipe up to its end.
inline std::vector<std::byte> contents(const std::string& path)
{
    std::vector<std::byte> all;
    std::array<std::byte, 65536> chunk;
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    EXPECT_GE(fd, 0) << path;
    for (;;) {
        const ssize_t got = ::read(fd, chunk.data(), chunk.size());
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        all.insert(all.end(), chunk.begin(), chunk.begin() + got);
    }
    ::close(fd);
    return all;
}

inline void write_file(const std::string& path, const std::vector<std::byte>& bytes)
{
    const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    EXPECT_EQ(::write(fd, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
    ::close(fd);
}

inline void write_text(const std::string& path, const std::string& text)
{
    const auto bytes = std::as_bytes(std::span(text));
    write_file(path, {bytes.begin(), bytes.end()});
}

inline std::string text_in(const std::string& path)
{
    const std::vector<std::byte> bytes = contents(path);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Redirects standard input or output while this object exists.
class Redirected {
public:
    Redirected(int standard, int fd) : standard_(standard), before_(::dup(standard))
    {
        EXPECT_GE(fd, 0);
        EXPECT_GE(::dup2(fd, standard), 0);
        ::close(fd);
    }
    Redirected(const Redirected&) = delete;
    ~Redirected()
    {
        ::dup2(before_, standard_);
        ::close(before_);
    }

private:
    int standard_, before_;
};

struct Stdout : Redirected {
    Stdout(const std::string& path, int flags) : Redirected(1, ::open(path.c_str(), flags, 0600)) {}
};

struct Stdin : Redirected {
    explicit Stdin(int fd) : Redirected(0, fd) {}
    explicit Stdin(const std::string& path) : Stdin(::open(path.c_str(), O_RDONLY)) {}
};

} // namespace iio_stream::test
