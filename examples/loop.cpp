// SPDX-License-Identifier: MIT
#include <iio_stream/stream.hpp>

#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdio>

namespace {

// A complex tone of an eighth of the rate; blocks are whole turns.
std::size_t fill(const iio_stream::EmptyBlock& block)
{
    const iio_stream::CpuWrite data{block};
    auto* values = reinterpret_cast<std::int16_t*>(data.bytes().data());
    for (std::size_t n = 0; n < data.bytes().size() / 4; ++n) {
        const double turns = M_PI / 4 * static_cast<double>(n % 8);
        values[2 * n] = static_cast<std::int16_t>(std::lround(16000 * std::cos(turns)));
        values[2 * n + 1] = static_cast<std::int16_t>(std::lround(16000 * std::sin(turns)));
    }
    return data.bytes().size();
}

// Level and frequency of what is heard, by the turn from each sample to the next.
void tell(std::span<const std::byte> bytes, double rate)
{
    const auto* values = reinterpret_cast<const std::int16_t*>(bytes.data());
    const std::size_t samples = bytes.size() / 4;
    std::complex<double> step, before;
    double level = 0;
    for (std::size_t n = 0; n < samples; ++n) {
        const std::complex<double> iq(values[2 * n] / 32768.0, values[2 * n + 1] / 32768.0);
        step += std::conj(before) * iq;
        level += std::abs(iq) / static_cast<double>(samples);
        before = iq;
    }
    std::printf("%+.0f Hz: %.3f of full scale\n", std::arg(step) / (2 * M_PI) * rate, level);
}

} // namespace

int main(int argc, char** argv)
{
    // "iio:cf-ad9361-dds-core-lpc" and "iio:cf-ad9361-lpc" with a cable between them: what is sent
    // is heard.
    iio_stream::Format format = iio_stream::Format::parse("ci16_le");
    format.sample_rate = 1e6;
    iio_stream::Writer tx(
        {.source = "", .sinks = {argc > 1 ? argv[1] : "null:"}, .block_size = 65536}, format);
    iio_stream::Reader rx(
        {.source = argc > 2 ? argv[2] : "sim:?rate=1M&pattern=tone&frequency=125000"});
    tx.start();
    rx.start();
    unsigned long long heard = 0;
    for (int i = 0; i < 10; ++i) {
        auto block = tx.take();
        const std::size_t bytes = fill(*block);
        tx.put(std::move(*block), bytes);
        if (const auto taken = rx.next()) {
            const iio_stream::CpuRead data{*taken};
            heard += data.bytes().size() / rx.format().sample_bytes;
            tell(data.bytes(), rx.format().sample_rate);
        }
    }
    std::printf("%llu samples sent, %llu heard\n",
                static_cast<unsigned long long>(tx.finish().stats.samples), heard);
}
