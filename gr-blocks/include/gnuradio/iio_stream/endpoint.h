/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef INCLUDED_GR_IIO_STREAM_ENDPOINT_H
#define INCLUDED_GR_IIO_STREAM_ENDPOINT_H

#include <gnuradio/iio_stream/api.h>

#include <map>
#include <string>
#include <vector>

namespace gr {
namespace iio_stream {

/*!
 * \brief Converts gr-iio's parameters to an endpoint: "iio:DEVICE?uri=URI&channels=A,B".
 *
 * \param uri a libiio context, "local:", "ip:192.168.2.1" …; empty: "local:"
 * \param device name, label or id of the converter
 * \param channels names of its channels; empty: all
 */
GR_IIO_STREAM_API std::string endpoint_of(const std::string& uri,
                                          const std::string& device,
                                          const std::vector<std::string>& channels = {});

//! Returns an endpoint with additional options; throws the library's Error if one is already set.
GR_IIO_STREAM_API std::string with_options(const std::string& endpoint,
                                           const std::map<std::string, std::string>& options);

} // namespace iio_stream
} // namespace gr

#endif
