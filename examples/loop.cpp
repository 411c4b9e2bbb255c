// SPDX-License-Identifier: MIT
#include <iio_stream/reader.hpp>
#include <iio_stream/writer.hpp>

#include <cinttypes>
#include <cmath>
#include <complex>
#include <cstdio>

namespace {

using Sample = std::complex<std::int16_t>;

// Fills a block with a complex tone at an eighth of the rate. A block is a whole number of periods.
void fill(const iio_stream::EmptyBlock& block)
{
    const auto samples = block.as<Sample>();
    for (std::size_t n = 0; n < samples.size(); ++n) {
        const std::complex<double> tone =
            std::polar(16000.0, M_PI / 4 * static_cast<double>(n % 8));
        samples[n] = {static_cast<std::int16_t>(std::lround(tone.real())),
                      static_cast<std::int16_t>(std::lround(tone.imag()))};
    }
}

// Prints the level and the frequency of received samples. The frequency is computed from the phase
// difference between adjacent samples.
void tell(std::span<const Sample> samples, double rate)
{
    std::complex<double> step, before;
    double level = 0;
    for (const Sample& sample : samples) {
        const std::complex<double> iq(sample.real() / 32768.0, sample.imag() / 32768.0);
        step += std::conj(before) * iq;
        level += std::abs(iq) / static_cast<double>(samples.size());
        before = iq;
    }
    std::printf("%+.0f Hz: %.3f of full scale\n", std::arg(step) / (2 * M_PI) * rate, level);
}

} // namespace

int main(int argc, char** argv)
{
    // With "iio:cf-ad9361-dds-core-lpc" and "iio:cf-ad9361-lpc", and a cable between them, the
    // program receives the samples that it sends.
    iio_stream::Format format = iio_stream::Format::parse("ci16_le");
    format.sample_rate = 1e6;
    iio_stream::Writer tx({.sinks = {argc > 1 ? argv[1] : "null:"}, .block_size = 65536}, format);
    iio_stream::Reader rx(
        {.source = argc > 2 ? argv[2] : "sim:?rate=1M&pattern=tone&frequency=125000"});
    std::size_t heard = 0;
    for (int i = 0; i < 10; ++i) {
        auto block = tx.take();
        fill(*block);
        tx.put(std::move(*block));
        if (const auto taken = rx.next()) {
            const auto samples = taken->as<Sample>();
            heard += samples.size();
            tell(samples.span(), rx.format().sample_rate);
        }
    }
    const std::uint64_t sent = tx.close().stats.samples;
    std::printf("%" PRIu64 " samples sent, %zu heard\n", sent, heard);
}
