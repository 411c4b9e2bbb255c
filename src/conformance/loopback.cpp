// SPDX-License-Identifier: MIT
#include "conformance/loopback.hpp"

#include "conformance/silence.hpp"
#include "conformance/streaming.hpp"
#include "core/format/stored_value.hpp"
#include "iio_stream/reader.hpp"
#include "iio_stream/writer.hpp"
#include "sys/files.hpp"

#include <algorithm>

namespace iio_stream::conformance {

namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kCounterMask = kLoopbackPeriod - 1;
constexpr std::uint64_t kBetweenChannels = 1000; ///< so that swapped channels are detected
constexpr int kSettling = 20; ///< blocks before the counter has passed every filter and FIFO

std::uint64_t counter_at(std::uint64_t sample, std::size_t channel)
{
    return (sample + channel * kBetweenChannels) & kCounterMask;
}

// The device whose debugfs switches the loopback on. The radio's settings for both directions
// belong to this device.
std::string phy_of(const Subject& subject)
{
    for (const auto& [option, places] : subject.buffer.tuning)
        for (const std::string& place : places)
            if (const std::string name = place.substr(0, place.find('/')); name != subject.name())
                return name;
    return "";
}

const Subject* dac_of(Run& run, const std::string& phy)
{
    for (const Subject& subject : run.subjects())
        if (subject.buffer.output && subject.blocked.empty() && phy_of(subject) == phy)
            return &subject;
    return nullptr;
}

std::string compare_loop(Run& run, const Subject& adc, const Subject& dac, Facts& facts)
{
    Format played;
    played.channels = dac.buffer.channels;
    played.sample_rate = dac.rate();
    played.lay_out();
    PipelineConfig sending;
    sending.sinks = {dac.uri(dac.ways.front())};
    sending.sinks[0].options.set("cyclic", "on");
    sending.block_size = 16 * kLoopbackPeriod * played.sample_bytes;
    Writer writer(sending, played);
    std::vector<std::byte> counter(sending.block_size);
    fill_loopback(played, counter);
    if (writer.write(counter, 3s) != counter.size())
        return "the DAC took no block";
    writer.end();
    PipelineConfig receiving = capture_config(adc, adc.ways.front());
    receiving.sinks.clear();
    Reader reader(receiving);
    std::string wrong = "no block arrived within 3 s";
    std::int64_t exact = 0;
    for (int i = 0; i < 2 * kSettling && !run.stopped(); ++i) {
        const auto block = reader.next(3s);
        if (!block)
            break;
        const CpuRead read(*block);
        wrong = loopback_error(reader.format(), read.bytes());
        exact += wrong.empty() ? static_cast<std::int64_t>(block->samples()) : 0;
        if (i >= kSettling && !wrong.empty())
            break;
    }
    reader.stop();
    writer.stop();
    facts.push_back({"exact_samples", exact});
    return wrong;
}

} // namespace

void fill_loopback(const Format& format, std::span<std::byte> samples)
{
    for (std::size_t at = 0, sample = 0; at + format.sample_bytes <= samples.size();
         at += format.sample_bytes, ++sample)
        for (std::size_t channel = 0; channel < format.channels.size(); ++channel) {
            const ScanType& type = format.channels[channel].type;
            const unsigned above = type.bits > kLoopbackBits ? type.bits - kLoopbackBits : 0;
            detail::store_value(type, counter_at(sample, channel) << above,
                                samples.data() + at + format.channels[channel].offset);
        }
}

std::string loopback_error(const Format& format, std::span<const std::byte> samples)
{
    std::uint64_t start = 0;
    for (std::size_t at = 0, sample = 0; at + format.sample_bytes <= samples.size();
         at += format.sample_bytes, ++sample)
        for (std::size_t channel = 0; channel < format.channels.size(); ++channel) {
            const Channel& one = format.channels[channel];
            const std::uint64_t value =
                (detail::load_storage(one.type, samples.data() + at + one.offset) >>
                 one.type.shift) &
                kCounterMask;
            if (sample == 0 && channel == 0)
                start = value;
            if (const std::uint64_t expected = counter_at(start + sample, channel);
                value != expected)
                return one.id + " is " + std::to_string(value) + " instead of " +
                       std::to_string(expected) + " at sample " + std::to_string(sample);
        }
    return "";
}

void check_loopback(Run& run, Subject* subject)
{
    const std::string phy = phy_of(*subject);
    const std::string file =
        phy.empty()
            ? ""
            : "/sys/kernel/debug/iio/" +
                  iio::find_device(subject->device.context(), "local:", phy).id() + "/loopback";
    const Subject* dac = phy.empty() ? nullptr : dac_of(run, phy);
    if (file.empty() || !sys::path_exists(file)) {
        run.skip("the chip has no digital loopback in debugfs");
        return;
    }
    if (dac == nullptr) {
        run.skip("no free DAC belongs to " + phy);
        return;
    }
    if (run.emulated()) {
        run.skip("the simulator has no loopback from its DAC to its ADC");
        return;
    }
    const Silence silence(run, *dac);
    if (!may_transmit(run, silence))
        return;
    SavedSettings settings(run);
    if (const std::string read = settings.set(file, "1"); read != "1") {
        run.fail(file + " reads '" + read + "' after 1 was written");
        return;
    }
    Facts facts;
    const std::string wrong = compare_loop(run, *subject, *dac, facts);
    settings.restore();
    if (wrong.empty())
        run.pass("every sample that " + dac->name() + " played came back", std::move(facts));
    else
        run.fail("through the digital loopback: " + wrong, std::move(facts));
}

} // namespace iio_stream::conformance
