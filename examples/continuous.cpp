// SPDX-License-Identifier: MIT
#include <iio_stream/reader.hpp>

#include <iostream>

int main(int argc, char** argv)
{
    // "iio:cf-ad9361-lpc?frequency=2.4G" is a real radio; the default loses 300 samples on purpose.
    iio_stream::Reader rx({.source = argc > 1 ? argv[1] : "sim:?rate=0&drop_at=50000&drop=300",
                           .samples = 1'000'000});
    for (const iio_stream::Block& block : rx)
        for (const iio_stream::Gap& gap : block.gaps())
            std::cout << "before sample " << gap.offset_max << ": " << gap.lost_min
                      << " or more lost\n";
    const iio_stream::Stats all = rx.close().stats;
    std::cout << all.samples << " samples, " << all.gaps.certain << " gaps, " << all.gaps.lost_min
              << " lost\n";
}
