// SPDX-License-Identifier: MIT
#include "archive/s3/upload.hpp"

#include "archive/s3/etag.hpp"
#include "core/base/align.hpp"
#include "core/base/text.hpp"
#include "iio_stream/error.hpp"
#include "sys/files.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace iio_stream::archive {

namespace {

constexpr std::size_t kPiece = 16 << 20;
constexpr std::size_t kDirectAlignment = 4096;

/// A file that is read without the page cache if possible, because its samples are not read again
/// soon.
class Input {
public:
    explicit Input(const std::string& path) : path_(path)
    {
        fd_ = sys::UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_DIRECT));
        if (!fd_.valid())
            fd_ = sys::open_file(path, O_RDONLY);
        struct stat status {};
        if (::fstat(fd_.get(), &status) < 0 || !S_ISREG(status.st_mode))
            throw Error(Fault::storage, errno == 0 ? EINVAL : errno, "read", path,
                        "it is not a regular file");
        size_ = static_cast<std::uint64_t>(status.st_size);
        piece_ =
            std::max(kPiece, (static_cast<std::size_t>(size_ / kMostPieces / kPiece) + 1) * kPiece);
        buffer_.reset(
            static_cast<std::byte*>(std::aligned_alloc(kDirectAlignment, read_size(size_of(0)))));
        if (!buffer_)
            throw std::bad_alloc();
    }

    std::uint64_t size() const noexcept { return size_; }
    /// Returns at least 1, because an empty file has one empty piece.
    std::size_t pieces() const noexcept
    {
        return std::max<std::size_t>(static_cast<std::size_t>((size_ + piece_ - 1) / piece_), 1);
    }

    std::size_t size_of(std::size_t piece) const noexcept
    {
        return static_cast<std::size_t>(
            std::min<std::uint64_t>(piece_, size_ - std::uint64_t{piece} * piece_));
    }

    /// Reads a piece. The result is valid until the next call.
    std::span<const std::byte> read(std::size_t piece)
    {
        const std::size_t wanted = size_of(piece);
        const std::uint64_t begin = std::uint64_t{piece} * piece_;
        for (std::size_t have = 0; have < wanted;) {
            const ssize_t got = ::pread(fd_.get(), buffer_.get() + have, read_size(wanted) - have,
                                        static_cast<off_t>(begin + have));
            if (got < 0 && errno == EINVAL) {
                ::fcntl(fd_.get(), F_SETFL,
                        ::fcntl(fd_.get(), F_GETFL) & ~O_DIRECT); // not supported here
                continue;
            }
            if (got < 0 && errno != EINTR)
                throw Error(Fault::storage, errno, "read", path_);
            if (got == 0)
                throw Error(Fault::storage, EBADMSG, "read", path_,
                            "it became shorter while it was read");
            have += static_cast<std::size_t>(std::max<ssize_t>(got, 0));
        }
        (void)::posix_fadvise(fd_.get(), static_cast<off_t>(begin), static_cast<off_t>(wanted),
                              POSIX_FADV_DONTNEED);
        return {buffer_.get(), wanted};
    }

private:
    /// Rounds up the size of a direct read, but no further than necessary: the kernel prepares all
    /// pages of the read, even those beyond the end of the file.
    static std::size_t read_size(std::size_t bytes) noexcept
    {
        return std::max(detail::round_up(bytes, kDirectAlignment), kDirectAlignment);
    }

    struct Free {
        void operator()(std::byte* bytes) const { std::free(bytes); }
    };

    std::string path_;
    sys::UniqueFd fd_;
    std::uint64_t size_ = 0;
    std::size_t piece_ = 0;
    std::unique_ptr<std::byte[], Free> buffer_;
};

std::vector<Md5> md5s_of(Input& input)
{
    std::vector<Md5> md5s;
    for (std::size_t piece = 0; piece < input.pieces(); ++piece)
        md5s.push_back(md5_of(input.read(piece)));
    return md5s;
}

bool same_bytes(Bucket& bucket, Input& input, const std::string& key)
{
    Sha256Sum ours, theirs;
    bucket.read(key, [&theirs](std::span<const std::byte> bytes) { theirs.add(bytes); });
    for (std::size_t piece = 0; piece < input.pieces(); ++piece)
        ours.add(input.read(piece));
    return ours.finish() == theirs.finish();
}

[[noreturn]] void differs(const Bucket& bucket, const std::string& key)
{
    throw Error(Fault::storage, EBADMSG, "confirm", bucket.url_of(key),
                "the stored object differs from the data sent");
}

/// Throws an Error unless the store holds the content of the file. `answered` is the ETag in the
/// store's answer to the upload. If it is the expected one, `etag`, it proves that the store has
/// received the content. If it differs, or if there is none, this does not prove a difference,
/// because stores that encrypt use other ETags.
Object confirm(Bucket& bucket, Input& input, const std::string& key, const std::string& answered,
               const std::string& etag)
{
    if (answered == etag)
        return {input.size(), etag};
    const std::optional<Object> stored = bucket.find(key);
    if (!stored || stored->size != input.size())
        differs(bucket, key);
    if (stored->etag != etag && !same_bytes(bucket, input, key))
        differs(bucket, key);
    return *stored;
}

/// Returns the ETags of the pieces that an unfinished upload has, "" for each missing piece.
std::vector<std::string> found_pieces(Bucket& bucket, const Input& input, const std::string& key,
                                      const std::string& id)
{
    std::vector<std::string> etags(input.pieces());
    for (const Piece& piece : bucket.pieces(key, id))
        if (piece.number >= 1 && piece.number <= etags.size() &&
            piece.object.size == input.size_of(piece.number - 1))
            etags[piece.number - 1] = piece.object.etag;
    return etags;
}

std::string condition_of(const std::optional<Object>& before)
{
    return before ? "If-Match: \"" + before->etag + "\"" : "If-None-Match: *";
}

/// An upload in pieces. `etags` has the ETag of each piece that is stored already, "" for the
/// others.
struct Begun {
    std::string id;
    std::vector<std::string> etags;
};

Begun begin_or_go_on(Bucket& bucket, const Input& input, const std::string& key)
{
    if (const auto ids = bucket.uploads_of(key); ids && !ids->empty())
        return {ids->back(), found_pieces(bucket, input, key, ids->back())};
    return {bucket.begin(key), std::vector<std::string>(input.pieces())};
}

/// Returns whether another client has finished or aborted an upload that failed. Not every store
/// reports this to the client that sends a piece.
bool has_ended(Bucket& bucket, const std::string& key, const std::string& id, const Error& error)
{
    if (error.code().value() == ENOENT)
        return true;
    try {
        const auto open = bucket.uploads_of(key);
        return open && std::ranges::count(*open, id) == 0;
    } catch (const Error&) {
        return false;
    }
}

Sent upload_pieces(Bucket& bucket, Input& input, const std::string& key, Begun begun,
                   const std::string& condition)
{
    Sent sent;
    std::vector<std::string>& etags = begun.etags;
    std::vector<Md5> md5s;
    for (std::size_t i = 0; i < input.pieces(); ++i) {
        const std::span<const std::byte> bytes = input.read(i);
        md5s.push_back(md5_of(bytes));
        if (etags[i] == detail::hex_digits(md5s[i])) {
            sent.resumed += bytes.size();
            continue;
        }
        etags[i] = bucket.put_piece(key, begun.id, static_cast<unsigned>(i + 1), bytes, md5s[i]);
        sent.bytes += bytes.size();
    }
    const std::string answered = bucket.finish(key, begun.id, etags, condition);
    sent.stored = confirm(bucket, input, key, answered, etag_of(md5s));
    return sent;
}

} // namespace

Sent upload(Bucket& bucket, const std::string& path, const std::string& key,
            const std::optional<Object>& before)
{
    Input input(path);
    const std::string condition = condition_of(before);
    if (input.pieces() > 1) {
        const Begun begun = begin_or_go_on(bucket, input, key);
        try {
            return upload_pieces(bucket, input, key, begun, condition);
        } catch (const Error& error) {
            if (!has_ended(bucket, key, begun.id, error))
                throw;
        }
        const Begun own{bucket.begin(key), std::vector<std::string>(input.pieces())};
        return upload_pieces(bucket, input, key, own, condition_of(bucket.find(key)));
    }
    const std::span<const std::byte> bytes = input.read(0);
    const Md5 md5 = md5_of(bytes);
    const std::string answered = bucket.put(key, bytes, md5, condition);
    return {bytes.size(), 0, confirm(bucket, input, key, answered, etag_of({md5}))};
}

bool is_text(Bucket& bucket, const std::string& text, const std::string& key, const Object& object)
{
    const auto bytes = std::as_bytes(std::span(text));
    if (object.size != bytes.size() || object.etag == etag_of({md5_of(bytes)}))
        return object.size == bytes.size();
    Sha256Sum stored;
    bucket.read(key, [&stored](std::span<const std::byte> some) { stored.add(some); });
    return stored.finish() == sha256_of(bytes);
}

Sent upload_text(Bucket& bucket, const std::string& text, const std::string& key,
                 const std::optional<Object>& before)
{
    const auto bytes = std::as_bytes(std::span(text));
    const Md5 md5 = md5_of(bytes);
    const std::string answered = bucket.put(key, bytes, md5, condition_of(before));
    if (answered == etag_of({md5}))
        return {text.size(), 0, {text.size(), answered}};
    const std::optional<Object> stored = bucket.find(key);
    if (!stored || !is_text(bucket, text, key, *stored))
        differs(bucket, key);
    return {text.size(), 0, *stored};
}

bool is_stored(Bucket& bucket, const std::string& path, const std::string& key,
               const Object& object)
{
    Input input(path);
    if (object.size != input.size())
        return false;
    return object.etag == etag_of(md5s_of(input)) || same_bytes(bucket, input, key);
}

} // namespace iio_stream::archive
