// SPDX-License-Identifier: MIT
#pragma once

#include "sys/unique_fd.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace iio_stream::sys {

enum class Existing { refused, replaced };

/// Replaces or creates a file atomically and durably. Readers see the old file (or none) or the new
/// file, even after a power cut. With `refused`, it throws EEXIST if the name exists, even as a
/// dangling symbolic link. Throws "OPERATION PATH: …".
void publish_file(const std::string& path, const std::string& text, Existing existing);

/// Returns the contents of a regular file, or its first `most` bytes; nullopt if the file does not
/// exist. Throws EINVAL for any other type of file (a FIFO would block).
std::optional<std::string> read_whole(const std::string& path, std::size_t most = SIZE_MAX);

/// Reserves disk space, if possible, for a later publish_file() that must not fail for lack of
/// space. release_publish() frees the space.
void reserve_publish(const std::string& path) noexcept;
void release_publish(const std::string& path) noexcept;
/// Removes the file that a program left behind when it was killed in publish_file(). A program that
/// is still in publish_file() is protected by its lock.
void clear_publish(const std::string& path) noexcept;

/// A new file that is written piece by piece and gets its name when it is complete. A file that is
/// not published leaves nothing behind; where the file system supports files without a name
/// (O_TMPFILE), this is true even if the process is killed.
class NewFile {
public:
    explicit NewFile(std::string path);
    ~NewFile();
    NewFile(const NewFile&) = delete;
    NewFile& operator=(const NewFile&) = delete;

    int fd() const noexcept { return fd_.get(); }
    /// Gives the file its name as publish_file() does. Call it at most once.
    void publish(Existing existing);

private:
    std::string path_;
    bool has_name_ = false; ///< the file has the name path_ + ".new"
    UniqueFd fd_;
};

/// Returns the offset of a file's first hole, or its size if it has none. Space that is reserved
/// but never written is a hole.
std::uint64_t first_hole(int fd, const std::string& path);

/// Calls fsync(): afterwards the file's data and size are on the disk.
void sync_file(int fd, const std::string& path);

} // namespace iio_stream::sys
