// SPDX-License-Identifier: MIT
#pragma once

#include "iio/iq_pairs.hpp"
#include "iio_stream/format.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace iio_stream::iio {

/// The sysfs folder of one buffer of a local device: its scan elements, length and enable. Since
/// Linux 5.11 there is one folder per buffer; older kernels have one for the first buffer only.
/// Thread: one at a time.
class BufferDir {
public:
    /// Throws if the device has no such buffer.
    BufferDir(const std::string& device_id, const std::string& device_name, int index);

    const std::string& device_dir() const noexcept { return device_dir_; }
    const std::string& path() const noexcept { return buffer_dir_; }
    bool is_output() const noexcept { return output_; }
    /// All scan elements of the buffer, in scan order, not laid out.
    const std::vector<Channel>& elements() const noexcept { return elements_; }
    /// The reasons why some scan elements cannot be parsed. Such elements are disabled and never
    /// chosen.
    const std::vector<std::string>& remarks() const noexcept { return remarks_; }
    /// Chooses the named channels (by id, in any order), or all except a timestamp if `names` is
    /// empty, and lays them out.
    Format choose(const std::string& names, Iq iq) const;

    /// Returns false for the kernel's software FIFO (kfifo), which silently drops samples that it
    /// has no room for.
    bool is_dma() const noexcept { return is_dma_; }
    /// DMA addresses and lengths must be multiples of this many bytes; 1 if the driver does not
    /// state it.
    std::size_t alignment() const noexcept { return alignment_; }
    bool is_enabled() const;
    /// With DMA, returns the number of bytes that can be read from or written to the kernel's own
    /// blocks. With the software FIFO, returns the number of samples in the FIFO.
    std::size_t data_available() const;
    void enable_channels(const Format& format);
    /// Sets the number of scans per block for the hardware. Returns false if the kernel refuses it.
    bool set_length(std::size_t scans) const;
    /// Sets the number of scans that wake up a waiting reader. A DMA buffer wakes it up once per
    /// kernel block instead.
    void set_watermark(std::size_t scans) const;
    /// Enables the buffer. If disable() was called less than kQuietNs ago, waits for the rest of
    /// that time. Some drivers refuse a choice of channels only here.
    void enable();
    /// Disables the buffer. A device that is gone is not an error.
    void disable() noexcept;
    /// Disables a buffer that a killed program has left enabled. Call it while the BufferFile is
    /// open, because no other running program can use the buffer then.
    void disable_leftover();
    /// Disables the buffer. Call this in place of disable() if blocks may have been queued while
    /// the buffer was off. The kernel keeps these blocks and their memory forever unless the buffer
    /// is enabled once more. take_back() therefore enables it first.
    void take_back() noexcept;
    /// Takes the buffer out of fileio mode by enabling it for a moment with the shortest length. A
    /// start by read() or write() that ran out of memory leaves the buffer in that mode, in which
    /// it refuses DMABUFs (EBUSY). The buffer must be off.
    void leave_fileio() noexcept;
    /// Whether the device still exists.
    bool exists() const;

private:
    void enable_channel(const std::string& path, const char* state) const;
    [[noreturn]] void refuse_channels(const char* operation) const;
    void enable_somehow();

    /// When dma-axi-dmac is stopped, it does not wait for a running interrupt handler. A handler
    /// that has just read the status can find the next stream's transfer when it continues. It then
    /// treats that transfer as complete and frees the descriptor that the core still uses (Linux
    /// 6.12; docs/lab-findings.md).
    static constexpr std::int64_t kQuietNs = 10'000'000;

    std::string device_dir_, buffer_dir_, elements_dir_;
    std::string name_;        ///< the name that the user gave
    std::string driver_name_; ///< the kernel's name for the device
    bool output_ = false, is_dma_ = false;
    std::size_t alignment_ = 1;
    std::string chosen_; ///< the channels that are switched on
    bool whole_ = false; ///< all channels are switched on
    std::int64_t disabled_ns_ = 0;
    std::vector<Channel> elements_;
    /// File prefixes, such as "in_voltage0_i", first those of elements_, then those of the elements
    /// that cannot be parsed.
    std::vector<std::string> files_;
    std::vector<std::string> remarks_;
};

/// The sample rate of a local device, and the file that it comes from.
struct SampleRate {
    double value = 0; ///< samples per second; 0 = unknown
    std::string file{};
};

/// Reads the first sampling_frequency attribute for this direction or without a direction. Skips
/// the attributes of a DAC's tones (altvoltage), which have separate rates.
SampleRate sample_rate_of(const std::string& device_dir, bool output);

} // namespace iio_stream::iio
