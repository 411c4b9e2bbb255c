/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef INCLUDED_GR_IIO_STREAM_SINK_H
#define INCLUDED_GR_IIO_STREAM_SINK_H

#include <gnuradio/iio_stream/api.h>
#include <gnuradio/sync_block.h>

#include <map>
#include <memory>
#include <string>

namespace gr {
namespace iio_stream {

/*!
 * \brief Sends samples to an endpoint, one input for each complex channel.
 * \ingroup iio_stream
 *
 * Samples are sent in blocks. A partly filled block is sent at once after a sample with the tag
 * tx_eob, and after the last sample of a packet (length_tag).
 *
 * Messages: stats (out), command (in) and async_msgs (out), as for the source; async_msgs also
 * reports underflows.
 */
class GR_IIO_STREAM_API sink : virtual public gr::sync_block {
public:
    typedef std::shared_ptr<sink> sptr;

    /*!
     * Opens and prepares the endpoint; throws the library's Error on failure.
     *
     * \param endpoint "null:", "iio:cf-ad9361-dds-core-lpc?frequency=2.4G", a path for a recording …
     * \param type fc32 or sc16: an input for each pair of channels; f32 or s16: for each channel
     * \param ports number of inputs
     * \param vlen samples per item
     * \param format format of the stream; empty: the device's, or without a device the inputs'
     * \param sample_rate samples per second; 0: unknown
     * \param length_tag key of a tag with the number of items in a packet; empty: none
     * \param buffer_size samples per block; 0: about 10 ms
     * \param buffers number of blocks; 0: enough for 250 ms
     * \param stats_interval seconds between messages to stats; 0: no messages
     */
    static sptr make(const std::string& endpoint = "null:",
                     const std::string& type = "fc32",
                     size_t ports = 1,
                     size_t vlen = 1,
                     const std::string& format = "",
                     double sample_rate = 0,
                     const std::string& length_tag = "",
                     size_t buffer_size = 0,
                     size_t buffers = 0,
                     double stats_interval = 1.0);

    //! The stream's own format, such as "ci16_le".
    virtual std::string format() const = 0;
    //! Tunes a radio, running or not, like the port command; throws the library's Error.
    virtual void tune(const std::map<std::string, std::string>& options) = 0;

    /*!
     * \name Setters for callbacks, such as those of a slider
     * Each tunes the radio, running or not. On failure (the endpoint is not a radio, the value is
     * out of range, the device does not answer) it logs the error and returns false, and the
     * flowgraph continues; it does not throw. The answer on async_msgs is that of a command, with
     * the error or the values that the radio reads back. Thread: any.
     */
    //!@{
    //! Sets the centre frequency, in Hz.
    virtual bool set_frequency(double hertz) = 0;
    //! Sets the sample rate, in samples per second.
    virtual bool set_sample_rate(double rate) = 0;
    //! Sets the gain, in dB, and switches automatic gain control off.
    virtual bool set_gain(double decibels) = 0;
    //! Sets the bandwidth of the analogue filter, in Hz.
    virtual bool set_bandwidth(double hertz) = 0;
    //! Sets options of tune(). Nothing is set, and nothing fails, if there are none.
    virtual bool set_settings(const std::map<std::string, std::string>& options) = 0;
    //!@}

    //! The summary of the last run, as printed by the command's --json; empty before its end.
    virtual std::string summary() const = 0;
};

} // namespace iio_stream
} // namespace gr

#endif
