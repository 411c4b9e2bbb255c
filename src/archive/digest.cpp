// SPDX-License-Identifier: MIT
#include "archive/digest.hpp"

#include "iio_stream/error.hpp"

#include <cerrno>
#include <openssl/evp.h>

namespace iio_stream::archive {

namespace {

void require(bool done)
{
    if (!done)
        throw Error(Fault::other, ENOTSUP, "hash", "an object", "libcrypto refuses MD5 or SHA-256");
}

template <typename Digest>
Digest digest_of(const EVP_MD* kind, std::span<const std::byte> bytes)
{
    Digest digest;
    require(::EVP_Digest(bytes.data(), bytes.size(), digest.data(), nullptr, kind, nullptr) == 1);
    return digest;
}

} // namespace

Md5 md5_of(std::span<const std::byte> bytes)
{
    return digest_of<Md5>(::EVP_md5(), bytes);
}

Sha256 sha256_of(std::span<const std::byte> bytes)
{
    return digest_of<Sha256>(::EVP_sha256(), bytes);
}

std::string base64(std::span<const unsigned char> bytes)
{
    std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0'); // it ends with a 0
    const int length = ::EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                         bytes.data(), static_cast<int>(bytes.size()));
    text.resize(static_cast<std::size_t>(length));
    return text;
}

struct Sha256Sum::State {
    std::unique_ptr<EVP_MD_CTX, decltype(&::EVP_MD_CTX_free)> context{::EVP_MD_CTX_new(),
                                                                      &::EVP_MD_CTX_free};
};

Sha256Sum::Sha256Sum() : state_(std::make_unique<State>())
{
    require(state_->context &&
            ::EVP_DigestInit_ex(state_->context.get(), ::EVP_sha256(), nullptr) == 1);
}

Sha256Sum::~Sha256Sum() = default;

void Sha256Sum::add(std::span<const std::byte> bytes)
{
    require(::EVP_DigestUpdate(state_->context.get(), bytes.data(), bytes.size()) == 1);
}

Sha256 Sha256Sum::finish()
{
    Sha256 digest;
    require(::EVP_DigestFinal_ex(state_->context.get(), digest.data(), nullptr) == 1);
    return digest;
}

} // namespace iio_stream::archive
