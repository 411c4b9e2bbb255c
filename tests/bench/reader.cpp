// SPDX-License-Identifier: MIT
// Takes blocks from a source and accesses each one. The loop in Python is compared with this loop.
//
//     reader SOURCE BLOCK_BYTES BLOCKS TURNS
//
// Prints the nanoseconds from the end of the first block to the end of the stream.
#include <iio_stream/reader.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>

int main(int argc, char** argv)
{
    using Clock = std::chrono::steady_clock;
    if (argc != 5) {
        std::fprintf(stderr, "usage: reader SOURCE BLOCK_BYTES BLOCKS TURNS\n");
        return 2;
    }
    const std::size_t size = std::strtoul(argv[2], nullptr, 10);
    const std::size_t turns = std::strtoul(argv[4], nullptr, 10);
    iio_stream::Reader reader({.source = argv[1],
                               .block_size = size,
                               .blocks = std::strtoul(argv[3], nullptr, 10),
                               .bytes = size * (turns + 1)});
    reader.start();
    (void)reader.next();
    const Clock::time_point begin = Clock::now();
    std::size_t seen = 0;
    for (const iio_stream::Block& block : reader)
        seen += iio_stream::CpuRead(block).bytes().size();
    const std::chrono::nanoseconds taken = Clock::now() - begin;
    std::printf("%lld\n", static_cast<long long>(taken.count()));
    return seen == size * turns ? 0 : 1;
}
