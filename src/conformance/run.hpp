// SPDX-License-Identifier: MIT
#pragma once

#include "conformance/subject.hpp"
#include "iio_stream/conformance.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace iio_stream::conformance {

using Facts = std::vector<CheckFact>;

/// The state that the checks share: the options, the devices and the results so far.
/// Thread: one.
class Run {
public:
    Run(const ConformanceOptions& options,
        const std::function<void(const ConformanceResult&)>& seen, const std::atomic<bool>& stop);

    const ConformanceOptions& options() const noexcept { return options_; }
    /// Whether the user has stopped the run. A check must then return soon.
    bool stopped() const noexcept { return stop_.load(std::memory_order_relaxed); }
    std::vector<Subject>& subjects() noexcept { return subjects_; }
    const std::vector<DeviceInfo>& devices() const noexcept { return devices_; }
    bool emulated() const noexcept { return report_.emulated; }

    void pass(const std::string& text, Facts facts = {}, const std::string& variant = {});
    void fail(const std::string& text, Facts facts = {}, const std::string& variant = {});
    void fail(const Error& error, const std::string& variant = {});
    /// Sets the fault of the next failure, which determines the exit status.
    void blame(Fault fault) noexcept { fault_ = fault; }
    void blame(const std::optional<Error>& error) noexcept;
    void skip(const std::string& text, const std::string& variant = {});
    /// Like pass() and fail(), for a device other than the one that the check runs for.
    void pass_for(const std::string& device, const std::string& text, Facts facts = {});
    void fail_for(const std::string& device, const std::string& text);

    /// Calls `check` with each way and reports an Error that it throws as a failure. Skips read()
    /// and write() if the device failed with DMABUFs before: blocks that the kernel keeps in its
    /// queue make Linux 6.12 crash in read().
    void each_way(const std::vector<Way>& ways, const std::function<void(const Way&)>& check);

    /// Called by SavedSettings with the value that a setting had before it was changed.
    void remember(const std::string& path, const std::string& value);
    void not_restored(const std::string& text);
    const std::map<std::string, std::string>& remembered() const noexcept { return remembered_; }
    const std::vector<std::string>& unrestored() const noexcept { return unrestored_; }
    /// The number of files that the process had open when the run began, and the time at which it
    /// began (CLOCK_MONOTONIC).
    std::size_t open_files_before() const noexcept { return open_files_; }
    std::int64_t begin_ns() const noexcept { return begin_ns_; }

    /// Runs all selected checks.
    ConformanceReport all();

private:
    void find_devices();
    void run_item(const struct Item& item);
    void run_for(const struct Item& item, Subject* subject);
    void add(CheckOutcome outcome, const std::string& device, const std::string& text, Facts facts,
             const std::string& variant);

    const ConformanceOptions& options_;
    const std::function<void(const ConformanceResult&)>& seen_;
    const std::atomic<bool>& stop_;
    ConformanceReport report_;
    std::vector<DeviceInfo> devices_;
    std::vector<Subject> subjects_;
    std::map<std::string, std::string> remembered_;
    std::vector<std::string> unrestored_;
    std::set<std::string> dmabuf_failed_; ///< names of devices
    const struct Item* item_ = nullptr;   ///< the check that runs
    std::string device_;                  ///< the name of its device
    std::int64_t since_ns_ = 0;           ///< time of the last result or the check's start
    std::optional<Fault> fault_;          ///< of the next failure
    std::size_t open_files_ = 0;
    std::int64_t begin_ns_ = 0;
};

/// Determines how often a check runs, and for which buffers.
enum class Scope {
    machine, ///< once
    input,   ///< for each input buffer that can be streamed
    output,  ///< for each output buffer that can be streamed
    buffer,  ///< for each buffer, even if another program uses it
};

/// One check of the registry.
struct Item {
    int number;
    const char* name;
    const char* explains;
    Scope scope;
    void (*check)(Run& run, Subject* subject); ///< `subject` is null in the scope machine
};

/// All checks, by number.
std::span<const Item> items() noexcept;

// The checks by kind. items.cpp contains their names and what they test.
void check_kernel(Run&, Subject*);
void check_heaps(Run&, Subject*);
void check_udmabuf(Run&, Subject*);
void check_huge_pages(Run&, Subject*);
void check_io_uring(Run&, Subject*);
void check_permissions(Run&, Subject*);
void check_debugfs(Run&, Subject*);
void check_limits(Run&, Subject*);
void check_units(Run&, Subject*);

void check_context(Run&, Subject*);
void check_names(Run&, Subject*);
void check_formats(Run&, Subject*);
void check_attributes(Run&, Subject*);
void check_availability(Run&, Subject*);
void check_paths(Run&, Subject*);

void check_rate(Run&, Subject*);
void check_frequency(Run&, Subject*);
void check_gain(Run&, Subject*);
void check_bandwidth(Run&, Subject*);
void check_antenna(Run&, Subject*);

void check_capture(Run&, Subject*);
void check_start_stop(Run&, Subject*);
void check_two_openers(Run&, Subject*);
void check_block_status(Run&, Subject*);
void check_short_blocks(Run&, Subject*);
void check_deadlines(Run&, Subject*);
void check_bounced(Run&, Subject*);
void check_odd_lengths(Run&, Subject*);
void check_unplug(Run&, Subject*);

void check_statistics(Run&, Subject*);
void check_counter(Run&, Subject*);
void check_prbs(Run&, Subject*);
void check_loopback(Run&, Subject*);

void check_unprovoked_loss(Run&, Subject*);
void check_stall(Run&, Subject*);
void check_overflow_register(Run&, Subject*);

void check_transmit_safety(Run&, Subject*);
void check_play(Run&, Subject*);
void check_cyclic(Run&, Subject*);
void check_underflow(Run&, Subject*);

void measure_throughput(Run&, Subject*);
void measure_highest_rate(Run&, Subject*);
void measure_disk(Run&, Subject*);
void measure_usb(Run&, Subject*);
void measure_latency(Run&, Subject*);
void measure_clock(Run&, Subject*);

void check_restored(Run&, Subject*);
void check_leaks(Run&, Subject*);
void check_kernel_log(Run&, Subject*);

} // namespace iio_stream::conformance
