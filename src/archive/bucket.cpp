// SPDX-License-Identifier: MIT
#include "archive/bucket.hpp"

#include "archive/xml.hpp"
#include "iio_stream/error.hpp"
#include "sys/event.hpp"

#include <algorithm>
#include <cerrno>
#include <thread>
#include <utility>

namespace iio_stream::archive {

std::string words_of(const Response& response)
{
    constexpr std::size_t kLongest = 300;
    std::string text = "HTTP status " + std::to_string(response.status);
    try {
        const Element answer = parse_xml(response.body, "");
        if (answer.name == "Error" && !answer.value("Code").empty())
            text = std::string(answer.value("Code")) + ": " + std::string(answer.value("Message"));
    } catch (const Error&) { // a HEAD has no body, and a proxy's is no XML
    }
    return text.substr(0, kLongest);
}

std::string etag_in(const Element& listed)
{
    std::string etag(listed.value("ETag"));
    std::erase(etag, '"');
    return etag;
}

namespace {

constexpr std::int64_t kFirstPause = kSecond / 4, kLongestPause = 30 * kSecond;

std::int64_t half_to_whole(std::int64_t ns) // that many clients do not come back at the same time
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

/// Whether the same request may succeed later: the store is busy, or got other bytes than were
/// sent.
bool may_pass(const Response& response)
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
        return "check the credentials, and what they may do with the bucket";
    if (status == 301 || status == 307)
        return "the bucket is somewhere else: set AWS_REGION or AWS_ENDPOINT_URL";
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

} // namespace

Bucket::Bucket(const Account& account, std::string name, double rate,
               std::chrono::nanoseconds retry, GoOn go_on)
    : http_(account, rate, go_on), name_(std::move(name)), retry_(retry), go_on_(std::move(go_on))
{}

Response Bucket::ask(const char* what, const std::string& key, Request request, const Again& again)
{
    request.path = "/" + encoded(name_) + (key.empty() ? "" : "/" + encoded(key, true));
    std::int64_t deadline = sys::after(retry_.count());
    for (std::int64_t pause = kFirstPause;; pause = std::min(2 * pause, kLongestPause)) {
        std::string why;
        int error = EIO;
        try {
            Response response = http_.perform(request);
            if (!may_pass(response)) {
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
        if (again && again(request)) {
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

namespace {

Response required(Response response, const char* what, const std::string& url)
{
    if (response.status == 404)
        throw Error(Fault::storage, ENOENT, what, url, words_of(response));
    return response;
}

/// How far an object has been read, by one answer or several.
class Progress {
public:
    Progress(std::uint64_t begin, std::string url)
        : have_(begin), tried_(begin), url_(std::move(url))
    {}

    /// What of the bytes is new. Throws an Error if they are of another object.
    std::span<const std::byte> take(const Response& response, std::span<const std::byte> bytes)
    {
        if (!answered_)
            place_ = response.status == 206 ? have_ : 0; // a store without ranges sends all of it
        if (!etag_.empty() && response.etag != etag_)    // a store without conditions
            throw Error(Fault::storage, EEXIST, "read", url_, "it was replaced meanwhile");
        answered_ = true;
        etag_ = response.etag;
        const auto known =
            static_cast<std::size_t>(std::min<std::uint64_t>(have_ - place_, bytes.size()));
        place_ += bytes.size();
        have_ = std::max(have_, place_);
        return bytes.subspan(known);
    }

    /// True: there is more than at the last call.
    bool ask_for_rest(Request& request)
    {
        request.headers.clear();
        if (have_ != 0)
            request.headers.push_back("Range: bytes=" + std::to_string(have_) + "-");
        if (!etag_.empty() && !etag_.starts_with("W/"))
            request.headers.push_back("If-Match: \"" + etag_ + "\"");
        answered_ = false;
        return std::exchange(tried_, have_) != have_;
    }

private:
    std::uint64_t have_, tried_, place_ = 0;
    bool answered_ = false; ///< the present request
    std::string etag_;
    const std::string url_;
};

} // namespace

std::optional<Object> Bucket::find(const std::string& key)
{
    const Response response = ask("look for", key, request_for("HEAD"));
    if (response.status == 404)
        return std::nullopt;
    return Object{response.length, response.etag};
}

std::string Bucket::read(const std::string& key, const Into& into, std::uint64_t begin)
{
    Progress progress(begin, url_of(key));
    Request request = request_for("GET");
    (void)progress.ask_for_rest(request);
    request.into = [&](const Response& response, std::span<const std::byte> bytes) {
        into(progress.take(response, bytes));
    };
    const auto again = [&progress](Request& rest) { return progress.ask_for_rest(rest); };
    return required(ask("read", key, std::move(request), again), "read", url_of(key)).etag;
}

Response Bucket::ask_if(const char* what, const std::string& key, Request request,
                        const std::string& condition)
{
    Request conditional = request;
    if (!condition.empty())
        conditional.headers.push_back(condition);
    try {
        return required(ask(what, key, std::move(conditional)), what, url_of(key));
    } catch (const Error& error) {
        if (error.code().value() != ENOSYS) // a store without conditions
            throw;
    }
    return required(ask(what, key, std::move(request)), what, url_of(key));
}

std::string Bucket::put(const std::string& key, std::span<const std::byte> bytes, const Md5& md5,
                        const std::string& condition)
{
    return ask_if("write", key, request_for("PUT", {}, bytes, md5), condition).etag;
}

std::optional<std::vector<std::string>> Bucket::uploads_of(const std::string& key)
{
    const Response response =
        ask("list the uploads of", "",
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
        const Response response =
            ask("list the pieces of", key,
                request_for("GET", "part-number-marker=" + after + "&uploadId=" + encoded(upload)));
        if (response.status != 200)
            return {};
        const Element answer = parse_xml(response.body, url_of(key));
        const std::size_t before = found.size();
        for (const Element& one : answer.children) {
            if (one.name != "Part")
                continue;
            found.push_back({static_cast<unsigned>(std::strtoul(
                                 std::string(one.value("PartNumber")).c_str(), nullptr, 10)),
                             {std::strtoull(std::string(one.value("Size")).c_str(), nullptr, 10),
                              etag_in(one)}});
        }
        const bool more = answer.value("IsTruncated") == "true" && found.size() > before;
        after = more ? std::to_string(found.back().number) : "";
    }
    return found;
}

std::string Bucket::begin(const std::string& key)
{
    const Response response =
        required(ask("begin", key, request_for("POST", "uploads=")), "begin", url_of(key));
    std::string id(parse_xml(response.body, url_of(key)).value("UploadId"));
    if (id.empty())
        throw Error(Fault::storage, EBADMSG, "begin", url_of(key),
                    "the store's answer names no upload");
    return id;
}

std::string Bucket::put_piece(const std::string& key, const std::string& upload, unsigned number,
                              std::span<const std::byte> bytes, const Md5& md5)
{
    const std::string query =
        "partNumber=" + std::to_string(number) + "&uploadId=" + encoded(upload);
    return required(ask("write", key, request_for("PUT", query, bytes, md5)), "write", url_of(key))
        .etag;
}

void Bucket::finish(const std::string& key, const std::string& upload,
                    const std::vector<std::string>& etags, const std::string& condition)
{
    std::string body = "<CompleteMultipartUpload>";
    for (std::size_t i = 0; i < etags.size(); ++i)
        body += "<Part><PartNumber>" + std::to_string(i + 1) + "</PartNumber><ETag>\"" + etags[i] +
                "\"</ETag></Part>";
    body += "</CompleteMultipartUpload>";
    const std::string query = "uploadId=" + encoded(upload);
    const auto bytes = std::as_bytes(std::span(body));
    const Response response =
        ask_if("finish", key, request_for("POST", query, bytes, md5_of(bytes)), condition);
    // An error may come after the status was sent (docs.aws.amazon.com, CompleteMultipartUpload).
    if (parse_xml(response.body, url_of(key)).name == "Error")
        throw Error(Fault::storage, EIO, "finish", url_of(key), words_of(response));
}

} // namespace iio_stream::archive
