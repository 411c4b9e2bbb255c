// SPDX-License-Identifier: MIT
#pragma once

#include "archive/s3/bucket.hpp"

#include <cstddef>
#include <optional>
#include <string>

namespace iio_stream::archive {

/// Looks up objects in a store's list, which it reads a page at a time. Keys that are looked up in
/// ascending order share a page. If the store does not permit the list, or does not sort it, each
/// object is requested on its own.
/// Thread: one thread at a time.
class Listing {
public:
    /// Keys begin with `prefix`. A page has `most` objects.
    Listing(std::string prefix, std::size_t most) : prefix_(std::move(prefix)), most_(most) {}

    /// Returns nullopt if the store had no such object when the page was read.
    std::optional<Object> find(Bucket& bucket, const std::string& key);
    /// Makes find() request a new page.
    void forget() { page_.reset(); }

private:
    /// Returns whether the page shows if the object exists.
    bool covers(const std::string& key) const;
    void read(Bucket& bucket, const std::string& key);

    std::string prefix_;
    std::size_t most_;
    bool is_usable_ = true;
    std::string after_; ///< the page lists the keys that follow this one
    std::optional<ListPage> page_;
};

} // namespace iio_stream::archive
