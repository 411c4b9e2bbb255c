// SPDX-License-Identifier: MIT
// 5xx: the values of the samples.
#include "conformance/recognize.hpp"
#include "conformance/sample_statistics.hpp"
#include "conformance/saved_settings.hpp"
#include "conformance/streaming.hpp"
#include "core/base/text.hpp"
#include "core/format/stored_value.hpp"
#include "iio_stream/reader.hpp"
#include "iio_stream/session.hpp"
#include "sys/event.hpp"
#include "sys/files.hpp"

#include <algorithm>

namespace iio_stream::conformance {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t kJudgedBytes = 2 << 20; ///< of samples
constexpr std::uint64_t kFewestJudged = 1024; ///< samples

/// The start of a stream, in memory.
struct Captured {
    Format format;
    std::vector<std::byte> bytes;
    std::size_t block_bytes = 0;
    std::uint64_t losses = 0; ///< reported ones
};

Captured capture(Run& run, const Subject& subject, std::size_t most_bytes)
{
    PipelineConfig config = capture_config(subject, subject.ways.front());
    config.sinks.clear();
    config.samples = samples_of(subject, 1, most_bytes);
    Reader reader(config);
    Captured captured{reader.format(), {}, reader.block_size(), 0};
    while (auto block = reader.next(3s)) {
        captured.losses += block->gaps().size();
        const CpuRead read(*block);
        captured.bytes.insert(captured.bytes.end(), read.bytes().begin(), read.bytes().end());
        if (run.stopped())
            reader.stop();
    }
    const Summary summary = reader.close();
    if (summary.error)
        throw Error(*summary.error);
    return captured;
}

Channel const* counter_of(const Format& format)
{
    for (const Channel& channel : format.channels)
        if (channel.component == Component::counter)
            return &channel;
    return nullptr;
}

// The first place where a counter channel does not count by one; empty if there is none.
std::string counter_jump(const Format& format, const Channel& counter,
                         std::span<const std::byte> bytes)
{
    const std::uint64_t mask =
        counter.type.bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << counter.type.bits) - 1;
    std::uint64_t last = 0;
    for (std::size_t at = 0, sample = 0; at + format.sample_bytes <= bytes.size();
         at += format.sample_bytes, ++sample) {
        const std::uint64_t value =
            (detail::load_storage(counter.type, bytes.data() + at + counter.offset) >>
             counter.type.shift) &
            mask;
        if (sample != 0 && value != ((last + 1) & mask))
            return counter.id + " jumps from " + std::to_string(last) + " to " +
                   std::to_string(value) + " at sample " + std::to_string(sample);
        last = value;
    }
    return "";
}

} // namespace

void check_statistics(Run& run, Subject* subject)
{
    const Captured captured = capture(run, *subject, kJudgedBytes);
    if (run.stopped())
        return;
    const std::uint64_t samples = captured.bytes.size() / captured.format.sample_bytes;
    if (samples < kFewestJudged) {
        run.skip("only " + std::to_string(samples) + " samples within a second: too few to judge");
        return;
    }
    if (const Recognized pattern = recognize(captured.format, captured.bytes);
        pattern.name != nullptr) {
        run.pass(std::string("the samples are a test pattern, a ") + pattern.name +
                 "; see counter");
        return;
    }
    const Statistics statistics =
        statistics_of(captured.format, captured.bytes, captured.block_bytes);
    Facts facts{{"samples", static_cast<std::int64_t>(samples)}};
    for (const ChannelStatistics& channel : statistics.channels) {
        facts.push_back({channel.id + "_min", channel.least});
        facts.push_back({channel.id + "_max", channel.most});
    }
    if (subject->dma && !statistics.wrong.empty())
        run.fail(statistics.wrong, std::move(facts));
    else
        run.pass(statistics.text +
                     (statistics.wrong.empty()
                          ? ""
                          : "; not judged, because the device is not a fast converter"),
                 std::move(facts));
}

void check_counter(Run& run, Subject* subject)
{
    const Captured captured = capture(run, *subject, 2 * kJudgedBytes);
    if (run.stopped())
        return;
    const std::string losses =
        captured.losses == 0 ? ""
                             : "; " + std::to_string(captured.losses) + " losses were reported";
    if (const Channel* counter = counter_of(captured.format)) {
        const std::string jump = counter_jump(captured.format, *counter, captured.bytes);
        if (jump.empty())
            run.pass(counter->id + " counts every sample");
        else
            run.fail(jump + losses);
        return;
    }
    const Recognized pattern = recognize(captured.format, captured.bytes);
    if (pattern.name == nullptr) {
        run.skip("the samples have no counter and no known test pattern");
        return;
    }
    const detail::Findings& found = pattern.findings;
    const Facts facts{{"samples", static_cast<std::int64_t>(found.samples)},
                      {"mismatches", static_cast<std::int64_t>(found.mismatches)},
                      {"lost", static_cast<std::int64_t>(found.lost)}};
    if (found.intact() && found.gaps == 0)
        run.pass(std::to_string(found.samples) + " samples of a " + pattern.name +
                     ", each as expected",
                 facts);
    else
        run.fail("in a " + std::string(pattern.name) + ": " + found.first + losses, facts);
}

namespace {

/// The file that makes the converter send a pseudo-random sequence, the values that switch it on
/// and off, and the file in which the interface reports errors.
struct Prbs {
    std::string file, on, off, monitor;
};

std::string phy_debug_file(const Subject& subject, const std::string& name)
{
    for (const auto& [option, places] : subject.buffer.tuning)
        for (const std::string& place : places) {
            const std::string device = place.substr(0, place.find('/'));
            const iio::Device phy = iio::find_device(subject.device.context(), "local:", device);
            const std::string path = "/sys/kernel/debug/iio/" + phy.id() + "/" + name;
            if (sys::path_exists(path))
                return path;
        }
    return "";
}

std::optional<Prbs> prbs_of(const Subject& subject)
{
    const std::string own = subject.debug_folder() + "/";
    for (const Channel& channel : subject.buffer.channels) // mainline drivers, such as ad9467
        if (const std::string file = own + "in_" + channel.id + "_test_mode";
            sys::path_exists(file)) {
            std::string modes = sys::read_text(file + "_available").value_or("");
            modes += " " + sys::read_text(own + "in_voltage_test_mode_available").value_or("");
            for (const char* mode : {"prbs9", "pn9", "prbs23", "pn23"})
                if (modes.find(mode) != std::string::npos)
                    return Prbs{file, mode, "off", file};
        }
    const std::string bist = phy_debug_file(subject, "bist_prbs"); // ADI's AD936x drivers
    if (!bist.empty() && sys::path_exists(own + "pseudorandom_err_check"))
        return Prbs{bist, "1", "0", own + "pseudorandom_err_check"};
    return std::nullopt;
}

} // namespace

void check_prbs(Run& run, Subject* subject)
{
    const auto prbs = prbs_of(*subject);
    if (!prbs) {
        run.skip(sys::list_directory("/sys/kernel/debug").empty()
                     ? "debugfs, where a chip's test mode would be, is not readable"
                     : "the chip has no known pseudo-random test");
        return;
    }
    if (run.emulated() && prbs->monitor != prbs->file) {
        run.skip("the simulator's " + prbs->monitor.substr(prbs->monitor.rfind('/') + 1) +
                 " shows a recorded value");
        return;
    }
    const std::string before = sys::read_text(prbs->file).value_or("");
    if (before != prbs->off && before.find("No test") == std::string::npos) {
        run.skip("a test mode is on already: " + before);
        return;
    }
    SavedSettings settings(run);
    PipelineConfig config = capture_config(*subject, subject->ways.front());
    Session session; // the monitor counts samples only while they are taken
    session.add(config);
    session.start();
    const std::int64_t deadline = sys::after(3'000'000'000);
    while (session[0].stats().blocks < 2 && sys::monotonic_ns() < deadline && !session.wait(10ms))
        continue;
    std::string read;
    for (int reading = 0; reading < 2; ++reading) { // the first reading clears switch-on errors
        settings.switch_on(prbs->file, prbs->on, prbs->off);
        (void)session.wait(50ms);
        read = sys::read_text(prbs->monitor).value_or("");
    }
    settings.restore();
    session.stop();
    std::replace(read.begin(), read.end(), '\n', ' ');
    const bool good = read.find("OK") != std::string::npos &&
                      read.find("rror") == std::string::npos &&
                      read.find("Out of Sync") == std::string::npos;
    const Facts facts{{"monitor", read}};
    if (good)
        run.pass(prbs->on + ": " + read, facts);
    else
        run.fail("the interface's monitor reports '" + read + "' for " + prbs->on, facts);
}

} // namespace iio_stream::conformance
