// SPDX-License-Identifier: MIT
#include "archive/push/listing.hpp"

#include "iio_stream/error.hpp"

#include <algorithm>
#include <cerrno>

namespace iio_stream::archive {

std::optional<Object> Listing::find(Bucket& bucket, const std::string& key)
{
    if (is_usable_ && !covers(key))
        read(bucket, key);
    if (!is_usable_ || !covers(key))
        return bucket.find(key);
    const auto at =
        std::ranges::lower_bound(page_->objects, key, {}, &std::pair<std::string, Object>::first);
    return at == page_->objects.end() || at->first != key ? std::nullopt
                                                          : std::optional(at->second);
}

bool Listing::covers(const std::string& key) const
{
    return page_ && after_ < key &&
           (page_->is_last || (!page_->objects.empty() && key <= page_->objects.back().first));
}

void Listing::read(Bucket& bucket, const std::string& key)
try {
    page_.reset();
    after_ = key.substr(0, key.size() - 1); // precedes the key
    page_ = bucket.list_after(prefix_, after_, most_);
    const std::string* before = &after_;
    for (const auto& [name, object] : page_->objects) {
        is_usable_ = is_usable_ && *before < name;
        before = &name;
    }
} catch (const Error& error) {
    if (error.code().value() != EACCES)
        throw;
    is_usable_ = false;
}

} // namespace iio_stream::archive
