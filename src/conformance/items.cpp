// SPDX-License-Identifier: MIT
// The registry of checks. The number of a check is never reused for another one.
#include "conformance/run.hpp"

#include <array>

namespace iio_stream::conformance {

namespace {

constexpr std::array kItems{
    // Machine.
    Item{101, "kernel", "the kernel's release, and the interface of each buffer", Scope::machine,
         &check_kernel},
    Item{102, "heaps", "every dma-heap can be opened, and a block can be allocated and mapped",
         Scope::machine, &check_heaps},
    Item{103, "udmabuf", "blocks can be made by /dev/udmabuf", Scope::machine, &check_udmabuf},
    Item{104, "huge-pages", "a huge page is available, reserved or created on demand",
         Scope::machine, &check_huge_pages},
    Item{105, "io-uring", "files can be written by io_uring", Scope::machine, &check_io_uring},
    Item{106, "permissions", "this user can open the devices and write their settings",
         Scope::machine, &check_permissions},
    Item{107, "debugfs", "debugfs, which overflow registers and test modes need, is readable",
         Scope::machine, &check_debugfs},
    Item{108, "limits", "the limits of open files and locked memory are high enough",
         Scope::machine, &check_limits},
    Item{109, "units", "the state of the systemd units that stream", Scope::machine, &check_units},
    // Contexts.
    Item{201, "context", "every device and all its attributes can be listed and read",
         Scope::machine, &check_context},
    Item{202, "names", "a device is found by its id, its name and its label", Scope::machine,
         &check_names},
    Item{203, "formats", "every scan element has a format that is understood and fits its storage",
         Scope::buffer, &check_formats},
    Item{204, "settings", "the sample rate and the radio's settings can be read", Scope::buffer,
         &check_attributes},
    Item{205, "available", "no other program uses the buffer", Scope::buffer, &check_availability},
    Item{206, "paths", "at least one path works: DMABUFs, legacy blocks, or read() and write()",
         Scope::buffer, &check_paths},
    // Tuning.
    Item{301, "rate", "sample rates at the ends and in the middle of the range read back as set",
         Scope::buffer, &check_rate},
    Item{302, "frequency",
         "frequencies at the ends and in the middle of the range read back as set", Scope::buffer,
         &check_frequency},
    Item{303, "gain", "gains at the ends and in the middle of the range read back as set",
         Scope::buffer, &check_gain},
    Item{304, "bandwidth", "bandwidths at the ends and in the middle of the range read back as set",
         Scope::buffer, &check_bandwidth},
    Item{305, "antenna", "every antenna port can be selected", Scope::buffer, &check_antenna},
    // Capture.
    Item{401, "capture", "exactly the requested samples arrive, by every path and memory",
         Scope::input, &check_capture},
    Item{402, "start-stop", "a stream can be started and stopped repeatedly", Scope::input,
         &check_start_stop},
    Item{403, "two-openers", "a second program is refused, and the first one loses nothing",
         Scope::input, &check_two_openers},
    Item{404, "block-status",
         "blocks come in order, each with a status and a later time than the last", Scope::input,
         &check_block_status},
    Item{405, "short-blocks", "the DMA fills every byte of every block", Scope::input,
         &check_short_blocks},
    Item{406, "deadlines",
         "a wait for a block ends on time, and a stop returns blocks that were never filled",
         Scope::input, &check_deadlines},
    Item{407, "bounced", "the DMA writes to the memory's own pages, not to copies", Scope::input,
         &check_bounced},
    Item{408, "odd-lengths", "a stream can end at any sample, including the first of a block",
         Scope::input, &check_odd_lengths},
    Item{
        409, "unplug",
        "a stream ends with an error when its driver is unbound, and works after it is bound again",
        Scope::input, &check_unplug},
    // Samples.
    Item{501, "statistics", "no stuck bits, no constant channel, no clipping, no repeated blocks",
         Scope::input, &check_statistics},
    Item{502, "counter", "a counter or test pattern in the samples has no jump", Scope::input,
         &check_counter},
    Item{503, "prbs", "the interface's monitor finds no error in a pseudo-random sequence",
         Scope::input, &check_prbs},
    Item{504, "loopback",
         "samples that the DAC plays come back bit-exact through the digital loopback",
         Scope::input, &check_loopback},
    // Losses.
    Item{601, "unprovoked-loss", "no sample is lost while the program keeps up", Scope::input,
         &check_unprovoked_loss},
    Item{602, "stall", "the loss of a stall of known length is reported, with its evidence",
         Scope::input, &check_stall},
    Item{603, "overflow-register", "the overflow bit rises with a loss, and stays down without one",
         Scope::input, &check_overflow_register},
    // DACs.
    Item{701, "transmit-safety",
         "the transmitter can be silenced: oscillator off, largest attenuation", Scope::output,
         &check_transmit_safety},
    Item{702, "play", "a DAC plays every sample, by every path and memory", Scope::output,
         &check_play},
    Item{703, "cyclic", "a DAC repeats a buffer until it is stopped", Scope::output, &check_cyclic},
    Item{704, "underflow", "a pause in the samples is reported as an underflow", Scope::output,
         &check_underflow},
    // Measurements. They never fail because of a low speed.
    Item{801, "throughput", "bytes per second at the current rate, by every path and memory",
         Scope::input, &measure_throughput},
    Item{802, "highest-rate", "the highest sample rate without a loss", Scope::input,
         &measure_highest_rate},
    Item{803, "disk", "the highest sample rate that a file takes without a loss", Scope::input,
         &measure_disk},
    Item{804, "usb", "the state of this board's USB gadget", Scope::machine, &measure_usb},
    Item{805, "latency", "time from a block's last sample until the program has it", Scope::input,
         &measure_latency},
    Item{806, "clock", "the sample clock against the system clock", Scope::input, &measure_clock},
    // The state after the run.
    Item{901, "restored", "every setting that the run changed is restored", Scope::machine,
         &check_restored},
    Item{902, "leaks", "no open file and no enabled buffer is left", Scope::machine, &check_leaks},
    Item{903, "kernel-log", "the kernel logged no fault during the run", Scope::machine,
         &check_kernel_log},
};

} // namespace

std::span<const Item> items() noexcept
{
    return kItems;
}

} // namespace iio_stream::conformance
