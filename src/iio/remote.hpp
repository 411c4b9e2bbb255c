// SPDX-License-Identifier: MIT
#pragma once

#include "iio/source.hpp"

#include <memory>

namespace iio_stream::iio {

/// A device of another machine (or of this one through iiod), streamed by libiio.
std::unique_ptr<Source> make_remote_source(const Device& device, const BufferSettings& settings,
                                           Options& options);
std::unique_ptr<Sink> make_remote_sink(const Device& device, const BufferSettings& settings,
                                       Options& options);

} // namespace iio_stream::iio
