// SPDX-License-Identifier: MIT
#pragma once

#include "iio/pairs.hpp"
#include "iio_stream/format.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace iio_stream::iio {

/// The sysfs folder of one buffer of a local device: its scan elements, length and enable.
/// Kernels from 5.11 on have one folder per buffer; older ones only that of the first.
/// Thread: one at a time.
class BufferDir {
public:
    /// Throws where the device has no such buffer.
    BufferDir(const std::string& device_id, const std::string& device_name, int index);

    const std::string& device_dir() const noexcept { return device_dir_; }
    const std::string& path() const noexcept { return buffer_dir_; }
    bool is_output() const noexcept { return output_; }
    /// All its scan elements, in scan order, not laid out.
    const std::vector<Channel>& elements() const noexcept { return elements_; }
    /// Scan elements that cannot be understood, and why: they are disabled, never chosen.
    const std::vector<std::string>& remarks() const noexcept { return remarks_; }
    /// Those named (by id, in any order) or all where `names` is empty, laid out.
    Format choose(const std::string& names, Iq iq) const;

    /// False for the kernel's software FIFO (kfifo), which drops what it has no room for and tells
    /// nobody.
    bool is_dma() const;
    /// Bytes that DMA addresses and lengths must be multiples of; 1 where it is not told.
    std::size_t alignment() const;
    bool is_enabled() const;
    /// DMA: bytes in the kernel's own blocks that can be read, or written. Software FIFO: samples in it.
    std::size_t data_available() const;
    void enable_channels(const Format& format);
    /// Scans per block as the hardware should know them; false where the kernel does not let us.
    bool set_length(std::size_t scans) const;
    /// So many scans wake up who waits for them; DMA buffers wake up by blocks of theirs.
    void set_watermark(std::size_t scans) const;
    /// Not within kQuietNs of disable(): waits out the rest. Some drivers refuse a choice of channels
    /// only here.
    void enable();
    /// Disabling a device that is gone is no error.
    void disable() noexcept;
    /// disable(), where blocks may have been queued while the buffer was not enabled: the kernel
    /// holds those for ever, memory and all, unless it is enabled once more.
    void take_back() noexcept;
    /// Whether the device is still there.
    bool exists() const;

private:
    void enable_channel(const std::string& path, const char* state) const;
    [[noreturn]] void refuse_channels(const char* operation) const;
    void enable_somehow();

    /// dma-axi-dmac does not wait for a running interrupt handler when it is stopped. One that has
    /// read its status just before, and finds the next stream's transfer when it goes on, takes that
    /// for done and frees the descriptor under the core's feet (Linux 6.12; docs/lab-findings.md).
    static constexpr std::int64_t kQuietNs = 10'000'000;

    std::string device_dir_, buffer_dir_, elements_dir_;
    std::string name_;        ///< that the user called it by
    std::string driver_name_; ///< that the kernel has for it
    bool output_ = false;
    std::string chosen_; ///< the channels that are switched on
    bool whole_ = false; ///< they are all
    std::int64_t disabled_ns_ = 0;
    std::vector<Channel> elements_;
    std::vector<std::string> files_; ///< of elements_, "in_voltage0_i", then of what is not understood
    std::vector<std::string> remarks_;
};

/// Samples per second of a local device, and the file that says so.
struct SampleRate {
    double value = 0; ///< 0 = unknown
    std::string file{};
};

/// By the first sampling_frequency that it has of this direction, or of none. A DAC's tones
/// (altvoltage) have rates of their own.
SampleRate sample_rate_of(const std::string& device_dir, bool output);

} // namespace iio_stream::iio
