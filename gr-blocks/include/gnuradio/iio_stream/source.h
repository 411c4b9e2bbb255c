/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef INCLUDED_GR_IIO_STREAM_SOURCE_H
#define INCLUDED_GR_IIO_STREAM_SOURCE_H

#include <gnuradio/iio_stream/api.h>
#include <gnuradio/sync_block.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>

namespace gr {
namespace iio_stream {

/*!
 * \brief The samples of an endpoint, one output for each complex channel, and what is known of losses.
 * \ingroup iio_stream
 *
 * Tags: rx_time, rx_rate and rx_freq, as gr-uhd's, on the first sample, on the first one behind each
 * gap and on the first one after a change of the tuning; what is not known is left out. overflow, a
 * dictionary, where samples are or may be missing (docs/gnuradio.md).
 *
 * Messages: stats (out) a dictionary every stats_interval; command (in) a dictionary or pair of
 * options to set, frequency, gain, agc, rate, bandwidth, antenna or attr.[DEVICE/][CHANNEL/]NAME;
 * async_msgs (out) its answers, errors, losses and the stream's end.
 */
class GR_IIO_STREAM_API source : virtual public gr::sync_block
{
public:
    typedef std::shared_ptr<source> sptr;

    /*!
     * Opens and prepares the endpoint; throws the library's Error where that fails.
     *
     * \param endpoint "sim:?rate=1M", "iio:cf-ad9361-lpc?frequency=2.4G", a recording's path …
     * \param type of the outputs: fc32 or sc16 for each pair of channels, f32 or s16 for each channel
     * \param vlen samples per item
     * \param on_gap "tag", "stop" (the flowgraph ends before it) or "zero" (zeros for what is known
     *               to be missing)
     * \param packet_len key of a tag on each piece of the stream that has no gap; empty: none
     * \param buffer_size samples per block; 0: about 10 ms
     * \param buffers how many blocks; 0: 250 ms of them
     * \param samples how many are wanted; 0: without end
     * \param stats_interval seconds; 0: never
     */
    static sptr make(const std::string& endpoint = "sim:",
                     const std::string& type = "fc32",
                     size_t vlen = 1,
                     const std::string& on_gap = "tag",
                     const std::string& packet_len = "",
                     size_t buffer_size = 0,
                     size_t buffers = 0,
                     uint64_t samples = 0,
                     double stats_interval = 1.0);

    //! The stream's own format, such as "ci16_le".
    virtual std::string format() const = 0;
    //! Samples per second; 0: unknown.
    virtual double sample_rate() const = 0;
    //! Sets a radio while it runs, or not, as the port command does; throws the library's Error.
    virtual void tune(const std::map<std::string, std::string>& options) = 0;
    //! All that is known of the last run, as the command's --json; empty before its end.
    virtual std::string summary() const = 0;
};

} // namespace iio_stream
} // namespace gr

#endif
