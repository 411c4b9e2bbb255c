// SPDX-License-Identifier: MIT
#include <cstdio>
#include <iio_stream/stream.hpp>

int main(int argc, char** argv)
{
    // "iio:cf-ad9361-lpc?frequency=2.4G" captures from an ADC behind the AXI-DMAC.
    iio_stream::Reader adc({.source = argc > 1 ? argv[1] : "sim:?rate=1M", .samples = 1'000'000});
    adc.start();
    for (const iio_stream::Block& block : adc) {
        const iio_stream::CpuRead data{block}; // the DMA's own memory: nothing was copied
        std::printf("sample %llu: %zu bytes, %zu gaps\n",
                    static_cast<unsigned long long>(block.sample_index()), data.bytes().size(),
                    block.gaps().size());
    }
}
