// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace iio_stream::iio {

/// The overflow and underflow bits of ADI's converter cores (axi_adc, axi_dac), register 0x88.
/// Mainline kernels expose it in debugfs as iio:deviceN/backendK/direct_reg_access, ADI's as
/// iio:deviceN/direct_reg_access with 0x80000000 added to the address. Slow: for control threads.
/// Chips on SPI have a file of that name for their own registers, and truncate an address that is
/// too long for them: a file is trusted, and written to, only after it has answered for the core's
/// version register.
class OverflowRegister {
public:
    enum class Bit : unsigned { underflow = 1, overflow = 4 };

    /// Nullopt if the device has no such register or debugfs cannot be read; `why` gives the
    /// reason.
    static std::optional<OverflowRegister> find(const std::string& device_id, std::string& why);

    bool is_set(Bit bit) const;
    /// Whether the bit was set; clears it. Throws debugfs' errors.
    bool take(Bit bit) const;
    /// How long one read took.
    std::int64_t access_ns() const noexcept { return access_ns_; }

private:
    OverflowRegister(std::string path, unsigned core) : path_(std::move(path)), core_(core) {}
    unsigned read(unsigned address) const;
    bool is_core() const;

    std::string path_;
    unsigned core_; ///< added to addresses
    std::int64_t access_ns_ = 0;
};

} // namespace iio_stream::iio
