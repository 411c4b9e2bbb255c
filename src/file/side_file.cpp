// SPDX-License-Identifier: MIT
#include "file/side_file.hpp"

#include "iio_stream/error.hpp"
#include "sys/disk/holes.hpp"
#include "sys/disk/whole_file.hpp"
#include "sys/files.hpp"
#include "sys/stream_file.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <optional>
#include <span>
#include <vector>

namespace iio_stream::file {

namespace {

constexpr std::size_t kChunk = 1 << 20;
constexpr unsigned kMostNames = 1000;

std::string name_of_aside(const std::string& path, const char* suffix, unsigned number)
{
    return path + suffix + (number == 1 ? "" : "." + std::to_string(number));
}

/// A new file next to `beside`. Its name has the given suffix, and a number if the name is taken.
struct SideFile {
    std::string path;
    sys::UniqueFd fd;

    SideFile(const std::string& beside, const char* suffix)
    {
        for (unsigned number = 1;; ++number)
            try {
                path = name_of_aside(beside, suffix, number);
                fd = sys::open_file(path, O_WRONLY | O_CREAT | O_EXCL, 0666);
                return;
            } catch (const Error& error) {
                if (error.code().value() != EEXIST || number == kMostNames)
                    throw;
            }
    }
};

/// Copies the end of a file. Holes and zeros become holes.
class TailCopy {
public:
    TailCopy(int fd, const std::string& path, std::uint64_t begin)
        : fd_(fd), path_(path), begin_(begin), chunk_(kChunk)
    {}

    std::string run()
    {
        const std::uint64_t size = sys::file_size(fd_, path_);
        for (std::uint64_t at = begin_; at < size;) {
            const auto data = sys::next_data(fd_, path_, at);
            if (!data)
                break;
            for (at = std::max(at, data->begin); at < data->end;)
                at += copy(
                    at, static_cast<std::size_t>(std::min<std::uint64_t>(data->end - at, kChunk)));
        }
        if (!tail_)
            return "";
        sys::sync_file(tail_->fd.get(), tail_->path);
        return tail_->path;
    }
    void remove() noexcept
    {
        if (tail_)
            sys::try_remove_file(tail_->path);
    }

private:
    std::size_t copy(std::uint64_t at, std::size_t bytes)
    {
        const std::span<std::byte> out(chunk_.data(), bytes);
        const std::size_t got = sys::read_at(fd_, path_, at, out);
        if (!sys::all_zeros(out.first(got))) {
            if (!tail_)
                tail_.emplace(path_, ".tail");
            sys::write_at(tail_->fd.get(), tail_->path, at - begin_, out.first(got));
        }
        return bytes;
    }

    int fd_;
    std::string path_;
    std::uint64_t begin_;
    std::vector<std::byte> chunk_;
    std::optional<SideFile> tail_;
};

} // namespace

std::string keep_tail(int fd, const std::string& path, std::uint64_t begin)
{
    TailCopy tail(fd, path, begin);
    try {
        return tail.run();
    } catch (...) {
        tail.remove();
        throw;
    }
}

std::string keep_backup(const std::string& path, const std::string& text)
{
    const SideFile aside(path, ".bak");
    try {
        std::size_t done = 0;
        (void)sys::write_all(aside.fd.get(), aside.path, std::as_bytes(std::span(text)), -1, done);
        sys::sync_file(aside.fd.get(), aside.path);
    } catch (...) {
        sys::try_remove_file(aside.path);
        throw;
    }
    return aside.path;
}

} // namespace iio_stream::file
