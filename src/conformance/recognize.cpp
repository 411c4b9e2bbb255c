// SPDX-License-Identifier: MIT
#include "conformance/recognize.hpp"

#include "iio_stream/error.hpp"

#include <utility>

namespace iio_stream::conformance {

namespace {

constexpr std::uint64_t kFewestRecognized = 256; ///< samples
constexpr std::uint64_t kWrongShare =
    10; ///< at most one wrong sample in this many, because zeros match 3 of 4 places of a ramp

constexpr std::uint64_t kJumpShare =
    100; ///< at most one jump in this many samples, because other data can match in some bits

} // namespace

Recognized recognize(const Format& format, std::span<const std::byte> samples)
{
    for (const auto& [pattern, name] :
         {std::pair{detail::Pattern::ramp, "ramp of 64-bit words"},
          std::pair{detail::Pattern::lanes, "counter in each channel"}})
        try {
            const auto checker = detail::Checker::make(pattern, format);
            checker->feed(samples);
            checker->finish();
            const detail::Findings& found = checker->findings();
            if (found.samples >= kFewestRecognized &&
                found.mismatches * kWrongShare < found.samples &&
                (found.gaps + found.repeats) * kJumpShare < found.samples)
                return {name, found};
        } catch (const Error&) {
            continue; // this format cannot have the pattern
        }
    return {};
}

} // namespace iio_stream::conformance
