// SPDX-License-Identifier: MIT
// Streams repeatedly in one process, and prints the resources that the process holds after each
// cycle:
//
//     lab-cycles TIMES fresh|same|asked SAMPLES SOURCE SINK…
//
// fresh: a new Session each time. same: one Session, prepared and started repeatedly. asked: a new
// Session for each line of stdin. A line per cycle shows the open files, resident KiB, mappings,
// DMABUFs in the kernel, samples, and the error's errno or 0. The summary of a failing cycle goes
// to stderr.
#include "iio_stream/error.hpp"
#include "iio_stream/session.hpp"

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

namespace {

using namespace iio_stream;

std::size_t open_files()
{
    const std::filesystem::directory_iterator all("/proc/self/fd");
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

std::size_t mappings()
{
    std::ifstream maps("/proc/self/maps");
    std::size_t count = 0;
    for (std::string line; std::getline(maps, line);)
        ++count;
    return count;
}

std::size_t resident_kib()
{
    const std::string key = "VmRSS:";
    std::ifstream file("/proc/self/status");
    for (std::string line; std::getline(file, line);)
        if (line.starts_with(key))
            return std::strtoull(line.c_str() + key.size(), nullptr, 10);
    return 0;
}

// Reads the last line, "Total 8 objects, 131072 bytes". Each device has an earlier line "Total 1
// devices attached".
std::size_t dmabufs()
{
    std::ifstream file("/sys/kernel/debug/dma_buf/bufinfo");
    unsigned long long count = 0;
    for (std::string line; std::getline(file, line);)
        if (std::sscanf(line.c_str(), "Total %llu objects", &count) == 1 &&
            line.find("objects") != line.npos)
            return count;
    return 0;
}

std::unique_ptr<Session> make_session(const PipelineConfig& config)
{
    auto session = std::make_unique<Session>();
    session->add(config);
    return session;
}

std::uint64_t stream_once(Session& session, int& error)
{
    session.prepare();
    session.start();
    while (!session.wait(std::chrono::seconds(1)))
        ;
    session.stop();
    const Summary summary = session[0].summary();
    error = summary.error ? summary.error->code().value() : 0;
    if (error != 0)
        std::fprintf(stderr, "%s\n%s\n", summary.error->what(), to_json(summary).c_str());
    return summary.stats.samples;
}

} // namespace

int main(int argc, char** argv)
{
    if (argc < 6)
        return 2;
    const int times = std::atoi(argv[1]);
    const bool same = std::string(argv[2]) == "same", asked = std::string(argv[2]) == "asked";
    PipelineConfig config;
    config.samples = std::strtoull(argv[3], nullptr, 10);
    config.source = argv[4];
    config.sinks.assign(argv + 5, argv + argc);
    config.block_size = 16384;
    config.blocks = 8;
    config.timeout = std::chrono::milliseconds(500);
    std::unique_ptr<Session> session;
    for (int i = 0; i < times && (!asked || std::getchar() != EOF); ++i) {
        int error = 0;
        std::uint64_t samples = 0;
        try {
            if (!session)
                session = make_session(config);
            samples = stream_once(*session, error);
        } catch (const Error& failure) {
            error = failure.code().value();
        }
        if (!same)
            session.reset();
        std::printf("%zu %zu %zu %zu %llu %d\n", open_files(), resident_kib(), mappings(),
                    dmabufs(), static_cast<unsigned long long>(samples), error);
        std::fflush(stdout);
    }
    return 0;
}
