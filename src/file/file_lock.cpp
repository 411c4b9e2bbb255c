// SPDX-License-Identifier: MIT
#include "file/file_lock.hpp"

#include "sys/files.hpp"
#include "sys/stream_file.hpp"

#include <cerrno>
#include <fcntl.h>
#include <poll.h>

namespace iio_stream::file {

namespace {

constexpr int kMostReplacements = 100; ///< attempts while other programs replace the file
constexpr int kCreationMs = 10;        ///< longer than the time from a file's creation to its lock

LockedFile open_or_create(const std::string& path, int flags, sys::Existing existing)
{
    for (int tries = kMostReplacements;;) {
        try {
            return {sys::open_file(path, flags | O_CREAT | O_EXCL, 0666), {}, true};
        } catch (const Error& error) {
            if (error.code().value() != EEXIST || existing == sys::Existing::refused)
                throw;
        }
        // O_CREAT also creates the missing target of a symbolic link.
        const int create = sys::path_exists(path) ? 0 : O_CREAT;
        try {
            return {sys::open_file(path, flags | create, 0666), {}, false};
        } catch (const Error& error) { // another program has just removed the file
            if (error.code().value() != ENOENT || create != 0 || --tries == 0)
                throw;
        }
    }
}

} // namespace

Error busy_file(const std::string& path, const std::string& why)
{
    return {Fault::storage, EBUSY, "open", path, why, "record to another name, or try again later"};
}

LockedFile open_locked(const std::string& path, int flags, sys::Existing existing)
{
    for (int tries = 0; tries < kMostReplacements; ++tries) {
        LockedFile file = open_or_create(path, flags, existing);
        if (!sys::lock_soon(file.fd.get(), sys::Lock::exclusive))
            throw busy_file(path, "it is being recorded or read, here or by another process");
        if (!sys::has_name(file.fd.get(), path))
            continue;
        // Another program may have recorded to the file between its creation and the lock.
        file.is_new = file.is_new && sys::file_size(file.fd.get(), path) == 0;
        if (!file.is_new && existing == sys::Existing::refused)
            throw Error(Fault::storage, EEXIST, "open", path);
        file.lock = sys::duplicate(file.fd.get(), path);
        return file;
    }
    throw busy_file(path, "other programs keep replacing it");
}

bool is_being_recorded(const std::string& path)
{
    const sys::UniqueFd fd{::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)};
    if (!fd.valid() || !sys::is_regular(fd.get()))
        return false;
    if (!sys::lock_soon(fd.get(), sys::Lock::shared))
        return true;
    sys::unlock(fd.get());
    if (sys::file_size(fd.get(), path) != 0)
        return false;
    // A recorder may have created the file without having locked it yet.
    (void)::poll(nullptr, 0, kCreationMs);
    return !sys::lock_soon(fd.get(), sys::Lock::shared);
}

void refuse_existing(const std::string& path, const std::string& data)
{
    if (is_being_recorded(data))
        throw busy_file(path, "it is being recorded, here or by another process");
    throw Error(Fault::storage, EEXIST, "open", path, {}, "overwrite=on replaces it");
}

} // namespace iio_stream::file
