// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace iio_stream::archive {

/// Thrown when the user cancels.
class Stopped : public std::exception {};

/// Takes an object's bytes, some at a time.
using Into = std::function<void(std::span<const std::byte>)>;

/// An object of a bucket, or a file of a folder.
struct Entry {
    std::uint64_t size = 0;
    std::int64_t modified_ns = 0; ///< UTC since 1970; 0 = unknown
    std::string etag{};           ///< of a bucket's: another one for other bytes; "" = unknown

    /// Whether it is what was seen before, and not another one of that name.
    bool is_still(const Entry& seen) const
    {
        if (size != seen.size || etag.empty() || seen.etag.empty())
            return size == seen.size &&
                   (modified_ns == seen.modified_ns || modified_ns == 0 || seen.modified_ns == 0);
        return etag == seen.etag;
    }
};

/// Compares the bytes of an object with the checksum that the store has of them.
class Checksum {
public:
    virtual ~Checksum() = default;
    virtual void add(std::span<const std::byte> bytes) = 0;
    /// After the last of them, once: what differs, or "".
    virtual std::string difference() = 0;
};

/// A folder or a bucket's prefix, with its objects by their names below it. One connection: for one
/// thread at a time. What cannot be done throws a storage Error that names the object, with ENOENT
/// if it is not there.
class Store {
public:
    virtual ~Store() = default;

    virtual std::map<std::string, Entry> list() = 0;
    /// As it is now; nullopt: it is not there.
    virtual std::optional<Entry> find(const std::string& name) = 0;
    /// From byte `begin` on. The ETag of what it has read, "" if there is none.
    virtual std::string read(const std::string& name, const Into& into,
                             std::uint64_t begin = 0) = 0;
    /// nullptr: the store has none that is of the object's bytes.
    virtual std::unique_ptr<Checksum> checksum_of(const std::string&) { return nullptr; }
    /// Another one of that name is replaced.
    virtual void write(const std::string& name, const std::string& text) = 0;
    /// Removes the object; a no-op if it does not exist.
    virtual void remove(const std::string& name) = 0;
    virtual std::string url_of(const std::string& name) const = 0;
};

using GoOn = std::function<bool()>;

/// Of a folder, "file:///FOLDER" or "s3://BUCKET/PREFIX". `retry` and `go_on` are those of a
/// Bucket. Throws a usage Error for anything else.
std::unique_ptr<Store> open_store(const std::string& place, std::chrono::nanoseconds retry,
                                  GoOn go_on);
/// Like open_store(), for s3:// URLs only.
std::unique_ptr<Store> open_bucket(const std::string& place, std::chrono::nanoseconds retry,
                                   GoOn go_on);

} // namespace iio_stream::archive
