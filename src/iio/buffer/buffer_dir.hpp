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
/// 5.11 the kernel has one folder per buffer; older ones have one for the first only.
/// Thread: one at a time.
class BufferDir {
public:
    /// Throws if the device has no such buffer.
    BufferDir(const std::string& device_id, const std::string& device_name, int index);

    const std::string& device_dir() const noexcept { return device_dir_; }
    const std::string& path() const noexcept { return buffer_dir_; }
    bool is_output() const noexcept { return output_; }
    /// All its scan elements, in scan order, not laid out.
    const std::vector<Channel>& elements() const noexcept { return elements_; }
    /// Scan elements that cannot be parsed, and why: they are disabled and never chosen.
    const std::vector<std::string>& remarks() const noexcept { return remarks_; }
    /// The named ones (by id, in any order), or all if `names` is empty; laid out.
    Format choose(const std::string& names, Iq iq) const;

    /// False for the kernel's software FIFO (kfifo), which silently drops what it has no room for.
    bool is_dma() const;
    /// DMA addresses and lengths must be multiples of this many bytes; 1 if the driver does not
    /// say.
    std::size_t alignment() const;
    bool is_enabled() const;
    /// DMA: bytes that can be read from or written to the kernel's own blocks. Software FIFO:
    /// samples in it.
    std::size_t data_available() const;
    void enable_channels(const Format& format);
    /// Scans per block, for the hardware; false if the kernel does not allow it.
    bool set_length(std::size_t scans) const;
    /// Number of scans that wake up a waiting reader; DMA buffers wake up once per block of theirs.
    void set_watermark(std::size_t scans) const;
    /// Not within kQuietNs of disable(): waits for the rest of that time. Some drivers refuse a
    /// choice of channels only here.
    void enable();
    /// A device that is gone is not an error.
    void disable() noexcept;
    /// Disables a buffer that a killed program has left enabled. Call it while the BufferFile is
    /// open: no running program uses the buffer then.
    void disable_leftover();
    /// disable(), after blocks may have been queued without the buffer being enabled: the kernel
    /// keeps those forever, with their memory, unless it is enabled once more.
    void take_back() noexcept;
    /// A start by read() or write() that had no memory leaves the buffer in fileio mode, where it
    /// takes no DMABUFs (EBUSY), until it has been enabled so once more: for a moment, with the
    /// shortest length. The buffer must be off.
    void leave_fileio() noexcept;
    /// Whether the device still exists.
    bool exists() const;

private:
    void enable_channel(const std::string& path, const char* state) const;
    [[noreturn]] void refuse_channels(const char* operation) const;
    void enable_somehow();

    /// When stopped, dma-axi-dmac does not wait for a running interrupt handler. A handler that has
    /// just read its status, and finds the next stream's transfer when it continues, takes that for
    /// complete and frees the descriptor the core still uses (Linux 6.12; docs/lab-findings.md).
    static constexpr std::int64_t kQuietNs = 10'000'000;

    std::string device_dir_, buffer_dir_, elements_dir_;
    std::string name_;        ///< the name the user gave
    std::string driver_name_; ///< the name the kernel has for it
    bool output_ = false;
    std::string chosen_; ///< the channels that are switched on
    bool whole_ = false; ///< all of them are
    std::int64_t disabled_ns_ = 0;
    std::vector<Channel> elements_;
    std::vector<std::string>
        files_; ///< of elements_, "in_voltage0_i", then of those that cannot be parsed
    std::vector<std::string> remarks_;
};

/// A local device's samples per second, and the file that says so.
struct SampleRate {
    double value = 0; ///< 0 = unknown
    std::string file{};
};

/// From its first sampling_frequency of this direction, or of no direction. A DAC's tones
/// (altvoltage) have rates of their own.
SampleRate sample_rate_of(const std::string& device_dir, bool output);

} // namespace iio_stream::iio
