// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace iio_stream::file {

/// A SHA-512 while its bytes come: libcrypto's, or in a build with WITH_OPENSSL=OFF our own, which
/// is slower.
class Sha512 {
public:
    Sha512();
    ~Sha512();
    void add(std::span<const std::byte> bytes);
    std::string finish(); ///< in hexadecimal digits; once

private:
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace iio_stream::file
