// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace iio_stream::fuzz {

/// One parser of untrusted bytes. `run` returns or throws Broken. The sanitizers and libFuzzer
/// detect crashes and hangs.
struct Target {
    const char* name;
    void (*run)(std::span<const std::byte> input);
};

/// Returns all targets. Each .cpp file contains the targets for the input in its name.
std::span<const Target> targets();

/// Thrown if the code under test violates an expected property.
struct Broken : std::logic_error {
    using std::logic_error::logic_error;
};

inline void holds(bool promise, const char* what)
{
    if (!promise)
        throw Broken(what);
}

inline std::string_view text_of(std::span<const std::byte> bytes)
{
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Calls `parse` and ignores errors of the type that it is allowed to throw.
template <typename Refusal, typename Parse>
void unless_refused(Parse&& parse)
{
    try {
        parse();
    } catch (const Refusal&) {
    }
}

/// Takes numbers and pieces from the front of an input. After its end, numbers are 0 and pieces are
/// empty.
class Pieces {
public:
    explicit Pieces(std::span<const std::byte> bytes) : left_(bytes) {}

    bool empty() const noexcept { return left_.empty(); }
    std::uint64_t number(std::size_t bytes)
    {
        std::uint64_t value = 0;
        for (const std::byte b : piece(bytes))
            value = value << 8 | static_cast<std::uint8_t>(b);
        return value;
    }
    std::span<const std::byte> piece(std::size_t bytes)
    {
        const auto front = left_.first(std::min(bytes, left_.size()));
        left_ = left_.subspan(front.size());
        return front;
    }
    /// Takes a length of two bytes, and then a piece of that length.
    std::span<const std::byte> sized_piece() { return piece(number(2)); }

private:
    std::span<const std::byte> left_;
};

} // namespace iio_stream::fuzz
