// SPDX-License-Identifier: MIT
#pragma once

#include "core/witness.hpp"
#include "iio_stream/block.hpp"
#include "iio_stream/format.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace iio_stream::iio {

/// Finds losses exactly by what the device counts in its data (option counter=).
/// Thread: one.
class Counter {
public:
    /// "channel:NAME" or "header:BYTES/EVERY"; null for "none". Throws a usage Error for others, and
    /// for what the format does not hold.
    static std::unique_ptr<Counter> make(const std::string& text, const Format& format);
    virtual ~Counter() = default;

    /// A stream of such blocks begins. Throws a usage Error where they are too small.
    virtual void reset(std::size_t block_bytes) = 0;
    /// The gaps before and inside the samples of a block, to the witness, which stands before it.
    virtual void look(std::span<const std::byte> samples, detail::Witness& witness) = 0;
    /// At the stream's end: what could not be decided.
    virtual void conclude(detail::Witness& witness) { (void)witness; }
};

/// A channel that counts samples. Of a block its first and last one are looked at, and others only
/// where these do not fit. A counter of n bits knows a loss modulo 2^n only: of fewer than 32 bits,
/// which are soon round, it gives the least. One that steps back has begun anew.
class ChannelCounter final : public Counter {
public:
    ChannelCounter(const Format& format, const std::string& channel);
    void reset(std::size_t block_bytes) override;
    void look(std::span<const std::byte> samples, detail::Witness& witness) override;

private:
    Gap gap_at(std::uint64_t offset, std::uint64_t jump) const noexcept;
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
