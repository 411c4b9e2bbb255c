// SPDX-License-Identifier: MIT
#include "core/base/text.hpp"
#include "file/sha512/libcrypto.hpp"
#include "file/sha512/sha512.hpp"
#include "iio_stream/error.hpp"

#include <array>
#include <cerrno>

namespace iio_stream::file {

namespace {

void require(bool done)
{
    if (!done)
        throw Error(Fault::other, ENOTSUP, "hash", "SHA-512", "libcrypto does not support it");
}

} // namespace

struct Sha512::State {
    const Libcrypto& crypto = libcrypto();
    Libcrypto::Context context = crypto.context();
};

Sha512::Sha512() : state_(std::make_unique<State>())
{
    const Libcrypto& crypto = state_->crypto;
    EVP_MD_CTX* context = state_->context.get();
    require(context != nullptr && crypto.begin(context, crypto.sha512(), nullptr) == 1);
}

Sha512::~Sha512() = default;

void Sha512::add(std::span<const std::byte> bytes)
{
    require(state_->crypto.add(state_->context.get(), bytes.data(), bytes.size()) == 1);
}

std::string Sha512::finish()
{
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
    unsigned length = 0;
    require(state_->crypto.finish(state_->context.get(), digest.data(), &length) == 1);
    return detail::hex_digits(std::span(digest).first(length));
}

} // namespace iio_stream::file
