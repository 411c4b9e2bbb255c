// SPDX-License-Identifier: MIT
#include "archive/bucket.hpp"
#include "archive/xml.hpp"
#include "core/utc.hpp"
#include "iio_stream/error.hpp"

#include <cerrno>
#include <cstdlib>
#include <utility>

namespace iio_stream::archive {

namespace {

constexpr std::size_t kLongestPage = 8 << 20; ///< 1000 of the longest names
constexpr unsigned kMostPages = 20'000;

std::optional<unsigned char> hex(char digit)
{
    if (digit >= '0' && digit <= '9')
        return static_cast<unsigned char>(digit - '0');
    const char letter = static_cast<char>(digit | 0x20);
    if (letter >= 'a' && letter <= 'f')
        return static_cast<unsigned char>(letter - 'a' + 10);
    return std::nullopt;
}

/// As forms encode a text; what is no code stays.
std::string decoded(std::string_view text)
{
    std::string made;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto high = text[i] == '%' && i + 2 < text.size() ? hex(text[i + 1]) : std::nullopt;
        const auto low = high ? hex(text[i + 2]) : std::nullopt;
        if (low) {
            made += static_cast<char>(*high << 4 | *low);
            i += 2;
        } else {
            made += text[i] == '+' ? ' ' : text[i];
        }
    }
    return made;
}

} // namespace

std::map<std::string, Entry> Bucket::list(const std::string& prefix)
{
    std::map<std::string, Entry> found;
    std::string after;
    unsigned pages = 0;
    do {
        Request request;
        request.longest = kLongestPage;
        request.query = (after.empty() ? "" : "continuation-token=" + encoded(after) + "&") +
                        "encoding-type=url&list-type=2&prefix=" + encoded(prefix);
        const Response response = ask("list", "", std::move(request));
        const Element page = parse_xml(response.body, url_of(prefix));
        if (response.status == 404 || page.name != "ListBucketResult")
            throw Error(
                Fault::storage, response.status == 404 ? ENOENT : EBADMSG, "list", url_of(prefix),
                page.name == "Error" ? words_of(response) : "the store's answer is no list");
        const bool is_encoded = page.value("EncodingType") == "url";
        for (const Element& one : page.children) {
            const std::string key =
                is_encoded ? decoded(one.value("Key")) : std::string(one.value("Key"));
            if (one.name != "Contents" || !key.starts_with(prefix) ||
                key.ends_with('/')) // a folder's mark
                continue;
            found.insert_or_assign(
                key.substr(prefix.size()),
                Entry{std::strtoull(std::string(one.value("Size")).c_str(), nullptr, 10),
                      detail::utc_of(one.value("LastModified")).value_or(0), etag_in(one)});
        }
        const std::string before = std::exchange(
            after, page.value("IsTruncated") == "true" ? page.value("NextContinuationToken") : "");
        if (!after.empty() && (after == before || ++pages == kMostPages))
            throw Error(Fault::storage, EBADMSG, "list", url_of(prefix),
                        "the store's list has no end");
    } while (!after.empty());
    return found;
}

void Bucket::remove(const std::string& key)
{
    Request request;
    request.method = "DELETE";
    (void)ask("remove", key, std::move(request)); // 404: someone else did
}

} // namespace iio_stream::archive
