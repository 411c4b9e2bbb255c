// SPDX-License-Identifier: MIT
#pragma once

#include "sys/unique_fd.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace iio_stream::sys {

enum class Existing { refused, replaced };

/// Replaces or creates a file atomically and durably: readers see the old one (or none) or the new
/// one, also after a power cut. `refused`: throws EEXIST if the name exists, even as a dangling
/// symbolic link. Throws "OPERATION PATH: …".
void publish_file(const std::string& path, const std::string& text, Existing existing);

/// A regular file, byte for byte, or its first `most` bytes; nullopt if there is none. For anything
/// else (a FIFO would block) it throws EINVAL.
std::optional<std::string> read_whole(const std::string& path, std::size_t most = SIZE_MAX);

/// Reserves disk space for a later publish_file() that must not fail for lack of it, as far as
/// possible; release_publish() gives it back.
void reserve_publish(const std::string& path) noexcept;
void release_publish(const std::string& path) noexcept;
/// Removes what a program that was killed in publish_file() has left; one that is in it has a lock.
void clear_publish(const std::string& path) noexcept;

/// A new file that is written piece by piece and gets its name when it is whole. One that is not
/// published leaves nothing, also after a kill where the file system has files without a name
/// (O_TMPFILE).
class NewFile {
public:
    explicit NewFile(std::string path);
    ~NewFile();
    NewFile(const NewFile&) = delete;
    NewFile& operator=(const NewFile&) = delete;

    int fd() const noexcept { return fd_.get(); }
    /// As publish_file() does; once.
    void publish(Existing existing);

private:
    std::string path_;
    bool has_name_ = false; ///< path_ with ".new" after it
    UniqueFd fd_;
};

/// The offset of a file's first hole (space that was reserved but never written is one), or its
/// size.
std::uint64_t first_hole(int fd, const std::string& path);

/// fsync(): the file's data and size have reached the disk.
void sync_file(int fd, const std::string& path);

} // namespace iio_stream::sys
