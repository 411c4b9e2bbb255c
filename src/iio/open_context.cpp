// SPDX-License-Identifier: MIT
#include "iio/open_context.hpp"

#include "iio/context/local_context.hpp"
#include "iio/options.hpp"
#include "iio/remote/remote.hpp"

namespace iio_stream::iio {

ContextPtr open_context(const std::string& uri)
{
    return uri == kLocal ? open_local() : open_remote(uri);
}

} // namespace iio_stream::iio
