// SPDX-License-Identifier: MIT
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <iio_stream/stream.hpp>

namespace {

// A complex tone of an eighth of the rate, from sample `phase` on; returns how many samples there was room for.
std::size_t fill(const iio_stream::EmptyBlock& block, std::size_t phase)
{
    const iio_stream::CpuWrite data{block}; // the DMA's own memory, filled in place
    auto* values = reinterpret_cast<std::int16_t*>(data.bytes().data());
    const std::size_t samples = data.bytes().size() / 4;
    for (std::size_t n = 0; n < samples; ++n) {
        const double turns = M_PI / 4 * static_cast<double>((phase + n) % 8);
        values[2 * n] = static_cast<std::int16_t>(16000 * std::cos(turns));
        values[2 * n + 1] = static_cast<std::int16_t>(16000 * std::sin(turns));
    }
    return samples;
}

} // namespace

int main(int argc, char** argv)
{
    // "iio:cf-ad9361-dds-core-lpc?frequency=2.4G" plays on a DAC behind the AXI-DMAC.
    iio_stream::Format format = iio_stream::Format::parse("ci16_le");
    format.sample_rate = 1e6;
    iio_stream::Writer dac({.source = "", .sinks = {argc > 1 ? argv[1] : "null:"}}, format);
    dac.start();
    std::size_t phase = 0;
    for (int i = 0; i < 10; ++i) {
        auto block = dac.take();
        const std::size_t samples = fill(*block, phase);
        phase += samples;
        dac.put(std::move(*block), samples * format.sample_bytes);
    }
    const iio_stream::Summary summary = dac.finish();
    std::printf("%llu samples, ended by %s\n", static_cast<unsigned long long>(summary.stats.samples),
                summary.ended.c_str());
}
