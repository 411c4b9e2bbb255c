// SPDX-License-Identifier: MIT
#include "file/sigmf/hash.hpp"

#include "iio_stream/error.hpp"
#include "sys/files.hpp"
#include "sys/stream_file.hpp"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <memory>
#include <openssl/evp.h>
#include <span>
#include <vector>

namespace iio_stream::file {

namespace {

/// libcrypto's SHA-512.
class Sha512 {
public:
    Sha512() : context_(::EVP_MD_CTX_new(), &::EVP_MD_CTX_free)
    {
        require(context_ != nullptr && ::EVP_DigestInit_ex(context_.get(), ::EVP_sha512(), nullptr) == 1);
    }
    void add(std::span<const std::byte> bytes)
    {
        require(::EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) == 1);
    }
    std::string finish()
    {
        static constexpr char kHexDigits[] = "0123456789abcdef";
        std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
        unsigned length = 0;
        require(::EVP_DigestFinal_ex(context_.get(), digest.data(), &length) == 1);
        std::string text;
        for (const unsigned char byte : std::span(digest).first(length))
            text += {kHexDigits[byte >> 4], kHexDigits[byte & 15]};
        return text;
    }

private:
    static void require(bool done)
    {
        if (!done)
            throw Error(Fault::other, ENOTSUP, "hash", "SHA-512", "libcrypto refuses it");
    }

    std::unique_ptr<EVP_MD_CTX, decltype(&::EVP_MD_CTX_free)> context_;
};

} // namespace

std::optional<std::string> sha512_of_file(const std::string& path, int cancel,
                                          std::atomic<std::uint64_t>* bytes)
{
    constexpr std::size_t kPiece = 1 << 20;
    try {
        const sys::UniqueFd fd = sys::open_file(path, O_RDONLY);
        (void)::posix_fadvise(fd.get(), 0, 0, POSIX_FADV_SEQUENTIAL);
        std::vector<std::byte> piece(kPiece);
        Sha512 hash;
        while (cancel < 0 || !sys::has_news(cancel)) {
            const std::ptrdiff_t got = sys::read_some(fd.get(), path, piece);
            if (got <= 0)
                return hash.finish();
            hash.add(std::span(piece).first(static_cast<std::size_t>(got)));
            if (bytes != nullptr)
                bytes->fetch_add(static_cast<std::uint64_t>(got), std::memory_order_relaxed);
        }
        return std::nullopt;
    } catch (const Error& error) {
        throw error.blamed_on(Fault::storage);
    }
}

} // namespace iio_stream::file
