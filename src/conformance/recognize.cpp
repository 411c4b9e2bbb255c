// SPDX-License-Identifier: MIT
#include "conformance/recognize.hpp"

#include "iio_stream/error.hpp"

#include <utility>

namespace iio_stream::conformance {

namespace {

constexpr std::uint64_t kFewestRecognized = 256; ///< samples
constexpr std::uint64_t kWrongShare =
    10; ///< one wrong sample of this many: zeros are right in 3 of 4 places of a ramp

constexpr std::uint64_t kJumpShare =
    100; ///< one jump in this many samples: some bits are as in the pattern

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
            continue; // not in this format
        }
    return {};
}

} // namespace iio_stream::conformance
