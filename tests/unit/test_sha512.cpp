// SPDX-License-Identifier: MIT
#include "core/sha512.hpp"

#include <gtest/gtest.h>
#include <vector>

namespace {

using iio_stream::detail::Sha512;

std::span<const std::byte> bytes_of(const std::string& text)
{
    return std::as_bytes(std::span(text));
}

std::string hash_of(const std::string& text, std::size_t piece)
{
    Sha512 hash;
    for (std::size_t at = 0; at < text.size(); at += piece)
        hash.add(bytes_of(text).subspan(at, std::min(piece, text.size() - at)));
    return hash.finish();
}

// What coreutils' sha512sum says of the same bytes.
TEST(Sha512, ItIsWhatOthersCompute)
{
    EXPECT_EQ(hash_of("", 1), "cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce"
                              "47d0d13c5d85f2b0ff8318d2877eec2f63b931bd47417a81a538327af927da3e");
    EXPECT_EQ(hash_of("abc", 3),
              "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
              "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f");
    EXPECT_EQ(hash_of(std::string(1'000'000, 'a'), 1 << 20),
              "e718483d0ce769644e2e42c7bc15b4638e1f98b13b2044285632a803afa973eb"
              "de0ff244877ea60a4cb0432ce577c31beb009c5c2c49aa2e4eadb217ad8cc09b");
}

TEST(Sha512, HowTheBytesAreCutMakesNoDifference)
{
    for (const std::size_t length :
         {1u, 55u, 111u, 112u, 113u, 127u, 128u, 129u, 255u, 256u, 1000u}) {
        const std::string text(length, 'x');
        const std::string whole = hash_of(text, length);
        for (const std::size_t piece : {1u, 7u, 64u, 127u, 128u, 200u})
            EXPECT_EQ(hash_of(text, piece), whole) << length << " in pieces of " << piece;
        EXPECT_NE(hash_of(text + "x", 1), whole);
    }
}

} // namespace
