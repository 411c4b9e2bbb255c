// SPDX-License-Identifier: MIT
#include <iio_stream/reader.hpp>

#include <complex>
#include <iostream>
#include <vector>

int main(int argc, char** argv)
{
    // "iio:cf-ad9361-lpc?frequency=2.4G&gain=40&rate=2M" first tunes the radio and reads each
    // setting back.
    iio_stream::Reader rx(
        {.source = argc > 1 ? argv[1] : "sim:?rate=2M&pattern=tone&frequency=250000"});
    std::vector<std::complex<float>> samples(1'000'000); // full scale is 1.0
    const iio_stream::ReadResult got = rx.read(samples);
    std::cout << got.count << " samples at " << rx.format().sample_rate / 1e6 << " MS/s, "
              << got.lost_min << " lost between them, I of the first " << samples[0].real() << '\n';
}
