// SPDX-License-Identifier: MIT
#include <iio_stream/session.hpp>

#include <complex>
#include <cstdint>
#include <iostream>
#include <vector>

int main(int argc, char** argv)
{
    // With "iio:cf-ad9361-lpc" and "iio:cf-ad9361-dds-core-lpc", the program sends the received
    // samples again.
    iio_stream::Session session;
    iio_stream::Reader& rx = session.add_reader({.source = argc > 1 ? argv[1] : "sim:?rate=0"});
    iio_stream::Writer& tx =
        session.add_writer({.sinks = {argc > 2 ? argv[2] : "null:"}}, rx.format());
    session.start(); // both at once
    std::vector<std::complex<std::int16_t>> samples(10'000);
    for (int i = 0; i < 100; ++i)
        if (rx.read(samples).count == samples.size())
            tx.write(samples);
    std::cout << tx.close().stats.samples << " samples sent again\n";
}
