// SPDX-License-Identifier: MIT
// Devices of another machine, or of this one through iiod, accessed through libiio. In a build
// without libiio, all functions except missing_libiio() throw.
#pragma once

#include "iio/context/context.hpp"
#include "iio/options.hpp"
#include "iio_stream/endpoint.hpp"

#include <memory>
#include <optional>

namespace iio_stream::iio {

/// The context behind a libiio URI.
ContextPtr open_remote(const std::string& uri);
std::unique_ptr<Source> make_remote_source(const Device& device, const BufferSettings& settings,
                                           Options& options);
std::unique_ptr<Sink> make_remote_sink(const Device& device, const BufferSettings& settings,
                                       Options& options);

/// Why no remote context can be opened here; nullopt if one can.
std::optional<Missing> missing_libiio();

} // namespace iio_stream::iio
