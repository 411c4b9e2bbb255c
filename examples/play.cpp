// SPDX-License-Identifier: MIT
#include <iio_stream/writer.hpp>

#include <cinttypes>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdio>

namespace {

// Fills a block with a complex tone at an eighth of the rate, from sample `phase` on. Returns the
// number of samples in the block.
std::size_t fill(const iio_stream::EmptyBlock& block, std::size_t phase)
{
    const auto samples =
        block.as<std::complex<std::int16_t>>(); // the DMA's own memory, filled in place
    for (std::size_t n = 0; n < samples.size(); ++n) {
        const std::complex<double> tone =
            std::polar(16000.0, M_PI / 4 * static_cast<double>((phase + n) % 8));
        samples[n] = {static_cast<std::int16_t>(tone.real()),
                      static_cast<std::int16_t>(tone.imag())};
    }
    return samples.size();
}

} // namespace

int main(int argc, char** argv)
{
    // "iio:cf-ad9361-dds-core-lpc?frequency=2.4G" plays on a DAC behind the AXI-DMAC.
    iio_stream::Format format = iio_stream::Format::parse("ci16_le");
    format.sample_rate = 1e6;
    iio_stream::Writer dac({.sinks = {argc > 1 ? argv[1] : "null:"}}, format);
    std::size_t phase = 0;
    for (int i = 0; i < 10; ++i) {
        auto block = dac.take();
        phase += fill(*block, phase);
        dac.put(std::move(*block));
    }
    const iio_stream::Summary summary = dac.close();
    std::printf("%" PRIu64 " samples, ended by %s\n", summary.stats.samples, summary.ended.c_str());
}
