/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef INCLUDED_GR_IIO_STREAM_MESSAGES_H
#define INCLUDED_GR_IIO_STREAM_MESSAGES_H

#include <iio_stream/endpoint.hpp>
#include <iio_stream/stats.hpp>
#include <pmt/pmt.h>

#include <map>
#include <optional>
#include <string>

namespace gr {
namespace iio_stream {

// Convert structures of the library to dictionaries whose keys are the names of the members.
// Unknown values are PMT_NIL.
pmt::pmt_t gap_dict(const ::iio_stream::Gap& gap);
pmt::pmt_t stats_dict(const ::iio_stream::Stats& stats);
pmt::pmt_t tuning_dict(const ::iio_stream::Tuning& tuning);
pmt::pmt_t error_dict(const ::iio_stream::Error& error);
pmt::pmt_t end_dict(const ::iio_stream::Summary& summary);

//! The request in a command.
struct order {
    ::iio_stream::Options options;
    std::optional<size_t> chan; //!< the port to whose channels it applies; no value: all
};
// Parses a command: a dictionary or a pair of options and values, or a tuple, as in gr-uhd. "freq"
// means frequency, "tune" is a frequency with an offset, and "chan" is a port. Throws a usage
// Error.
order order_of(const pmt::pmt_t& command);

::iio_stream::Options options_of(const std::map<std::string, std::string>& words);

//! Returns a dictionary with one more entry.
pmt::pmt_t with(const pmt::pmt_t& dict, const char* key, const pmt::pmt_t& value);
//! Converts a number; PMT_NIL if it is unknown.
pmt::pmt_t known(uint64_t value);

} // namespace iio_stream
} // namespace gr

#endif
