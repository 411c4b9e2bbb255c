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

/// The content of a Content-Range header (RFC 9110, section 14.4): bytes `first` to `last` of
/// `total`.
struct ContentRange {
    std::uint64_t first = 0, last = 0;
    std::optional<std::uint64_t> total;

    bool operator==(const ContentRange&) const = default;
};
/// Returns nullopt if the header is malformed, or if its unit is not bytes.
std::optional<ContentRange> parse_content_range(std::string_view text);

struct Response {
    long status = 0;
    std::string body;
    std::string etag;         ///< without its quotation marks
    std::uint64_t length = 0; ///< of the body, as announced
    std::optional<ContentRange> range;
    bool is_encrypted = false; ///< by SSE-KMS or SSE-C
};

/// `path` and `query` are percent-encoded, and the keys of the query are sorted, because they are
/// signed in this form.
struct Request {
    const char* method = "GET"; ///< or HEAD, PUT, POST, DELETE
    std::string path, query;
    std::vector<std::string> headers;
    std::span<const std::byte> body;
    /// Receives the body of an answer with status 200 or 206, and the Response with the values of
    /// its headers. If it is empty, the body is kept in Response::body.
    std::function<void(const Response&, std::span<const std::byte>)> into;
    std::size_t longest = 1 << 20; ///< body to keep, in bytes; a longer one is an Error
};

/// The store could not be reached or did not answer: the request may succeed later.
class Unreachable : public std::exception {
public:
    explicit Unreachable(std::string text) : text_(std::move(text)) {}
    const char* what() const noexcept override { return text_.c_str(); }

private:
    std::string text_;
};

using Rate = std::function<double()>;

/// One connection to a store at a time; requests are signed by libcurl (AWS Signature Version 4).
/// Redirects are not followed: they would be signed for another host.
class Http {
public:
    /// `rate` returns the maximum upload rate in bytes per second, 0 for no limit, and is called
    /// for each request. `go_on` is called about once a second during a request. If it returns
    /// false, the request throws Stopped.
    Http(const Account& account, Rate rate, GoOn go_on);
    ~Http();
    /// Throws Unreachable, Stopped, or an Error if another attempt cannot help, for example because
    /// the store's certificate is not trusted or the proxy's address is malformed.
    Response perform(const Request& request);

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// Percent-encodes `text` for a URL, except unreserved characters and, if it is a path, slashes.
std::string encoded(std::string_view text, bool path = false);

} // namespace iio_stream::archive
