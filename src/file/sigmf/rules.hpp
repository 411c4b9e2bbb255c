// SPDX-License-Identifier: MIT
#pragma once

#include "file/sigmf/datatype.hpp"

#include <cstdint>
#include <span>
#include <string>

namespace iio_stream::file {

inline constexpr std::uint64_t kMostCount = INT64_MAX; ///< SigMF's limit for all counts
inline constexpr double kMostHz = 1e12;                ///< limit for rates and frequencies

/// A requirement of SigMF 1.2.5, or of iio-stream, for the value of one key.
struct Rule {
    const char* key;
    std::string (*want)(const Json& value); ///< the requirement that the value violates; "" if none
    enum { may, must } presence = may;
    /// The consequence of a wrong value: the samples are read without it, or cannot be read.
    enum { left_out, prevents_reading } if_wrong = left_out;
    /// Returns the value that a wrong value stands for, or null if there is none. A rule without
    /// this function repairs nothing.
    Json (*repair)(const Json& value) = nullptr;
};

std::span<const Rule> global_rules() noexcept;
std::span<const Rule> capture_rules() noexcept;
std::span<const Rule> annotation_rules() noexcept;

} // namespace iio_stream::file
