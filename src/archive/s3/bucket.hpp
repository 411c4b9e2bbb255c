// SPDX-License-Identifier: MIT
#pragma once

#include "archive/s3/http.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace iio_stream::archive {

struct Element;

struct Object {
    std::uint64_t size = 0;
    std::string
        etag; ///< MD5 in hex digits if the object was sent in one piece and the store reports it
    bool is_encrypted = false; ///< by SSE-KMS or SSE-C; the ETag is then not an MD5
};

struct Piece {
    unsigned number = 0; ///< from 1 on
    Object object;
};

/// A page of a list of objects.
struct ListPage {
    std::vector<std::pair<std::string, Object>> objects; ///< by key, in the store's order
    bool is_last = false;
};

inline constexpr std::size_t kMostPieces = 10'000; ///< per object: S3's limit

/// A bucket of an S3-compatible store. A request that fails temporarily is repeated, at longer and
/// longer intervals, for up to `retry`.
class Bucket {
public:
    Bucket(const Account& account, std::string name, Rate rate, std::chrono::nanoseconds retry,
           GoOn go_on);

    /// Returns nullopt if the object does not exist. read() throws an Error in that case.
    std::optional<Object> find(const std::string& key);
    /// Returns the size in bytes of the first piece of an object that was written in pieces; 0 if
    /// the store does not report it.
    std::uint64_t first_piece(const std::string& key);
    /// Reads an object from byte `begin` on, and passes on each byte once and in order. If the
    /// connection breaks, or if an answer contains only a part, the rest is requested. Throws an
    /// Error with EEXIST if the object was replaced meanwhile, and with EBADMSG if an answer
    /// contains bytes other than the requested ones. Returns the object as the last answer
    /// describes it.
    Object read(const std::string& key, const Into& into, std::uint64_t begin = 0);
    /// Lists all objects whose keys begin with `prefix`, by the rest of the key. Throws an Error
    /// (EBADMSG) if the store's list has no end.
    std::map<std::string, Entry> list(const std::string& prefix);
    /// Lists at most `most` objects whose keys begin with `prefix` and follow `after`. Not every
    /// store heeds `after`, or sorts its list.
    ListPage list_after(const std::string& prefix, const std::string& after, std::size_t most);
    void remove(const std::string& key);
    /// Writes an object and returns its ETag. `md5` is the MD5 of `bytes`; the store rejects bytes
    /// that do not match it. `condition` is the header "If-None-Match: *" or "If-Match: …", or "".
    /// Not every store supports these headers. Throws an Error with EEXIST if the precondition
    /// fails.
    std::string put(const std::string& key, std::span<const std::byte> bytes, const Md5& md5,
                    const std::string& condition);

    /// The following functions write an object in pieces. uploads_of() returns the IDs of the
    /// unfinished uploads of the object, the newest last; nullopt if the store does not list them.
    /// begin() starts a new upload and returns its ID.
    std::optional<std::vector<std::string>> uploads_of(const std::string& key);
    std::vector<Piece> pieces(const std::string& key, const std::string& upload);
    std::string begin(const std::string& key);
    std::string put_piece(const std::string& key, const std::string& upload, unsigned number,
                          std::span<const std::byte> bytes, const Md5& md5);
    /// Returns the ETag of the whole object, "" if the store does not report it.
    std::string finish(const std::string& key, const std::string& upload,
                       const std::vector<std::string>& etags, const std::string& condition);

    std::string url_of(const std::string& key) const { return "s3://" + name_ + "/" + key; }
    std::uint64_t retries() const noexcept { return retries_; }

private:
    /// Prepares a request for the next attempt. Returns true if the last attempt made progress: the
    /// time for --retry then starts again.
    using RetryHook = std::function<bool(Request&)>;

    /// Sends a request until it succeeds or fails for good, or until the time `retry` has passed.
    Response send(const char* what, const std::string& key, Request request,
                  const RetryHook& retry_hook = {});
    /// Requests a page of the list of objects. `query` has the parameters of the page.
    Element request_list(const std::string& prefix, const std::string& query);
    /// Like send() with a condition header. If the store does not support the condition, the
    /// request is sent again without it.
    Response send_conditional(const char* what, const std::string& key, Request request,
                              const std::string& condition);

    Http http_;
    std::string name_;
    std::chrono::nanoseconds retry_;
    GoOn go_on_;
    std::uint64_t retries_ = 0;
};

/// Returns the store's error message, such as "NoSuchBucket: The specified bucket does not exist",
/// or the HTTP status if the answer has no message.
std::string words_of(const Response& response);
/// Returns a listed object's or piece's ETag, without the quotation marks.
std::string etag_in(const Element& listed);

} // namespace iio_stream::archive
