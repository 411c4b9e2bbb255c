// SPDX-License-Identifier: MIT
#include "file/sha512/libcrypto.hpp"

#include "core/base/library.hpp"

#include <openssl/opensslv.h>

namespace iio_stream::file {

namespace {

#define TEXT_OF(number) #number
#define LIBRARY_OF(version) "libcrypto.so." TEXT_OF(version)
#ifdef OPENSSL_SHLIB_VERSION
/// The library that belongs to the headers of this build.
constexpr const char* kLibcrypto = LIBRARY_OF(OPENSSL_SHLIB_VERSION);
#else // OpenSSL before 3.0
constexpr const char* kLibcrypto = "libcrypto.so." SHLIB_VERSION_NUMBER;
#endif
#undef LIBRARY_OF
#undef TEXT_OF

Libcrypto load_libcrypto()
{
    const detail::Library library(kLibcrypto, nullptr, "libssl3");
    Libcrypto made{};
    library.find("EVP_MD_CTX_new", made.make_context);
    library.find("EVP_MD_CTX_free", made.free_context);
    library.find("EVP_DigestInit_ex", made.begin);
    library.find("EVP_DigestUpdate", made.add);
    library.find("EVP_DigestFinal_ex", made.finish);
    library.find("EVP_Digest", made.digest);
    library.find("EVP_EncodeBlock", made.encode_base64);
    library.find("EVP_md5", made.md5);
    library.find("EVP_sha256", made.sha256);
    library.find("EVP_sha512", made.sha512);
    return made;
}

} // namespace

const Libcrypto& libcrypto()
{
    static const Libcrypto loaded = load_libcrypto();
    return loaded;
}

} // namespace iio_stream::file
