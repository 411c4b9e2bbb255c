// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <openssl/evp.h>

namespace iio_stream::file {

/// libcrypto's functions. libcrypto is loaded when the first hash is computed, because loading it
/// costs more than the rest of a short command.
struct Libcrypto {
    decltype(&::EVP_MD_CTX_new) make_context;
    decltype(&::EVP_MD_CTX_free) free_context;
    decltype(&::EVP_DigestInit_ex) begin;
    decltype(&::EVP_DigestUpdate) add;
    decltype(&::EVP_DigestFinal_ex) finish;
    decltype(&::EVP_Digest) digest;
    decltype(&::EVP_EncodeBlock) encode_base64;
    decltype(&::EVP_md5) md5;
    decltype(&::EVP_sha256) sha256;
    decltype(&::EVP_sha512) sha512;

    using Context = std::unique_ptr<EVP_MD_CTX, decltype(&::EVP_MD_CTX_free)>;
    Context context() const { return {make_context(), free_context}; }
};

/// Loads libcrypto once. Throws an Error that names the package to install.
const Libcrypto& libcrypto();

} // namespace iio_stream::file
