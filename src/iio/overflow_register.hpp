// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace iio_stream::iio {

/// The overflow and underflow bits of ADI's converter cores (axi_adc, axi_dac), register 0x88.
/// Mainline's kernels show it in debugfs as iio:deviceN/backendK/direct_reg_access, ADI's own as
/// iio:deviceN/direct_reg_access with 0x80000000 added to the address. Slow: for control threads.
/// Chips that are set by SPI have a file of that name for registers of their own, and cut an address
/// that is too long for them: a file is believed, and written to, once it has answered for the core's
/// version register.
class OverflowRegister {
public:
    enum class Bit : unsigned { underflow = 1, overflow = 4 };

    /// Nothing where the device has no such register, or debugfs may not be read; `why` tells.
    static std::optional<OverflowRegister> find(const std::string& device_id, std::string& why);

    /// Whether the bit was set; it is cleared. Throws what debugfs says.
    bool take(Bit bit) const;
    /// How long it took to read it once.
    std::int64_t access_ns() const noexcept { return access_ns_; }

private:
    OverflowRegister(std::string path, unsigned core) : path_(std::move(path)), core_(core) {}
    unsigned read(unsigned address) const;
    bool is_core() const;

    std::string path_;
    unsigned core_; ///< added to the addresses
    std::int64_t access_ns_ = 0;
};

} // namespace iio_stream::iio
