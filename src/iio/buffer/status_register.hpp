// SPDX-License-Identifier: MIT
#pragma once

#include "sys/unique_fd.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace iio_stream::iio {

/// The status register of ADI's converter cores (axi_adc, axi_dac), 0x88: an ADC's overflow bit and
/// a DAC's underflow bit.
/// Mainline kernels expose it in debugfs as iio:deviceN/backendK/direct_reg_access, ADI's as
/// iio:deviceN/direct_reg_access with 0x80000000 added to the address. Access is slow, so it
/// belongs on control threads. SPI chips have a file of the same name for their own registers, and
/// truncate an address that is too long for them. A file is therefore trusted, and a register
/// written, only after the core's version register has been read through it.
/// Other programs may use the same file and leave another address in it, so a read writes the
/// address first.
class StatusRegister {
public:
    enum class Bit : unsigned { underflow = 1, overflow = 4 };

    /// Finds the register of a device. Returns nullopt if the device has no such register or
    /// debugfs cannot be read; `why` gives the reason.
    static std::optional<StatusRegister> find(const std::string& device_id, std::string& why);

    bool is_set(Bit bit) const;
    /// Like is_set(), at half the cost: reads at the address of the last access. If another program
    /// has used the file since, this tests another register. So confirm a set bit with take(), and
    /// call is_set() or take() from time to time.
    bool is_set_at_last_address(Bit bit) const;
    /// Returns whether the bit was set, and clears it. Throws the errors of debugfs.
    bool take(Bit bit) const;
    /// How long a read takes: the fastest of up to three.
    std::int64_t access_ns() const noexcept { return access_ns_; }

private:
    StatusRegister(std::string path, unsigned core);
    void write(const std::string& text) const;
    unsigned read(unsigned address) const;
    unsigned read_again() const;
    unsigned measured_read(unsigned address);
    bool is_core() const;

    std::string path_;
    unsigned core_;      ///< offset that is added to addresses
    sys::UniqueFd file_; ///< file at `path_`, kept open so that a read takes two system calls
    std::int64_t access_ns_ = 0;
};

} // namespace iio_stream::iio
