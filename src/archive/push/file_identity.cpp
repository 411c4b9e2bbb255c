// SPDX-License-Identifier: MIT
#include "archive/push/file_identity.hpp"

#include "iio_stream/error.hpp"

#include <cerrno>

namespace iio_stream::archive {

namespace {

bool same(const timespec& a, const timespec& b)
{
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
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
    return ::lstat(path_.c_str(), &now) == 0 && now.st_dev == status_.st_dev &&
           now.st_ino == status_.st_ino && now.st_size == status_.st_size &&
           same(now.st_mtim, status_.st_mtim) && same(now.st_ctim, status_.st_ctim);
}

} // namespace iio_stream::archive
