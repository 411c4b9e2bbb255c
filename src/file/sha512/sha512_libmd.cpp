// SPDX-License-Identifier: MIT
// Replaces sha512_openssl.cpp in a build with WITH_OPENSSL=OFF.
#include "core/base/text.hpp"
#include "file/sha512/sha512.hpp"

#include <array>
#include <sha512.h>

namespace iio_stream::file {

struct Sha512::State {
    SHA512_CTX context;
};

Sha512::Sha512() : state_(std::make_unique<State>())
{
    ::SHA512Init(&state_->context);
}

Sha512::~Sha512() = default;

void Sha512::add(std::span<const std::byte> bytes)
{
    ::SHA512Update(&state_->context, reinterpret_cast<const std::uint8_t*>(bytes.data()),
                   bytes.size());
}

std::string Sha512::finish()
{
    std::array<std::uint8_t, SHA512_DIGEST_LENGTH> digest;
    ::SHA512Final(digest.data(), &state_->context);
    return detail::hex_digits(digest);
}

} // namespace iio_stream::file
