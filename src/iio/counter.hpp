// SPDX-License-Identifier: MIT
#pragma once

#include "core/witness.hpp"
#include "iio_stream/block.hpp"
#include "iio_stream/format.hpp"

#include <cstdint>
#include <span>
#include <string>

namespace iio_stream::iio {

/// Finds losses exactly by a channel that counts samples (option counter=channel:NAME).
/// It looks at a block's first and last sample only, and closer where they do not fit.
class Counter {
public:
    /// Throws a usage Error where the format has no such channel.
    Counter(const Format& format, const std::string& channel);
    void reset() noexcept { started_ = false; }

    /// The gaps before and inside the samples of a block, to the witness, which stands before it.
    void look(std::span<const std::byte> samples, detail::Witness& witness);

private:
    std::uint64_t value(std::span<const std::byte> samples, std::uint64_t n) const noexcept;
    void search(std::span<const std::byte> samples, std::uint64_t first, std::uint64_t last,
                detail::Witness& witness) const;

    Channel channel_;
    std::size_t sample_bytes_;
    std::uint64_t mask_;
    std::uint64_t next_ = 0; ///< the value that should come next
    bool started_ = false;
};

} // namespace iio_stream::iio
