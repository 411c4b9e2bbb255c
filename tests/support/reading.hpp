// SPDX-License-Identifier: MIT
#pragma once

#include "support/fake.hpp"

#include <utility>
#include <vector>

namespace iio_stream::test {

/// Returns the configuration of a pipeline from a fake source to a Reader.
inline PipelineConfig reading(FakeSource::Script script)
{
    return config_of(fake_source(std::move(script)).uri, {});
}

inline std::vector<std::byte> bytes_in(const Block& block)
{
    const CpuRead data{block};
    return {data.bytes().begin(), data.bytes().end()};
}

} // namespace iio_stream::test
