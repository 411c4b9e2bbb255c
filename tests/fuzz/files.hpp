// SPDX-License-Identifier: MIT
#pragma once

#include "fuzz/fuzz.hpp"

namespace iio_stream::fuzz {

void sigmf(std::span<const std::byte> input);
void journal(std::span<const std::byte> input);
void wav(std::span<const std::byte> input);           ///< the header of a WAV file
void sigmf_archive(std::span<const std::byte> input); ///< a tar file
void context(std::span<const std::byte> input);       ///< an IIO context as XML

} // namespace iio_stream::fuzz
