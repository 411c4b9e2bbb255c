// SPDX-License-Identifier: MIT
#include "file/parts/series_lock.hpp"

#include "file/file_lock.hpp"
#include "iio_stream/error.hpp"
#include "sys/files.hpp"
#include "sys/stream_file.hpp"

#include <fcntl.h>
#include <utility>

namespace iio_stream::file {

namespace {

constexpr int kMostRemovals = 100; ///< attempts while other programs remove the file

std::string lock_path(const std::string& series)
{
    return series + ".lock";
}

// An error names the recording, not only its lock.
sys::UniqueFd open_lock(const std::string& series)
try {
    return sys::open_file(lock_path(series), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY,
                          0666);
} catch (const Error& error) {
    throw Error(Fault::storage, error.code().value(), error.operation(), series, error.detail(),
                "its lock is " + lock_path(series));
}

sys::UniqueFd open_existing(const std::string& series, int access) noexcept
{
    return sys::UniqueFd(
        ::open(lock_path(series).c_str(), access | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
}

} // namespace

SeriesLock::SeriesLock(const std::string& series)
{
    for (int tries = 0; tries < kMostRemovals; ++tries) {
        sys::UniqueFd fd = open_lock(series);
        if (!sys::lock_soon(fd.get(), sys::Lock::exclusive))
            break;
        // The recorder that had the lock until now has removed the file.
        if (!sys::has_name(fd.get(), lock_path(series)))
            continue;
        path_ = lock_path(series);
        fd_ = std::move(fd);
        return;
    }
    throw busy_file(
        series, "a recording in parts of this name is being recorded, here or by another process");
}

SeriesLock& SeriesLock::operator=(SeriesLock&& other) noexcept
{
    release();
    path_ = std::move(other.path_);
    fd_ = std::move(other.fd_);
    return *this;
}

// The name is removed first, so that the next recorder creates a new file.
void SeriesLock::release() noexcept
{
    if (!fd_.valid())
        return;
    sys::try_remove_file(path_);
    fd_.reset();
}

bool is_series_locked(const std::string& series)
{
    const sys::UniqueFd fd = open_existing(series, O_RDONLY); // the file may be another user's
    return fd.valid() && !sys::lock_soon(fd.get(), sys::Lock::shared);
}

void clear_series_lock(const std::string& series) noexcept
try {
    const sys::UniqueFd fd = open_existing(series, O_RDWR);
    if (fd.valid() && sys::is_regular(fd.get()) && sys::try_lock(fd.get(), sys::Lock::exclusive) &&
        sys::has_name(fd.get(), lock_path(series)))
        sys::try_remove_file(lock_path(series));
} catch (const Error&) {
    // The file locks nothing, so it may stay.
}

} // namespace iio_stream::file
