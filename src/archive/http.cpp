// SPDX-License-Identifier: MIT
#include "archive/http.hpp"

#include "archive/libraries.hpp"
#include "core/text.hpp"
#include "iio_stream/error.hpp"
#include "sys/event.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <new>

namespace iio_stream::archive {

namespace {

constexpr long kConnectSeconds = 20;
constexpr long kSilentSeconds = 30, kSlowest = 100; ///< bytes per second over that time

class Headers {
public:
    ~Headers() { curl().free_list(list_); }
    void add(const std::string& line)
    {
        curl_slist* longer = curl().append(list_, line.c_str());
        if (longer == nullptr)
            throw std::bad_alloc();
        list_ = longer;
    }
    curl_slist* list() const { return list_; }

private:
    curl_slist* list_ = nullptr;
};

/// A request that is made: what libcurl's callbacks get.
struct Exchange {
    const Request& request;
    const std::function<bool()>& go_on;
    CURL* easy;
    Response response;
    std::size_t sent = 0;
    std::int64_t asked_ns = 0;
    bool stopped = false, too_long = false;
    std::exception_ptr failed{};
    std::array<char, CURL_ERROR_SIZE> why{};

    const char* text_of(CURLcode code) const
    {
        return why[0] != '\0' ? why.data() : curl().text_of(code);
    }
};

std::size_t give(char* to, std::size_t size, std::size_t count, void* user)
{
    auto& x = *static_cast<Exchange*>(user);
    const std::size_t bytes = std::min(size * count, x.request.body.size() - x.sent);
    std::memcpy(to, x.request.body.data() + x.sent, bytes);
    x.sent += bytes;
    return bytes;
}

int seek(void* user, curl_off_t offset, int)
{
    static_cast<Exchange*>(user)->sent = static_cast<std::size_t>(offset);
    return CURL_SEEKFUNC_OK;
}

std::size_t take(char* from, std::size_t size, std::size_t count, void* user)
{
    auto& x = *static_cast<Exchange*>(user);
    const std::size_t bytes = size * count;
    curl().get(x.easy, CURLINFO_RESPONSE_CODE, &x.response.status);
    try {
        if (x.request.into && (x.response.status == 200 || x.response.status == 206)) {
            x.request.into(x.response, std::as_bytes(std::span(from, bytes)));
            return bytes;
        }
        x.too_long = bytes > x.request.longest - x.response.body.size();
        if (x.too_long)
            return 0;
        x.response.body.append(from, bytes);
        return bytes;
    } catch (...) {
        x.failed = std::current_exception();
        return 0;
    }
}

std::size_t take_header(char* from, std::size_t size, std::size_t count, void* user)
{
    auto& x = *static_cast<Exchange*>(user);
    std::string_view line(from, size * count);
    constexpr std::string_view kEtag = "etag:";
    constexpr std::size_t kLongest = 256;
    const auto same = [](char a, char b) { return a == (b | 0x20); };
    if (line.size() < kLongest && line.size() > kEtag.size() &&
        std::equal(kEtag.begin(), kEtag.end() - 1, line.begin(), same)) {
        try {
            x.response.etag.clear();
            for (const char letter : line.substr(kEtag.size()))
                if (std::strchr("\" \r\n", letter) == nullptr)
                    x.response.etag += letter;
        } catch (const std::bad_alloc&) {
            return 0;
        }
    }
    return size * count;
}

int ask(void* user, curl_off_t, curl_off_t, curl_off_t, curl_off_t)
{
    auto& x = *static_cast<Exchange*>(user);
    if (const std::int64_t now = sys::monotonic_ns(); now - x.asked_ns >= kSecond) {
        x.asked_ns = now;
        try {
            x.stopped = x.go_on && !x.go_on();
        } catch (...) {
            x.failed = std::current_exception();
            return 1;
        }
    }
    return x.stopped ? 1 : 0;
}

bool is_permanent(CURLcode code)
{
    switch (code) {
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_NOT_BUILT_IN:
    case CURLE_BAD_FUNCTION_ARGUMENT:
        return true;
    default:
        return false;
    }
}

} // namespace

struct Http::State {
    struct Handle {
        void operator()(CURL* easy) const { curl().cleanup(easy); }
    };

    Account account;
    double rate;
    std::function<bool()> go_on;
    std::unique_ptr<CURL, Handle> easy;

    void set_connection() const;
    void set_body(Exchange& exchange, Headers& headers) const;
};

Http::Http(const Account& account, double rate, std::function<bool()> go_on)
    : state_(new State{account, rate, std::move(go_on),
                       std::unique_ptr<CURL, State::Handle>(curl().init())})
{
    if (!state_->easy)
        throw std::bad_alloc();
}

Http::~Http() = default;

void Http::State::set_connection() const
{
    const auto set = [this](CURLoption option, auto value) {
        if (const CURLcode code = curl().set(easy.get(), option, value); code != CURLE_OK)
            throw Error(Fault::other, ENOSYS, "set up", "libcurl", curl().text_of(code));
    };
    curl().reset(easy.get()); // connections are kept
    set(CURLOPT_PROTOCOLS_STR, "http,https");
    set(CURLOPT_NOSIGNAL, 1L);
    set(CURLOPT_CONNECTTIMEOUT, kConnectSeconds);
    set(CURLOPT_LOW_SPEED_LIMIT,
        rate > 0 ? std::clamp(static_cast<long>(rate / 2), 1L, kSlowest) : kSlowest);
    set(CURLOPT_LOW_SPEED_TIME, kSilentSeconds);
    set(CURLOPT_NOPROGRESS, 0L);
    if (rate > 0)
        set(CURLOPT_MAX_SEND_SPEED_LARGE, static_cast<curl_off_t>(std::max(rate, 1.0)));
    if (!account.authorities.empty())
        set(CURLOPT_CAINFO, account.authorities.c_str());
    set(CURLOPT_AWS_SIGV4, ("aws:amz:" + account.region + ":s3").c_str());
    set(CURLOPT_USERNAME, account.key.c_str());
    set(CURLOPT_PASSWORD, account.secret.c_str());
}

void Http::State::set_body(Exchange& x, Headers& headers) const
{
    const std::string_view method = x.request.method;
    const auto size = static_cast<curl_off_t>(x.request.body.size());
    CURL* const c = easy.get();
    if (method == "PUT") {
        curl().set(c, CURLOPT_UPLOAD, 1L);
        curl().set(c, CURLOPT_INFILESIZE_LARGE, size);
        curl().set(c, CURLOPT_READFUNCTION, &give);
        curl().set(c, CURLOPT_READDATA, &x);
        curl().set(c, CURLOPT_SEEKFUNCTION, &seek);
        curl().set(c, CURLOPT_SEEKDATA, &x);
    } else if (method == "POST") {
        curl().set(c, CURLOPT_POSTFIELDSIZE_LARGE, size);
        curl().set(c, CURLOPT_POSTFIELDS,
                   size == 0 ? "" : reinterpret_cast<const char*>(x.request.body.data()));
        curl().set(c, CURLOPT_POST, 1L);
        headers.add("Content-Type: application/xml"); // instead of a form's
    } else if (method == "HEAD") {
        curl().set(c, CURLOPT_NOBODY, 1L);
    } else if (method == "DELETE") {
        curl().set(c, CURLOPT_CUSTOMREQUEST, "DELETE");
    }
}

Response Http::perform(const Request& request)
{
    State& s = *state_;
    Exchange x{request, s.go_on, s.easy.get(), {}};
    Headers headers;
    s.set_connection();
    s.set_body(x, headers);
    for (const std::string& header : request.headers)
        headers.add(header);
    headers.add("x-amz-content-sha256: " + detail::hex_digits(sha256_of(request.body)));
    if (!s.account.token.empty())
        headers.add("x-amz-security-token: " + s.account.token);
    const std::string url =
        s.account.endpoint + request.path + (request.query.empty() ? "" : "?" + request.query);
    CURL* const c = s.easy.get();
    curl().set(c, CURLOPT_ERRORBUFFER, x.why.data());
    curl().set(c, CURLOPT_URL, url.c_str());
    curl().set(c, CURLOPT_HTTPHEADER, headers.list());
    curl().set(c, CURLOPT_WRITEFUNCTION, &take);
    curl().set(c, CURLOPT_WRITEDATA, &x);
    curl().set(c, CURLOPT_HEADERFUNCTION, &take_header);
    curl().set(c, CURLOPT_HEADERDATA, &x);
    curl().set(c, CURLOPT_XFERINFOFUNCTION, &ask);
    curl().set(c, CURLOPT_XFERINFODATA, &x);
    const CURLcode code = curl().perform(c);
    curl().set(c, CURLOPT_ERRORBUFFER, static_cast<char*>(nullptr));
    if (x.failed)
        std::rethrow_exception(x.failed);
    if (x.stopped)
        throw Stopped();
    if (x.too_long)
        throw Error(Fault::storage, EMSGSIZE, "read the answer of", s.account.endpoint,
                    "it is longer than " + std::to_string(request.longest) + " bytes");
    if (code != CURLE_OK && is_permanent(code))
        throw Error(Fault::storage, EPROTO, "connect to", s.account.endpoint, x.text_of(code));
    if (code != CURLE_OK)
        throw Unreachable(x.text_of(code));
    curl_off_t length = 0;
    curl().get(c, CURLINFO_RESPONSE_CODE, &x.response.status);
    curl().get(c, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
    x.response.length = static_cast<std::uint64_t>(std::max<curl_off_t>(length, 0));
    return std::move(x.response);
}

std::string encoded(std::string_view text, bool path)
{
    static constexpr char kDigits[] = "0123456789ABCDEF";
    std::string made;
    for (const char letter : text) {
        const auto code = static_cast<unsigned char>(letter);
        const bool plain = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
                           (letter >= '0' && letter <= '9') ||
                           (code != 0 && std::strchr("-._~", letter) != nullptr);
        if (plain || (path && letter == '/'))
            made += letter;
        else
            made += {'%', kDigits[code >> 4], kDigits[code & 15]};
    }
    return made;
}

} // namespace iio_stream::archive
