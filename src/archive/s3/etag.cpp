// SPDX-License-Identifier: MIT
// The format of an ETag is documented in docs.aws.amazon.com, "Amazon S3 API Reference", type
// Object.
#include "archive/s3/etag.hpp"

#include "core/base/text.hpp"

#include <algorithm>
#include <charconv>

namespace iio_stream::archive {

namespace {

constexpr std::size_t kMd5Digits = 32;

/// Returns the number of pieces that an ETag covers; 0 if it is the MD5 of the object, nullopt if
/// it is neither.
std::optional<std::uint64_t> pieces_in(std::string_view etag)
{
    const std::string_view digits = etag.substr(0, kMd5Digits);
    if (digits.size() < kMd5Digits ||
        digits.find_first_not_of("0123456789abcdef") != std::string_view::npos)
        return std::nullopt;
    if (etag.size() == kMd5Digits)
        return 0;
    std::uint64_t pieces = 0;
    const char* const end = etag.data() + etag.size();
    const auto [after, error] = std::from_chars(etag.data() + kMd5Digits + 1, end, pieces);
    if (etag[kMd5Digits] != '-' || error != std::errc{} || after != end || pieces == 0)
        return std::nullopt;
    return pieces;
}

std::string etag_of_pieces(const std::vector<Md5>& pieces)
{
    const auto all = std::as_bytes(std::span(pieces));
    return detail::hex_digits(md5_of(all)) + "-" + std::to_string(pieces.size());
}

std::string difference_of(const std::string& found, const std::string& etag)
{
    return found == etag ? "" : "its MD5 is " + found + ", but the store reports " + etag;
}

class EtagChecksum final : public Checksum {
public:
    EtagChecksum(std::string etag, std::uint64_t piece, bool is_of_pieces)
        : etag_(std::move(etag)), piece_(piece), is_of_pieces_(is_of_pieces)
    {}

    void add(std::span<const std::byte> bytes) override
    {
        while (!bytes.empty()) {
            const auto some =
                static_cast<std::size_t>(std::min<std::uint64_t>(piece_ - added_, bytes.size()));
            sum_.add(bytes.first(some));
            added_ += some;
            bytes = bytes.subspan(some);
            if (added_ == piece_)
                end_piece();
        }
    }

    std::string difference() override
    {
        if (added_ != 0 || md5s_.empty())
            end_piece();
        const std::string found = is_of_pieces_ ? etag_of_pieces(md5s_) : etag_of(md5s_);
        return difference_of(found, etag_);
    }

private:
    void end_piece()
    {
        md5s_.push_back(sum_.finish());
        added_ = 0;
    }

    const std::string etag_;
    const std::uint64_t piece_; ///< size in bytes of each piece but the last
    const bool is_of_pieces_;
    Md5Sum sum_;
    std::uint64_t added_ = 0; ///< bytes of the current piece
    std::vector<Md5> md5s_;
};

} // namespace

std::string etag_of(const std::vector<Md5>& pieces)
{
    return pieces.size() == 1 ? detail::hex_digits(pieces[0]) : etag_of_pieces(pieces);
}

std::string etag_difference(const Object& object, const Md5& md5)
{
    const bool is_md5 = !object.is_encrypted && pieces_in(object.etag) == 0;
    return is_md5 ? difference_of(etag_of({md5}), object.etag) : "";
}

std::unique_ptr<Checksum> etag_checksum(Bucket& bucket, const std::string& key)
{
    const std::optional<Object> object = bucket.find(key);
    const auto pieces = object && !object->is_encrypted ? pieces_in(object->etag) : std::nullopt;
    if (!pieces)
        return nullptr;
    if (*pieces == 0)
        return std::make_unique<EtagChecksum>(object->etag, UINT64_MAX, false);
    const std::uint64_t piece = bucket.first_piece(key);
    if (piece == 0 || (object->size + piece - 1) / piece != *pieces)
        return nullptr;
    return std::make_unique<EtagChecksum>(object->etag, piece, true);
}

} // namespace iio_stream::archive
