// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/error.hpp"
#include "sys/disk/whole_file.hpp"
#include "sys/unique_fd.hpp"

#include <string>

namespace iio_stream::file {

/// A data file that is open for writing and locked, so that no other program can record to it.
/// flock() locks the file itself: the lock holds under each of the file's names.
struct LockedFile {
    sys::UniqueFd fd;
    sys::UniqueFd lock;  ///< duplicate of fd: the lock stays until both are closed
    bool is_new = false; ///< the file did not exist before
};

/// Creates and locks the file `path`, or opens and locks the existing file if it may be replaced.
/// Changes nothing in the file before it is locked. The locked file is the one with that name: if
/// another program replaces or removes the file meanwhile, the function tries again. Throws EEXIST
/// if the file must not be replaced, and EBUSY if it is being recorded or read.
LockedFile open_locked(const std::string& path, int flags, sys::Existing existing);

/// The error for a file that cannot be recorded to at present, with a hint.
Error busy_file(const std::string& path, const std::string& why);

/// Whether a program is recording to the file, that is, holds its exclusive lock. False if the file
/// does not exist.
bool is_being_recorded(const std::string& path);

/// Throws a storage Error for the existing file `path` of a recording that must not be replaced:
/// EBUSY if its `data` file is being recorded, otherwise EEXIST.
[[noreturn]] void refuse_existing(const std::string& path, const std::string& data);

} // namespace iio_stream::file
