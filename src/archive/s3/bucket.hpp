// SPDX-License-Identifier: MIT
#pragma once

#include "archive/s3/http.hpp"

#include <chrono>
#include <optional>

namespace iio_stream::archive {

struct Object {
    std::uint64_t size = 0;
    std::string
        etag; ///< of what was put whole: its MD5 in hex digits, unless the store keeps it to itself
    bool is_encrypted = false; ///< by a key of its own: the ETag is not of the MD5 then
};

struct Piece {
    unsigned number = 0; ///< from 1 on
    Object object;
};

inline constexpr std::size_t kMostPieces = 10'000; ///< of an object: S3's limit

/// A bucket of an S3-compatible store. What the store cannot do now is tried again, at longer and
/// longer intervals, until `retry` is over.
class Bucket {
public:
    Bucket(const Account& account, std::string name, double rate, std::chrono::nanoseconds retry,
           GoOn go_on);

    /// nullopt: there is no such object. read() throws an Error then.
    std::optional<Object> find(const std::string& key);
    /// How many bytes the first piece of an object in pieces has; 0: the store does not say so.
    std::uint64_t first_piece(const std::string& key);
    /// From byte `begin` on, each byte once and in order: a connection that is cut is made again
    /// for the rest, and so is a request of which the answer has a part only. Throws an Error with
    /// EEXIST if the object was replaced meanwhile, with EBADMSG for an answer of other bytes than
    /// those that were requested. The object as the last answer describes it.
    Object read(const std::string& key, const Into& into, std::uint64_t begin = 0);
    /// All objects whose keys begin with `prefix`, by the rest of their keys. Throws an Error
    /// (EBADMSG) for a list without an end.
    std::map<std::string, Entry> list(const std::string& prefix);
    void remove(const std::string& key);
    /// Its ETag. `md5` is that of the bytes: the store refuses others. `condition` is a header,
    /// "If-None-Match: *" or "If-Match: …", which the store may not support, or "". Throws an Error
    /// with EEXIST if the precondition fails.
    std::string put(const std::string& key, std::span<const std::byte> bytes, const Md5& md5,
                    const std::string& condition);

    /// An object in pieces: of an upload that was begun for it and not finished, the newest last,
    /// or a new one. nullopt: the store does not list them.
    std::optional<std::vector<std::string>> uploads_of(const std::string& key);
    std::vector<Piece> pieces(const std::string& key, const std::string& upload);
    std::string begin(const std::string& key);
    std::string put_piece(const std::string& key, const std::string& upload, unsigned number,
                          std::span<const std::byte> bytes, const Md5& md5);
    void finish(const std::string& key, const std::string& upload,
                const std::vector<std::string>& etags, const std::string& condition);

    std::string url_of(const std::string& key) const { return "s3://" + name_ + "/" + key; }
    std::uint64_t retries() const noexcept { return retries_; }

private:
    /// Prepares a request for the next attempt. Returns true if the last attempt made progress: the
    /// time for --retry then starts again.
    using RetryHook = std::function<bool(Request&)>;

    /// Sends a request until it succeeds, fails for good or `retry` is over.
    Response send(const char* what, const std::string& key, Request request,
                  const RetryHook& retry_hook = {});
    /// Like send() with a condition header. If the store does not support conditions, sends it
    /// again without.
    Response send_conditional(const char* what, const std::string& key, Request request,
                              const std::string& condition);

    Http http_;
    std::string name_;
    std::chrono::nanoseconds retry_;
    GoOn go_on_;
    std::uint64_t retries_ = 0;
};

/// The store's own words: "NoSuchBucket: The specified bucket does not exist".
std::string words_of(const Response& response);
struct Element;
/// Of an object or a piece in a list, without its quotation marks.
std::string etag_in(const Element& listed);

} // namespace iio_stream::archive
