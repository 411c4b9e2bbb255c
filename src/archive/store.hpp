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

/// Receives an object's bytes, piece by piece.
using Into = std::function<void(std::span<const std::byte>)>;

/// An object of a bucket, or a file of a folder.
struct Entry {
    std::uint64_t size = 0;
    std::int64_t modified_ns = 0; ///< UTC since 1970; 0 = unknown
    std::string etag{};           ///< in a bucket: changes with the content; "" = unknown

    /// Returns whether this is still the same object as `seen`, not another one with that name.
    bool is_still(const Entry& seen) const
    {
        if (size != seen.size || etag.empty() || seen.etag.empty())
            return size == seen.size &&
                   (modified_ns == seen.modified_ns || modified_ns == 0 || seen.modified_ns == 0);
        return etag == seen.etag;
    }
};

/// Compares the bytes of an object with the checksum that the store keeps for them.
class Checksum {
public:
    virtual ~Checksum() = default;
    virtual void add(std::span<const std::byte> bytes) = 0;
    /// Call it once, after the last bytes. Returns a description of the difference, or "".
    virtual std::string difference() = 0;
};

/// The objects of a folder, or below a prefix of a bucket. Their names are relative to it. A Store
/// is one connection, which one thread at a time may use. If an operation fails, it throws a
/// storage Error that names the object, with ENOENT if the object does not exist.
class Store {
public:
    virtual ~Store() = default;

    virtual std::map<std::string, Entry> list() = 0;
    /// Returns the current entry; nullopt if the object does not exist.
    virtual std::optional<Entry> find(const std::string& name) = 0;
    /// Reads an object from byte `begin` on. Returns the ETag of the object that was read, "" if
    /// there is none.
    virtual std::string read(const std::string& name, const Into& into,
                             std::uint64_t begin = 0) = 0;
    /// Returns nullptr if the store has no checksum of the object's bytes.
    virtual std::unique_ptr<Checksum> checksum_of(const std::string&) { return nullptr; }
    /// Replaces an existing object of that name.
    virtual void write(const std::string& name, const std::string& text) = 0;
    /// Removes the object; a no-op if it does not exist.
    virtual void remove(const std::string& name) = 0;
    virtual std::string url_of(const std::string& name) const = 0;
};

using GoOn = std::function<bool()>;

/// Opens a folder, "file:///FOLDER" or "s3://BUCKET/PREFIX". `retry` and `go_on` have the same
/// meaning as in Bucket; a folder does not use `retry`. Throws a usage Error for any other `place`.
std::unique_ptr<Store> open_store(const std::string& place, std::chrono::nanoseconds retry,
                                  GoOn go_on);
/// Like open_store(), for s3:// URLs only.
std::unique_ptr<Store> open_bucket(const std::string& place, std::chrono::nanoseconds retry,
                                   GoOn go_on);

} // namespace iio_stream::archive
