// SPDX-License-Identifier: MIT
#include <iio_stream/reader.hpp>

#include <complex>
#include <iostream>

int main(int argc, char** argv)
try {
    // "iio:cf-ad9361-lpc?frequency=2.4G" captures from an ADC behind the AXI-DMAC.
    iio_stream::Reader adc({.source = argc > 1 ? argv[1] : "sim:?rate=1M", .samples = 1'000'000});
    for (const iio_stream::Block& block : adc) {
        // This is the DMA's own memory; nothing was copied.
        const auto samples = block.as<std::complex<std::int16_t>>();
        std::cout << "sample " << block.sample_index() << ": " << block.samples()
                  << " samples from " << samples[0] << ", " << block.gaps().size() << " gaps\n";
    }
} catch (const iio_stream::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
}
