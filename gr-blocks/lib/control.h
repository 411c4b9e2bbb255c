/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef INCLUDED_GR_IIO_STREAM_CONTROL_H
#define INCLUDED_GR_IIO_STREAM_CONTROL_H

#include <gnuradio/basic_block.h>
#include <gnuradio/logger.h>
#include <iio_stream/endpoint.hpp>
#include <iio_stream/stats.hpp>
#include <pmt/pmt.h>

#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

namespace gr {
namespace iio_stream {

//! The longest wait in work(): after it the scheduler looks for messages, and for its own end.
inline constexpr std::chrono::milliseconds patience{ 50 };

//! How a radio has been set anew, and when: CLOCK_MONOTONIC.
struct change {
    int64_t ns;
    ::iio_stream::Tuning tuning;
};

/*!
 * \brief The message ports of a source or sink: stats, command and async_msgs.
 *
 * Thread: tune() and take_change() any, the others the block's.
 */
class control
{
public:
    //! The block registers the ports and hands command's messages to obey().
    control(gr::basic_block& block, std::string endpoint, double stats_interval);

    //! Throws the library's Error.
    ::iio_stream::Tuning tune(const ::iio_stream::Options& options);
    //! A message to the port command: done or refused, async_msgs has the answer.
    void obey(const pmt::pmt_t& command);
    //! The last change since the last call.
    std::optional<change> take_change();

    //! A pair, what and a dictionary, to async_msgs.
    void say(const char* what, const pmt::pmt_t& dict);
    //! To async_msgs and to the log.
    void fail(const ::iio_stream::Error& error);

    bool is_device() const { return d_is_device; }
    //! Whether the next statistics are due: once every interval.
    bool due();
    void publish(const ::iio_stream::Stats& stats);

private:
    using clock = std::chrono::steady_clock;

    gr::basic_block& d_block;
    gr::logger d_logger;
    std::string d_endpoint;
    bool d_is_device;
    clock::duration d_interval;
    clock::time_point d_next;
    std::mutex d_mutex;
    std::optional<change> d_change;
};

//! Where a block's configuration is one of several words: throws a usage Error that names the nearest.
void require_word(const char* name,
                  const std::string& word,
                  const std::vector<std::string>& known);
//! CLOCK_MONOTONIC, which the library's times are of.
int64_t monotonic_ns();

} // namespace iio_stream
} // namespace gr

#endif
