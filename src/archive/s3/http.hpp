// SPDX-License-Identifier: MIT
#pragma once

#include "archive/s3/account.hpp"
#include "archive/s3/digest.hpp"
#include "archive/store.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace iio_stream::archive {

inline constexpr std::int64_t kSecond = 1'000'000'000; ///< in nanoseconds

/// What a Content-Range header says (RFC 9110, section 14.4): bytes `first` to `last`, of `total`.
struct ContentRange {
    std::uint64_t first = 0, last = 0;
    std::optional<std::uint64_t> total;

    bool operator==(const ContentRange&) const = default;
};
/// nullopt: it is damaged, or not of bytes.
std::optional<ContentRange> parse_content_range(std::string_view text);

struct Response {
    long status = 0;
    std::string body;
    std::string etag;         ///< without its quotation marks
    std::uint64_t length = 0; ///< of the body, as announced
    std::optional<ContentRange> range;
    bool is_encrypted = false; ///< by a key of its own (SSE-KMS, SSE-C)
};

/// `path` and `query` are encoded, and the query's keys sorted: they are signed in this form.
struct Request {
    const char* method = "GET"; ///< or HEAD, PUT, POST, DELETE
    std::string path, query;
    std::vector<std::string> headers;
    std::span<const std::byte> body;
    /// Takes the body of an answer with status 200 or 206, with what its headers say; by default it
    /// is kept in Response::body.
    std::function<void(const Response&, std::span<const std::byte>)> into;
    std::size_t longest = 1 << 20; ///< body that is kept; more is an Error
};

/// The store could not be reached or did not answer: the request may succeed later.
class Unreachable : public std::exception {
public:
    explicit Unreachable(std::string text) : text_(std::move(text)) {}
    const char* what() const noexcept override { return text_.c_str(); }

private:
    std::string text_;
};

/// One connection to a store at a time; requests are signed by libcurl (AWS Signature Version 4).
/// Redirects are not followed: they would be signed for another host.
class Http {
public:
    /// `go_on` is called about once a second in a request; false ends it with Stopped.
    Http(const Account& account, double rate, GoOn go_on);
    ~Http();
    /// Throws Unreachable, Stopped, or an Error where another try cannot help: no trusted
    /// certificate, a proxy's name that cannot be read.
    Response perform(const Request& request);

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// Encoded for a URL, all but the unreserved characters (and, of a path, its slashes).
std::string encoded(std::string_view text, bool path = false);

} // namespace iio_stream::archive
