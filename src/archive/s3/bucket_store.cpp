// SPDX-License-Identifier: MIT
#include "archive/part.hpp"
#include "archive/s3/bucket.hpp"
#include "archive/s3/etag.hpp"
#include "archive/s3/s3_url.hpp"
#include "iio_stream/error.hpp"

#include <cerrno>

namespace iio_stream::archive {

namespace {

/// The objects below a prefix.
class BucketStore : public Store {
public:
    BucketStore(const S3Url& url, std::chrono::nanoseconds retry, GoOn go_on)
        : prefix_(url.prefix), bucket_(account(), url.bucket, {}, retry, std::move(go_on))
    {}

    std::map<std::string, Entry> list() override
    {
        std::map<std::string, Entry> found = bucket_.list(prefix_);
        if (found.empty() && !prefix_.empty())
            throw Error(Fault::storage, ENOENT, "list", bucket_.url_of(prefix_),
                        "no objects below this prefix");
        return found;
    }
    std::optional<Entry> find(const std::string& name) override
    {
        const std::optional<Object> object = bucket_.find(prefix_ + name);
        return object ? std::optional(Entry{object->size, 0, object->etag}) : std::nullopt;
    }
    std::string read(const std::string& name, const Into& into, std::uint64_t begin) override
    {
        if (begin != 0 || name.ends_with(kData))
            return bucket_.read(prefix_ + name, into, begin).etag;
        Md5Sum sum; // metadata contain no hash of themselves
        const Object object = bucket_.read(prefix_ + name, [&](std::span<const std::byte> bytes) {
            sum.add(bytes);
            into(bytes);
        });
        if (const std::string difference = etag_difference(object, sum.finish());
            !difference.empty())
            throw Error(Fault::storage, EBADMSG, "read", url_of(name), difference);
        return object.etag;
    }
    std::unique_ptr<Checksum> checksum_of(const std::string& name) override
    {
        return etag_checksum(bucket_, prefix_ + name);
    }
    void write(const std::string& name, const std::string& text) override
    {
        const auto bytes = std::as_bytes(std::span(text));
        (void)bucket_.put(prefix_ + name, bytes, md5_of(bytes), "");
    }
    void remove(const std::string& name) override { bucket_.remove(prefix_ + name); }
    std::string url_of(const std::string& name) const override
    {
        return bucket_.url_of(prefix_ + name);
    }

private:
    const std::string prefix_;
    Bucket bucket_;
};

} // namespace

std::unique_ptr<Store> open_bucket(const std::string& place, std::chrono::nanoseconds retry,
                                   GoOn go_on)
{
    return std::make_unique<BucketStore>(parse_s3_url(place), retry, std::move(go_on));
}

} // namespace iio_stream::archive
