// SPDX-License-Identifier: MIT
#pragma once

#include "file/sigmf/datatype.hpp"

#include <cstdint>
#include <span>
#include <string>

namespace iio_stream::file {

inline constexpr std::uint64_t kMostCount = INT64_MAX; ///< SigMF's limit for all counts
inline constexpr double kMostHz = 1e12;                ///< for rates and frequencies

/// What SigMF 1.2.5 (or we) require of the value of one key.
struct Rule {
    const char* key;
    std::string (*want)(const Json& value); ///< what it must be; "" if it is
    enum { may, must } presence = may;
    /// Whether samples can be read although the value is wrong: without it, or not at all.
    enum { left_out, prevents_reading } if_wrong = left_out;
    /// The value that a wrong one stands for; null: it stands for none. A null function: for none.
    Json (*repair)(const Json& value) = nullptr;
};

std::span<const Rule> global_rules() noexcept;
std::span<const Rule> capture_rules() noexcept;
std::span<const Rule> annotation_rules() noexcept;

} // namespace iio_stream::file
