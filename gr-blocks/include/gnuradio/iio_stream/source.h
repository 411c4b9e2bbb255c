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
 * \brief The samples of an endpoint, one output for each complex channel, with every loss tagged.
 * \ingroup iio_stream
 *
 * Tags: rx_time, rx_rate and rx_freq, like gr-uhd's, are on the first sample, on the first one
 * after each gap and on the first one after each retuning; unknown values are left out. The tag
 * overflow, a dictionary, marks places where samples are or may be missing (docs/gnuradio.md).
 *
 * Messages: stats (out) sends a dictionary every stats_interval. command (in) accepts a dictionary
 * or pair of options to set: frequency, gain, agc, rate, bandwidth, antenna or
 * attr.[DEVICE/][CHANNEL/]NAME.
 * async_msgs (out) sends the answers to commands, errors, losses and the end of the stream.
 */
class GR_IIO_STREAM_API source : virtual public gr::sync_block {
public:
    typedef std::shared_ptr<source> sptr;

    /*!
     * Opens and prepares the endpoint; throws the library's Error on failure.
     *
     * \param endpoint "sim:?rate=1M", "iio:cf-ad9361-lpc?frequency=2.4G", a recording's path …
     * \param type fc32 or sc16: an output for each pair of channels; f32 or s16: for each channel
     * \param vlen samples per item
     * \param on_gap "mark" (tags only), "stop" (the flowgraph ends before the gap) or "zero-fill"
     *               (zeros in place of samples that are certainly lost)
     * \param packet_len key of a tag on each piece of the stream without a gap; empty: none
     * \param buffer_size samples per block; 0: about 10 ms
     * \param buffers number of blocks; 0: enough for 250 ms
     * \param samples number of samples; 0: no limit
     * \param stats_interval seconds between messages to stats; 0: no messages
     */
    static sptr make(const std::string& endpoint = "sim:",
                     const std::string& type = "fc32",
                     size_t vlen = 1,
                     const std::string& on_gap = "mark",
                     const std::string& packet_len = "",
                     size_t buffer_size = 0,
                     size_t buffers = 0,
                     uint64_t samples = 0,
                     double stats_interval = 1.0);

    //! The stream's own format, such as "ci16_le".
    virtual std::string format() const = 0;
    //! Samples per second; 0: unknown.
    virtual double sample_rate() const = 0;
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
