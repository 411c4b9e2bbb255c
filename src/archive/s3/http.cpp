// SPDX-License-Identifier: MIT
#include "archive/s3/http.hpp"

#include "archive/s3/libraries.hpp"
#include "core/base/text.hpp"
#include "iio_stream/error.hpp"
#include "sys/event.hpp"
#include "sys/network/tcp.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <new>

namespace iio_stream::archive {

namespace {

constexpr long kConnectSeconds = 20;
// If the network is down, a connection is closed before kSilentSeconds have passed. TCP doubles the
// time between its attempts, so that after an outage of 20 s a request could wait for another 20 s.
// A new connection, in contrast, is attempted at once.
constexpr std::int64_t kNoAcknowledgmentNs = 15 * kSecond;
constexpr long kKeepAliveSeconds = 5;
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

/// A request in progress: the data of libcurl's callbacks.
struct Exchange {
    const Request& request;
    const std::function<bool()>& go_on;
    CURL* easy;
    Response response;
    std::size_t sent = 0;
    std::int64_t checked_ns = 0;
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

/// Returns the value of a header line if it is the header `name`, which is in lowercase.
std::optional<std::string_view> value_of(std::string_view line, std::string_view name)
{
    const auto same = [](char a, char b) { return a == (b >= 'A' && b <= 'Z' ? b | 0x20 : b); };
    if (line.size() <= name.size() || line[name.size()] != ':' ||
        !std::equal(name.begin(), name.end(), line.begin(), same))
        return std::nullopt;
    line.remove_prefix(name.size() + 1);
    constexpr std::string_view kSpace = " \t\r\n";
    const std::size_t begin = std::min(line.find_first_not_of(kSpace), line.size());
    return line.substr(begin, line.find_last_not_of(kSpace) + 1 - begin);
}

std::size_t take_header(char* from, std::size_t size, std::size_t count, void* user)
{
    Response& response = static_cast<Exchange*>(user)->response;
    const std::string_view line(from, size * count);
    constexpr std::size_t kLongest = 256;
    if (line.size() >= kLongest)
        return line.size();
    try {
        if (const auto etag = value_of(line, "etag")) {
            response.etag = *etag;
            std::erase_if(response.etag,
                          [](char letter) { return letter == '"' || letter == ' '; });
        } else if (const auto range = value_of(line, "content-range")) {
            response.range = parse_content_range(*range);
        } else if (const auto kind = value_of(line, "x-amz-server-side-encryption")) {
            response.is_encrypted = response.is_encrypted || *kind != "AES256";
        } else if (value_of(line, "x-amz-server-side-encryption-customer-algorithm")) {
            response.is_encrypted = true;
        }
    } catch (const std::bad_alloc&) {
        return 0;
    }
    return line.size();
}

/// Makes the kernel end a connection if the other end acknowledges nothing, or has no room for more
/// bytes, for kNoAcknowledgmentNs (tcp(7)). A store that takes longer to answer is not affected,
/// because its kernel acknowledges the request.
int set_acknowledgment_deadline(void*, curl_socket_t fd, curlsocktype)
{
    sys::configure_connection(fd, kNoAcknowledgmentNs);
    return CURL_SOCKOPT_OK;
}

int check_progress(void* user, curl_off_t, curl_off_t, curl_off_t, curl_off_t)
{
    auto& x = *static_cast<Exchange*>(user);
    if (const std::int64_t now = sys::monotonic_ns(); now - x.checked_ns >= kSecond) {
        x.checked_ns = now;
        try {
            x.stopped = x.go_on && !x.go_on();
        } catch (...) {
            x.failed = std::current_exception();
            return 1;
        }
    }
    return x.stopped ? 1 : 0;
}

bool is_unreserved(char c) // RFC 3986, section 2.3
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c != '\0' && std::strchr("-._~", c) != nullptr);
}

bool is_unreserved_or_slash(char c)
{
    return is_unreserved(c) || c == '/';
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

/// Removes the number at the start of the text and returns it.
std::optional<std::uint64_t> take_number(std::string_view& text)
{
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{})
        return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return value;
}

bool take_letter(std::string_view& text, char letter)
{
    if (!text.starts_with(letter))
        return false;
    text.remove_prefix(1);
    return true;
}

} // namespace

std::optional<ContentRange> parse_content_range(std::string_view text)
{
    constexpr std::string_view kUnit = "bytes ";
    if (!text.starts_with(kUnit))
        return std::nullopt;
    text.remove_prefix(kUnit.size());
    const auto first = take_number(text);
    const auto last = take_letter(text, '-') ? take_number(text) : std::nullopt;
    if (!first || !last || *last < *first || *last == UINT64_MAX || !take_letter(text, '/'))
        return std::nullopt;
    if (text == "*")
        return ContentRange{*first, *last, std::nullopt};
    const auto total = take_number(text);
    if (!total || !text.empty() || *total <= *last)
        return std::nullopt;
    return ContentRange{*first, *last, total};
}

struct Http::State {
    struct Handle {
        void operator()(CURL* handle) const { curl().cleanup(handle); }
    };

    Account account;
    Rate rate_now;
    std::function<bool()> go_on;
    std::unique_ptr<CURL, Handle> easy;

    void set_connection() const;
    void set_body(Exchange& exchange, Headers& headers) const;
};

Http::Http(const Account& account, Rate rate, std::function<bool()> go_on)
    : state_(new State{account, std::move(rate), std::move(go_on),
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
    const double rate = rate_now ? rate_now() : 0;
    curl().reset(easy.get()); // open connections are kept
    set(CURLOPT_PROTOCOLS_STR, "http,https");
    set(CURLOPT_NOSIGNAL, 1L);
    set(CURLOPT_CONNECTTIMEOUT, kConnectSeconds);
    set(CURLOPT_SOCKOPTFUNCTION, &set_acknowledgment_deadline);
    set(CURLOPT_TCP_KEEPALIVE, 1L); // with shorter intervals than the kernel's
    set(CURLOPT_TCP_KEEPIDLE, kKeepAliveSeconds);
    set(CURLOPT_TCP_KEEPINTVL, kKeepAliveSeconds);
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
        headers.add("Content-Type: application/xml"); // the default is that of a form
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
    curl().set(c, CURLOPT_XFERINFOFUNCTION, &check_progress);
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
    return detail::percent_encoded(text, path ? &is_unreserved_or_slash : &is_unreserved);
}

} // namespace iio_stream::archive
