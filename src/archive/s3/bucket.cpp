// SPDX-License-Identifier: MIT
#include "archive/s3/bucket.hpp"

#include "archive/s3/xml.hpp"
#include "core/base/text.hpp"
#include "core/base/utc.hpp"
#include "iio_stream/error.hpp"
#include "sys/event.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <set>
#include <thread>
#include <utility>

namespace iio_stream::archive {

namespace {

constexpr std::size_t kLongestPage = 8 << 20; ///< 1000 names of maximum length

/// Decodes form-encoded text. A percent sign without a valid code is kept.
std::string decoded(std::string_view text)
{
    std::string made;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (const std::optional<char> character = detail::percent_decoded(text.substr(i))) {
            made += *character;
            i += 2;
        } else {
            made += text[i] == '+' ? ' ' : text[i];
        }
    }
    return made;
}

std::string key_in(const Element& page, const Element& listed)
{
    const std::string_view key = listed.value("Key");
    return page.value("EncodingType") == "url" ? decoded(key) : std::string(key);
}

std::uint64_t size_in(const Element& listed)
{
    return std::strtoull(std::string(listed.value("Size")).c_str(), nullptr, 10);
}

constexpr std::int64_t kFirstPause = kSecond / 4, kLongestPause = 30 * kSecond;

std::int64_t half_to_whole(std::int64_t ns) // spreads the retries of many clients
{
    return ns / 2 + sys::monotonic_ns() % (ns / 2);
}

int errno_of(long status)
{
    if (status == 403 || status == 401)
        return EACCES;
    if (status == 412) // Precondition Failed
        return EEXIST;
    if (status == 501)
        return ENOSYS;
    return status == 404 ? ENOENT : EIO;
}

/// Returns whether the same request may succeed later, because the store is busy or has received
/// bytes other than those that were sent.
bool is_transient(const Response& response)
{
    const long status = response.status;
    if (status != 400)
        return status == 408 || status == 409 || status == 429 || (status >= 500 && status != 501);
    const std::string words = words_of(response);
    return words.starts_with("BadDigest:") || words.starts_with("RequestTimeout:") ||
           words.starts_with("XAmzContentSHA256Mismatch:");
}

std::string hint_for(long status)
{
    if (status == 403 || status == 401)
        return "check the credentials and their permissions for the bucket";
    if (status == 301 || status == 307)
        return "the bucket is at another address: set AWS_REGION or AWS_ENDPOINT_URL";
    return "";
}

Request request_for(const char* method, std::string query = {})
{
    Request made;
    made.method = method;
    made.query = std::move(query);
    return made;
}

Request request_for(const char* method, std::string query, std::span<const std::byte> body,
                    const Md5& md5)
{
    Request made = request_for(method, std::move(query));
    made.body = body;
    if (!body.empty())
        made.headers = {"Content-MD5: " + base64(md5)};
    return made;
}

Response required(Response response, const char* what, const std::string& url)
{
    if (response.status == 404)
        throw Error(Fault::storage, ENOENT, what, url, words_of(response));
    return response;
}

/// Tracks how much of an object has been read, in one answer or several.
class Progress {
public:
    Progress(std::uint64_t begin, std::string url)
        : have_(begin), tried_(begin), url_(std::move(url))
    {}

    std::uint64_t have() const noexcept { return have_; }

    /// Returns the bytes that are new. Throws an Error if the bytes belong to another object, or
    /// are not the requested ones.
    std::span<const std::byte> take(const Response& response, std::span<const std::byte> bytes)
    {
        if (!etag_.empty() && response.etag != etag_) // the store ignores conditions
            throw Error(Fault::storage, EEXIST, "read", url_, "it was replaced meanwhile");
        if (!answered_)
            place_ = first_of(response); // a store without support for ranges sends everything
        answered_ = true;
        etag_ = response.etag;
        const auto known =
            static_cast<std::size_t>(std::min<std::uint64_t>(have_ - place_, bytes.size()));
        place_ += bytes.size();
        have_ = std::max(have_, place_);
        return bytes.subspan(known);
    }

    /// Changes the request so that it covers the bytes not read yet. Returns true if more were read
    /// since the last call.
    bool request_rest(Request& request)
    {
        request.headers.clear();
        if (have_ != 0)
            request.headers.push_back("Range: bytes=" + std::to_string(have_) + "-");
        if (!etag_.empty() && !etag_.starts_with("W/"))
            request.headers.push_back("If-Match: \"" + etag_ + "\"");
        answered_ = false;
        place_ = 0;
        return std::exchange(tried_, have_) != have_;
    }

    /// Returns whether a completed answer was only a part of the object, so that more must be
    /// requested. Throws an Error if the answer did not contain the bytes that it announced.
    bool is_more(const Response& response) const
    {
        const bool is_part = response.status == 206 && response.range;
        if (place_ < have_ || (is_part && place_ != response.range->last + 1))
            refuse("the store's answer ended at byte " + std::to_string(place_) + ", not at " +
                   std::to_string(is_part ? response.range->last + 1 : have_));
        return is_part && response.range->total && place_ < *response.range->total;
    }

private:
    [[noreturn]] void refuse(const std::string& what) const
    {
        throw Error(Fault::storage, EBADMSG, "read", url_, what);
    }

    /// Returns the offset of the first byte of an answer. For a partial answer, only its
    /// Content-Range states this (RFC 9110, section 15.3.7).
    std::uint64_t first_of(const Response& response) const
    {
        if (response.status != 206)
            return 0;
        if (!response.range)
            refuse("the store's partial answer is without a valid Content-Range");
        if (response.range->first != have_)
            refuse("the store's answer begins at byte " + std::to_string(response.range->first) +
                   " by its Content-Range, but byte " + std::to_string(have_) + " was requested");
        return have_;
    }

    std::uint64_t have_, tried_, place_ = 0;
    bool answered_ = false; ///< whether the current request has an answer
    std::string etag_;
    const std::string url_;
};

/// Follows the pages of a list. Rejects a list that could continue without end.
class Pagination {
public:
    explicit Pagination(std::string url) : url_(std::move(url)) {}

    /// Token of the next page. "" stands for the first page or, after add(), for the end of the
    /// list.
    const std::string& token() const noexcept { return token_; }

    /// Adds a page that has `objects` new objects. Throws an Error if the list has no end.
    void add(const Element& page, std::size_t objects)
    {
        const bool is_last = page.value("IsTruncated") != "true";
        token_ = is_last ? "" : page.value("NextContinuationToken");
        if (is_last)
            return;
        if (token_.empty())
            refuse("continues, but without a continuation token");
        if (!seen_.insert(sha256_of(std::as_bytes(std::span(token_)))).second)
            refuse("has no end: it repeats a continuation token");
        empty_ = objects == 0 ? empty_ + 1 : 0;
        if (empty_ == kMostEmptyPages)
            refuse("has no end: " + std::to_string(empty_) + " pages list nothing new");
        if (seen_.size() == kMostPages)
            refuse("has more than " + std::to_string(kMostPages) + " pages");
    }

private:
    static constexpr std::size_t kMostPages = 20'000, kMostEmptyPages = 100;

    [[noreturn]] void refuse(const std::string& what) const
    {
        throw Error(Fault::storage, EBADMSG, "list", url_, "the store's list " + what);
    }

    const std::string url_;
    std::string token_;
    std::set<Sha256> seen_; ///< digests of tokens, which may be long
    std::size_t empty_ = 0; ///< consecutive pages without new objects
};

} // namespace

std::string words_of(const Response& response)
{
    constexpr std::size_t kLongest = 300;
    std::string text = "HTTP status " + std::to_string(response.status);
    try {
        const Element answer = parse_xml(response.body, "");
        if (answer.name == "Error" && !answer.value("Code").empty())
            text = std::string(answer.value("Code")) + ": " + std::string(answer.value("Message"));
    } catch (const Error&) { // a HEAD has no body, and a proxy's body is not XML
    }
    return text.substr(0, kLongest);
}

std::string etag_in(const Element& listed)
{
    std::string etag(listed.value("ETag"));
    std::erase(etag, '"');
    return etag;
}

Bucket::Bucket(const Account& account, std::string name, Rate rate, std::chrono::nanoseconds retry,
               GoOn go_on)
    : http_(account, std::move(rate), go_on),
      name_(std::move(name)),
      retry_(retry),
      go_on_(std::move(go_on))
{}

Response Bucket::send(const char* what, const std::string& key, Request request,
                      const RetryHook& retry_hook)
{
    request.path = "/" + encoded(name_) + (key.empty() ? "" : "/" + encoded(key, true));
    std::int64_t deadline = sys::after(retry_.count());
    for (std::int64_t pause = kFirstPause;; pause = std::min(2 * pause, kLongestPause)) {
        std::string why;
        int error = EIO;
        try {
            Response response = http_.perform(request);
            if (!is_transient(response)) {
                if (response.status / 100 == 2 || response.status == 404)
                    return response;
                throw Error(Fault::storage, errno_of(response.status), what, url_of(key),
                            words_of(response), hint_for(response.status));
            }
            why = words_of(response);
        } catch (const Unreachable& failure) {
            why = failure.what();
            error = EHOSTUNREACH;
        }
        const std::int64_t now = sys::monotonic_ns();
        if (retry_hook && retry_hook(request)) {
            deadline = sys::after(retry_.count());
            pause = kFirstPause;
        }
        if (now >= deadline)
            throw Error(Fault::storage, error, what, url_of(key), why);
        ++retries_;
        const std::int64_t until = std::min(now + half_to_whole(pause), deadline);
        while (sys::monotonic_ns() < until) {
            if (go_on_ && !go_on_())
                throw Stopped();
            std::this_thread::sleep_for(
                std::chrono::nanoseconds(std::min(kSecond / 5, until - now)));
        }
    }
}

std::optional<Object> Bucket::find(const std::string& key)
{
    const Response response = send("look for", key, request_for("HEAD"));
    if (response.status == 404)
        return std::nullopt;
    return Object{response.length, response.etag, response.is_encrypted};
}

std::uint64_t Bucket::first_piece(const std::string& key)
{
    const Response response = send("look for", key, request_for("HEAD", "partNumber=1"));
    return response.status == 404 ? 0 : response.length;
}

Object Bucket::read(const std::string& key, const Into& into, std::uint64_t begin)
{
    Progress progress(begin, url_of(key));
    Request request = request_for("GET");
    request.into = [&](const Response& response, std::span<const std::byte> bytes) {
        into(progress.take(response, bytes));
    };
    const auto retry_hook = [&progress](Request& rest) { return progress.request_rest(rest); };
    for (;;) {
        (void)progress.request_rest(request);
        const Response response =
            required(send("read", key, request, retry_hook), "read", url_of(key));
        if (!progress.is_more(response))
            return {progress.have(), response.etag, response.is_encrypted};
    }
}

Response Bucket::send_conditional(const char* what, const std::string& key, Request request,
                                  const std::string& condition)
{
    Request conditional = request;
    if (!condition.empty())
        conditional.headers.push_back(condition);
    try {
        return required(send(what, key, std::move(conditional)), what, url_of(key));
    } catch (const Error& error) {
        if (error.code().value() != ENOSYS) // the store does not support conditions
            throw;
    }
    return required(send(what, key, std::move(request)), what, url_of(key));
}

std::map<std::string, Entry> Bucket::list(const std::string& prefix)
{
    std::map<std::string, Entry> found;
    Pagination pages(url_of(prefix));
    do {
        const std::string token =
            pages.token().empty() ? "" : "continuation-token=" + encoded(pages.token()) + "&";
        const Element page =
            request_list(prefix, token + "encoding-type=url&list-type=2&prefix=" + encoded(prefix));
        const std::size_t before = found.size();
        std::size_t folders = 0;
        for (const Element& one : page.children) {
            const std::string key = key_in(page, one);
            if (one.name != "Contents" || !key.starts_with(prefix))
                continue;
            if (key.ends_with('/')) { // marks a folder
                ++folders;
                continue;
            }
            found.insert_or_assign(key.substr(prefix.size()),
                                   Entry{size_in(one),
                                         detail::utc_of(one.value("LastModified")).value_or(0),
                                         etag_in(one)});
        }
        pages.add(page, found.size() - before + folders);
    } while (!pages.token().empty());
    return found;
}

ListPage Bucket::list_after(const std::string& prefix, const std::string& after, std::size_t most)
{
    const Element page =
        request_list(prefix, "encoding-type=url&list-type=2&max-keys=" + std::to_string(most) +
                                 "&prefix=" + encoded(prefix) + "&start-after=" + encoded(after));
    ListPage found;
    found.is_last = page.value("IsTruncated") != "true";
    for (const Element& one : page.children)
        if (one.name == "Contents")
            found.objects.emplace_back(key_in(page, one), Object{size_in(one), etag_in(one)});
    return found;
}

Element Bucket::request_list(const std::string& prefix, const std::string& query)
{
    Request request = request_for("GET", query);
    request.longest = kLongestPage;
    const Response response = send("list", "", std::move(request));
    Element page = parse_xml(response.body, url_of(prefix));
    if (response.status == 404 || page.name != "ListBucketResult")
        throw Error(Fault::storage, response.status == 404 ? ENOENT : EBADMSG, "list",
                    url_of(prefix),
                    page.name == "Error" ? words_of(response) : "the store's answer is not a list");
    return page;
}

void Bucket::remove(const std::string& key)
{
    Request request;
    request.method = "DELETE";
    (void)send("remove", key, std::move(request)); // 404: it is already removed
}

std::string Bucket::put(const std::string& key, std::span<const std::byte> bytes, const Md5& md5,
                        const std::string& condition)
{
    return send_conditional("write", key, request_for("PUT", {}, bytes, md5), condition).etag;
}

std::optional<std::vector<std::string>> Bucket::uploads_of(const std::string& key)
{
    const Response response =
        send("list the uploads of", "",
             request_for("GET", "max-uploads=1000&prefix=" + encoded(key) + "&uploads="));
    if (response.status != 200)
        return std::nullopt;
    std::vector<std::string> found;
    const Element answer = parse_xml(response.body, url_of(key));
    for (const Element& one : answer.children)
        if (one.name == "Upload" && one.value("Key") == key)
            found.emplace_back(one.value("UploadId"));
    return found;
}

std::vector<Piece> Bucket::pieces(const std::string& key, const std::string& upload)
{
    std::vector<Piece> found;
    for (std::string after = "0"; !after.empty();) {
        const Response response = send(
            "list the pieces of", key,
            request_for("GET", "part-number-marker=" + after + "&uploadId=" + encoded(upload)));
        if (response.status != 200)
            return {};
        const Element answer = parse_xml(response.body, url_of(key));
        const unsigned last = found.empty() ? 0 : found.back().number;
        for (const Element& one : answer.children) {
            if (one.name != "Part")
                continue;
            found.push_back({static_cast<unsigned>(std::strtoul(
                                 std::string(one.value("PartNumber")).c_str(), nullptr, 10)),
                             {size_in(one), etag_in(one)}});
        }
        const bool is_last = answer.value("IsTruncated") != "true";
        const unsigned next = found.empty() ? 0 : found.back().number;
        if (!is_last && (next <= last || next > kMostPieces))
            throw Error(Fault::storage, EBADMSG, "list the pieces of", url_of(key),
                        "the store's list has no end: piece " + std::to_string(next) +
                            " follows piece " + std::to_string(last));
        after = is_last ? "" : std::to_string(next);
    }
    return found;
}

std::string Bucket::begin(const std::string& key)
{
    const Response response =
        required(send("begin", key, request_for("POST", "uploads=")), "begin", url_of(key));
    std::string id(parse_xml(response.body, url_of(key)).value("UploadId"));
    if (id.empty())
        throw Error(Fault::storage, EBADMSG, "begin", url_of(key),
                    "the store's answer has no upload ID");
    return id;
}

std::string Bucket::put_piece(const std::string& key, const std::string& upload, unsigned number,
                              std::span<const std::byte> bytes, const Md5& md5)
{
    const std::string query =
        "partNumber=" + std::to_string(number) + "&uploadId=" + encoded(upload);
    return required(send("write", key, request_for("PUT", query, bytes, md5)), "write", url_of(key))
        .etag;
}

std::string Bucket::finish(const std::string& key, const std::string& upload,
                           const std::vector<std::string>& etags, const std::string& condition)
{
    std::string body = "<CompleteMultipartUpload>";
    for (std::size_t i = 0; i < etags.size(); ++i)
        body += "<Part><PartNumber>" + std::to_string(i + 1) + "</PartNumber><ETag>\"" + etags[i] +
                "\"</ETag></Part>";
    body += "</CompleteMultipartUpload>";
    const std::string query = "uploadId=" + encoded(upload);
    const auto bytes = std::as_bytes(std::span(body));
    const Response response = send_conditional(
        "finish", key, request_for("POST", query, bytes, md5_of(bytes)), condition);
    // The store can report an error in the body after it has sent status 200 (docs.aws.amazon.com,
    // CompleteMultipartUpload).
    const Element answer = parse_xml(response.body, url_of(key));
    if (answer.name == "Error")
        throw Error(Fault::storage, EIO, "finish", url_of(key), words_of(response));
    return etag_in(answer);
}

} // namespace iio_stream::archive
