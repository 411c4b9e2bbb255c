// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/device.hpp"
#include "iio_stream/pipeline.hpp"

#include <cstdint>
#include <string>

namespace iio_stream::cli {

/// Formats an attribute as "CHANNEL/NAME = VALUE", or with the reason why the value cannot be read.
/// A value can have several lines.
std::string attribute_text(const AttributeInfo& attribute);

/// Which settings of a radio the summary lists: those that differ from the request, or all.
enum class TunedLines { differences, all };
/// The summary as several lines of human-readable text.
std::string text_of(const Summary& summary, TunedLines tuned = TunedLines::differences);
/// 1536 → "1.50 KiB".
std::string human_bytes(double bytes);
/// 30720000 → "30.72 M".
std::string human_count(double count);
/// "1 part", "2 parts".
std::string counted(std::uint64_t count, const std::string& one);

} // namespace iio_stream::cli
