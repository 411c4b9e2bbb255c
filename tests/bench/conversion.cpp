// SPDX-License-Identifier: MIT
// Converts samples with the library's public Converter; tests/cli/test_convert_cost.py counts the
// instructions:
//
//     conversion convert FORMAT FIRST COUNT TO            COUNT channels from FIRST, to packed
//     samples conversion deinterleave FORMAT FIRST COUNT TO PORTS to PORTS buffers conversion
//     interleave FORMAT FIRST COUNT FROM PORTS from PORTS buffers
//
// FORMAT is a list of scan types. Prints the number of samples.
#include <iio_stream/error.hpp>
#include <iio_stream/format.hpp>

#include <cstdio>
#include <string>
#include <vector>

namespace {

using namespace iio_stream;

constexpr std::size_t kSamples = 1 << 16, kBlock = 1 << 13;

void run(const std::string& what, const Format& samples, const Format& items, std::size_t ports)
{
    std::vector<std::byte> in(kBlock * samples.sample_bytes);
    for (std::size_t i = 0; i < in.size(); ++i)
        in[i] = static_cast<std::byte>(i * 37 + i / 251);
    const std::size_t bytes = kBlock * items.sample_bytes / ports;
    std::vector<std::vector<std::byte>> buffers(ports, std::vector<std::byte>(bytes));
    std::vector<std::byte*> to;
    for (auto& buffer : buffers)
        to.push_back(buffer.data());
    const std::vector<const std::byte*> from(to.begin(), to.end());
    const Converter out_of(samples, items), into(items, samples);
    for (std::size_t done = 0; done < kSamples; done += kBlock) {
        if (what == "convert")
            out_of.convert(in, buffers[0]);
        else if (what == "deinterleave")
            out_of.deinterleave(in, to);
        else
            into.interleave(from, in);
    }
    std::printf("%zu\n", kSamples);
}

} // namespace

int main(int argc, char** argv)
try {
    if (argc < 6 || argc > 7)
        fail_usage("conversion: 5 or 6 arguments, not " + std::to_string(argc - 1));
    Format samples = Format::parse(argv[2]);
    const auto first = samples.channels.begin() + std::stoi(argv[3]);
    samples.channels = {first, first + std::stoi(argv[4])};
    const std::size_t ports = argc == 7 ? std::stoul(argv[6]) : 1;
    run(argv[1], samples, Format::parse(argv[5], argv[4]), ports);
    return 0;
} catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
}
