// SPDX-License-Identifier: MIT
#pragma once

#include "support/fake.hpp"

#include <chrono>
#include <vector>

namespace iio_stream::test {

/// The parameters of a stream from a fake source that loses samples.
struct LossyStream {
    std::vector<FakeSource::Loss> losses = {};
    std::uint64_t total = 20'000;
    OnGap on_gap = OnGap::mark;
    std::uint64_t samples = 0;
    FakeSink::Script sink = {};
    std::size_t block_count = 8;
};

/// The summary of the stream, and everything that its only sink got.
struct LossyResult {
    Summary summary;
    std::vector<std::byte> bytes;
    std::vector<BlockInfo> infos;
};

inline LossyResult stream_lossy(const LossyStream& c)
{
    const SinkAt sink = fake_sink(c.sink);
    PipelineConfig config;
    config.source = fake_source({.total = c.total, .losses = c.losses}).uri;
    config.sinks = {sink.uri};
    config.block_size = kBlock;
    config.blocks = c.block_count;
    config.on_gap = c.on_gap;
    config.samples = c.samples;
    config.timeout = std::chrono::seconds(2);
    LossyResult result{run(config), sink.log->bytes, sink.log->infos};
    return result;
}

} // namespace iio_stream::test
