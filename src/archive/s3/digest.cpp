// SPDX-License-Identifier: MIT
#include "archive/s3/digest.hpp"

#include "file/sha512/libcrypto.hpp"
#include "iio_stream/error.hpp"

#include <cerrno>
#include <type_traits>

namespace iio_stream::archive {

namespace {

using file::Libcrypto;
using file::libcrypto;

void require(bool done)
{
    if (!done)
        throw Error(Fault::other, ENOTSUP, "hash", "an object",
                    "libcrypto does not support MD5 or SHA-256");
}

template <typename Digest>
Digest digest_of(const EVP_MD* kind, std::span<const std::byte> bytes)
{
    Digest digest;
    require(libcrypto().digest(bytes.data(), bytes.size(), digest.data(), nullptr, kind, nullptr) ==
            1);
    return digest;
}

} // namespace

Md5 md5_of(std::span<const std::byte> bytes)
{
    return digest_of<Md5>(libcrypto().md5(), bytes);
}

Sha256 sha256_of(std::span<const std::byte> bytes)
{
    return digest_of<Sha256>(libcrypto().sha256(), bytes);
}

std::string base64(std::span<const unsigned char> bytes)
{
    std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0'); // EVP_EncodeBlock() adds a 0
    const int length = libcrypto().encode_base64(reinterpret_cast<unsigned char*>(text.data()),
                                                 bytes.data(), static_cast<int>(bytes.size()));
    text.resize(static_cast<std::size_t>(length));
    return text;
}

template <typename Digest>
struct DigestSum<Digest>::State {
    const Libcrypto& crypto = libcrypto();
    const EVP_MD* kind = std::is_same_v<Digest, Md5> ? crypto.md5() : crypto.sha256();
    Libcrypto::Context context = crypto.context();

    void begin() { require(context && crypto.begin(context.get(), kind, nullptr) == 1); }
};

template <typename Digest>
DigestSum<Digest>::DigestSum() : state_(std::make_unique<State>())
{
    state_->begin();
}

template <typename Digest>
DigestSum<Digest>::~DigestSum() = default;

template <typename Digest>
void DigestSum<Digest>::add(std::span<const std::byte> bytes)
{
    require(state_->crypto.add(state_->context.get(), bytes.data(), bytes.size()) == 1);
}

template <typename Digest>
Digest DigestSum<Digest>::finish()
{
    Digest digest;
    require(state_->crypto.finish(state_->context.get(), digest.data(), nullptr) == 1);
    state_->begin();
    return digest;
}

template class DigestSum<Md5>;
template class DigestSum<Sha256>;

} // namespace iio_stream::archive
