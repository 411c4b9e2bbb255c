// SPDX-License-Identifier: MIT
#include "bench/bench_file.hpp"

#include "core/format/pattern.hpp"
#include "iio_stream/units.hpp"
#include "sys/disk/direct_io.hpp"
#include "sys/fail.hpp"
#include "sys/files.hpp"
#include "sys/stream_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace iio_stream::bench {

namespace {

constexpr std::size_t kPiece = 1 << 20;

// Unlinks the file that is replaced, so that our data do not appear under its other names.
void remove_old_file(const std::string& path)
{
    try {
        const sys::UniqueFd old = sys::open_file(path, O_PATH | O_NOFOLLOW);
        if (!sys::is_regular(old.get()))
            fail_usage(path + " is not a regular file",
                       "name a scratch file on the storage to measure");
    } catch (const Error& error) {
        if (error.code().value() == ENOENT)
            return;
        throw;
    }
    sys::try_remove_file(path);
}

sys::UniqueFd create(const IoBench& what)
{
    if (sys::is_directory(what.file))
        throw Error(Fault::storage, EISDIR, "open", what.file);
    try {
        if (what.overwrite)
            remove_old_file(what.file);
        return sys::open_file(what.file, O_RDWR | O_CREAT | O_EXCL, 0600);
    } catch (const Error& error) {
        if (error.code().value() == EEXIST)
            throw Error(Fault::storage, EEXIST, "open", what.file, {},
                        "--overwrite replaces it, and removes it at the end");
        throw error.blamed_on(Fault::storage);
    }
}

} // namespace

bool is_ramp(std::span<const std::byte> data, std::uint64_t position) noexcept
{
    std::array<std::byte, 65536> expected;
    for (std::size_t at = 0; at < data.size(); at += expected.size()) {
        const std::size_t bytes = std::min(expected.size(), data.size() - at);
        detail::fill_ramp(std::span(expected).first(bytes), position + at);
        if (std::memcmp(data.data() + at, expected.data(), bytes) != 0)
            return false;
    }
    return true;
}

BenchFile::BenchFile(const IoBench& what)
    : path_(what.file), bytes_(what.bytes), buffered_(create(what))
{
    const sys::DirectIo ability = sys::direct_io_at(path_);
    if (!ability.possible())
        refusal_ = Error(Fault::storage, EOPNOTSUPP, "O_DIRECT", path_, ability.refusal);
    else if (what.block_size % ability.offset_align != 0 || bytes_ % ability.offset_align != 0)
        refusal_ = Error(Fault::storage, EINVAL, "O_DIRECT", path_,
                         "blocks must be multiples of " + format_size(ability.offset_align));
    else
        direct_ = sys::open_file(path_, O_RDWR | O_DIRECT);
    sys::try_remove_file(path_);
    const int error = sys::allocate_file(buffered_.get(), 0, bytes_);
    if (error != 0 && error != EOPNOTSUPP)
        throw Error(Fault::storage, error, "fallocate", path_ + " of " + format_size(bytes_), {},
                    "use a smaller --size");
}

int BenchFile::direct() const
{
    if (refusal_)
        throw *refusal_;
    return direct_.get();
}

void BenchFile::sync() const
{
    sys::sync_data(buffered_.get(), path_);
}

void BenchFile::drop_cache() const
{
    sync(); // dirty pages would stay
    (void)::posix_fadvise(buffered_.get(), 0, 0, POSIX_FADV_DONTNEED);
}

bool BenchFile::fill(std::uint64_t position, const std::atomic<bool>& stop)
{
    std::vector<std::byte> piece(kPiece);
    (void)::lseek(buffered_.get(), 0, SEEK_SET);
    for (std::uint64_t at = 0; at < bytes_; at += kPiece) {
        if (stop)
            return false;
        const auto part = std::span(piece).first(
            static_cast<std::size_t>(std::min<std::uint64_t>(kPiece, bytes_ - at)));
        detail::fill_ramp(part, position + at);
        std::size_t done = 0;
        (void)sys::write_all(buffered_.get(), path_, part, -1, done);
    }
    drop_cache();
    return true;
}

bool BenchFile::holds(std::uint64_t position, const std::atomic<bool>& stop) const
{
    drop_cache();
    std::vector<std::byte> piece(kPiece);
    for (std::uint64_t at = 0; at < bytes_ && !stop;) {
        const ssize_t got = ::pread(buffered_.get(), piece.data(), kPiece, static_cast<off_t>(at));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            sys::fail(errno, "read", path_);
        const auto part = std::span(piece).first(static_cast<std::size_t>(got));
        if (got == 0 || !is_ramp(part, position + at))
            return false;
        at += part.size();
    }
    return true;
}

} // namespace iio_stream::bench
