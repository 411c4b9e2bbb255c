/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef INCLUDED_GR_IIO_STREAM_CONTROL_H
#define INCLUDED_GR_IIO_STREAM_CONTROL_H

#include <gnuradio/basic_block.h>
#include <gnuradio/logger.h>
#include <iio_stream/endpoint.hpp>
#include <iio_stream/error.hpp>
#include <iio_stream/stats.hpp>
#include <pmt/pmt.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace gr {
namespace iio_stream {

//! The longest wait in work(): after it the scheduler looks for messages, and for its own end.
inline constexpr std::chrono::milliseconds patience{ 50 };

//! How a radio was retuned, and when: CLOCK_MONOTONIC.
struct change {
    int64_t ns;
    ::iio_stream::Tuning tuning;
};

/*!
 * \brief What source and sink have in common: their message ports stats, command and async_msgs,
 * tuning, and the account of the last run.
 *
 * Thread: tune(), take_change() and summary() any, the others the block's.
 */
class control
{
public:
    //! Registers the ports of the block.
    control(gr::basic_block& block, const std::string& endpoint, double stats_interval);

    //! The channels of each port, by their names, with commas between them.
    void set_channels(std::vector<std::string> channels) { d_channels = std::move(channels); }
    //! Throws the library's Error.
    void tune(const std::map<std::string, std::string>& options);
    //! The last change since the last call.
    std::optional<change> take_change();

    //! A pair, what and a dictionary, to async_msgs.
    void say(const char* what, const pmt::pmt_t& dict);
    //! Logs the dangers of the route's mechanisms. Call it before the stream starts.
    void warn(const std::vector<::iio_stream::Hop>& route);
    //! What keeps a stream from beginning, to async_msgs and to the log.
    void fail(const ::iio_stream::Error& error);

    bool is_device() const { return d_is_device; }
    //! Whether the next statistics are due: once every interval.
    bool due();
    void publish(const ::iio_stream::Stats& stats);
    //! At the stream's end: its statistics, what ended it (else `failed`, of the block's own) and `end`
    //! to async_msgs.
    void conclude(const ::iio_stream::Summary& summary,
                  const pmt::pmt_t& end,
                  const std::optional<::iio_stream::Error>& failed);
    //! Of the last run, as JSON.
    std::string summary() const;

private:
    using clock = std::chrono::steady_clock;

    ::iio_stream::Tuning set(const ::iio_stream::Options& options);
    //! A message to the port command: done or refused, async_msgs has the answer.
    void obey(const pmt::pmt_t& command);

    gr::basic_block& d_block;
    gr::logger d_logger;
    ::iio_stream::Uri d_endpoint;
    bool d_is_device;
    std::vector<std::string> d_channels;
    clock::duration d_interval;
    clock::time_point d_next;
    mutable std::mutex d_mutex; //!< guards the two below
    std::optional<change> d_change;
    std::string d_summary;
};

//! For a block's parameter that is one of several words: throws a usage Error that names the nearest.
void require_word(const char* name,
                  const std::string& word,
                  const std::vector<std::string>& known);
//! Throws a usage Error if an item, or a block of that many samples, is larger than possible.
void require_item(size_t vlen, size_t bytes);
size_t block_size(size_t samples, size_t sample_bytes);
//! CLOCK_MONOTONIC, which the library's times are of.
int64_t monotonic_ns();

} // namespace iio_stream
} // namespace gr

#endif
