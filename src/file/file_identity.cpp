// SPDX-License-Identifier: MIT
#include "file/file_identity.hpp"

#include "iio_stream/error.hpp"

#include <cerrno>

namespace iio_stream::file {

namespace {

bool same(const timespec& a, const timespec& b)
{
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

bool same_content(const struct stat& a, const struct stat& b)
{
    return a.st_dev == b.st_dev && a.st_ino == b.st_ino && a.st_size == b.st_size &&
           same(a.st_mtim, b.st_mtim);
}

} // namespace

FileIdentity::FileIdentity(std::string path) : path_(std::move(path))
{
    if (::lstat(path_.c_str(), &status_) < 0)
        throw Error(Fault::storage, errno, "read", path_);
    if (!S_ISREG(status_.st_mode))
        throw Error(Fault::storage, ELOOP, "read", path_,
                    "it is a symbolic link or not a regular file",
                    "push the folder that holds the file");
}

bool FileIdentity::is_unchanged() const noexcept
{
    struct stat now {};
    return ::lstat(path_.c_str(), &now) == 0 && same_content(now, status_) &&
           same(now.st_ctim, status_.st_ctim);
}

bool FileIdentity::is_same_content() const noexcept
{
    struct stat now {};
    return ::lstat(path_.c_str(), &now) == 0 && same_content(now, status_);
}

} // namespace iio_stream::file
