// SPDX-License-Identifier: MIT
#pragma once

#include "fuzz/fuzz.hpp"

namespace iio_stream::fuzz {

void uri(std::span<const std::byte> input);
void endpoint(std::span<const std::byte> input);
void scan_type(std::span<const std::byte> input);
void units(std::span<const std::byte> input);
void archive_index(std::span<const std::byte> input);
void store_answer(std::span<const std::byte> input);
void serve_request(std::span<const std::byte> input);

} // namespace iio_stream::fuzz
