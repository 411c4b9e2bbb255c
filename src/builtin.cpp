// SPDX-License-Identifier: MIT
// The only file that depends on all endpoint folders.
#include "check/check.hpp"
#include "core/options/registry.hpp"
#include "file/file.hpp"
#include "iio/iio.hpp"
#include "sim/sim.hpp"
#include "tcp/tcp.hpp"
#include "usb/usb.hpp"
#include "zmq/zmq.hpp"

namespace iio_stream::detail {

std::vector<Scheme> builtin_schemes()
{
    return {sim::scheme(),     iio::scheme(),        file::scheme(),
            zmq::scheme(),     tcp::scheme(),        usb::ffs_scheme(),
            usb::usb_scheme(), check::null_scheme(), check::verify_scheme()};
}

} // namespace iio_stream::detail
