// SPDX-License-Identifier: MIT
// A minimal program that uses the library: it streams a thousand samples to null:.
#include <iio_stream/iio_stream.hpp>

#include <chrono>
#include <cstddef>
#include <cstdio>

int main()
{
    iio_stream::Session session;
    iio_stream::PipelineConfig config;
    config.source = "sim:";
    config.sinks = {"null:"};
    config.samples = 1000;
    const std::size_t index = session.add(config);
    session.prepare();
    session.start();
    if (!session.wait(std::chrono::seconds(10)))
        return 1;
    session.stop();
    std::printf("%s %llu\n", iio_stream::kVersion,
                static_cast<unsigned long long>(session[index].stats().samples));
    return 0;
}
