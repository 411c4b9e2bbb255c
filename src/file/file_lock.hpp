// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/error.hpp"
#include "sys/disk/whole_file.hpp"
#include "sys/unique_fd.hpp"

#include <string>

namespace iio_stream::file {

/// A data file, open for writing, that no other program records to meanwhile. The lock (flock) is
/// that of the file itself, under any of its names.
struct LockedFile {
    sys::UniqueFd fd;
    sys::UniqueFd lock;  ///< the same open file: the lock stays until both are closed
    bool is_new = false; ///< it did not exist before
};

/// Creates the file `path`, or opens the existing one if it may be replaced, and locks it before
/// anything in it is changed. The locked file has that name: if another program replaces or removes
/// it meanwhile, this is tried again. Throws EEXIST for a file that must not be replaced, EBUSY for
/// one that is being recorded or read.
LockedFile open_locked(const std::string& path, int flags, sys::Existing existing);

/// The error for a file that cannot be recorded to now, with the way out.
Error busy_file(const std::string& path, const std::string& why);

/// Whether a program records to the file: it has the exclusive lock. False if there is no such
/// file.
bool is_being_recorded(const std::string& path);

/// Throws a storage Error for the existing file `path` of a recording that must not be replaced:
/// EBUSY if its `data` file is being recorded, otherwise EEXIST.
[[noreturn]] void refuse_existing(const std::string& path, const std::string& data);

} // namespace iio_stream::file
