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
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace gr {
namespace iio_stream {

// The longest wait in work(). Only between calls does the scheduler handle messages and check
// whether it must end.
inline constexpr std::chrono::milliseconds patience{ 50 };

//! A retuning: its CLOCK_MONOTONIC time, in ns, and the new settings.
struct change {
    int64_t ns;
    ::iio_stream::Tuning tuning;
};

/*!
 * \brief The common parts of source and sink: the message ports stats, command and async_msgs,
 * tuning, and the summary of the last run.
 *
 * Thread: any for tune(), apply(), take_change() and summary(); the block's thread for the others.
 */
class control {
public:
    //! Registers the ports of the block.
    control(gr::basic_block& block, const std::string& endpoint, double stats_interval);

    //! Sets the names of each port's channels, separated by commas.
    void set_channels(std::vector<std::string> channels) { d_channels = std::move(channels); }
    //! Tunes the radio. Throws the library's Error.
    void tune(const std::map<std::string, std::string>& options);
    //! Executes a command that a program gives as a function call, and also logs its error.
    //! Returns false if it fails.
    bool apply(const pmt::pmt_t& command);
    bool apply(const char* option, double value)
    {
        return apply(pmt::cons(pmt::mp(option), pmt::from_double(value)));
    }
    bool apply(const std::map<std::string, std::string>& options);
    //! Returns the latest retuning since the previous call; no value if there was none.
    std::optional<change> take_change();

    //! Sends the pair of `what` and a dictionary to async_msgs.
    void say(const char* what, const pmt::pmt_t& dict);
    //! Logs the warnings of the route. Call it before the stream starts.
    void warn(const std::vector<::iio_stream::Hop>& route);
    //! Sends an error to async_msgs and to the log.
    void fail(const ::iio_stream::Error& error);

    bool is_device() const { return d_is_device; }
    //! Returns true once every interval, when the next statistics are due.
    bool due();
    void publish(const ::iio_stream::Stats& stats);
    // Calls `conclude`, and logs its exception: the scheduler calls a block's stop() from a
    // destructor. Returns false if `conclude` throws.
    bool stop(const std::function<void()>& conclude) noexcept;
    // Reports the end of the stream: its statistics, the error that ended it (`failed`, an error of
    // the block itself, if the summary has none), and `end` to async_msgs.
    void conclude(const ::iio_stream::Summary& summary,
                  const pmt::pmt_t& end,
                  const std::optional<::iio_stream::Error>& failed);
    //! The summary of the last run, as JSON.
    std::string summary() const;

private:
    using clock = std::chrono::steady_clock;

    ::iio_stream::Tuning set(const ::iio_stream::Options& options);
    // Executes a command and sends the answer to async_msgs. Returns the error; no value if the
    // command succeeds.
    std::optional<::iio_stream::Error> obey(const pmt::pmt_t& command);

    gr::basic_block& d_block;
    gr::logger d_logger;
    ::iio_stream::Uri d_endpoint;
    bool d_is_device;
    std::vector<std::string> d_channels;
    clock::duration d_interval;
    clock::time_point d_next;
    mutable std::mutex d_mutex; //!< guards the two members below
    std::optional<change> d_change;
    std::string d_summary;
};

// Checks a parameter whose value is one of several words. Throws a usage Error that suggests the
// nearest word.
void require_word(const char* name, const std::string& word, const std::vector<std::string>& known);
//! Throws a usage Error if an item, or a block of that many samples, is larger than possible.
void require_item(size_t vlen, size_t bytes);
size_t block_size(size_t samples, size_t sample_bytes);
//! The CLOCK_MONOTONIC time, in ns, as in the library.
int64_t monotonic_ns();

} // namespace iio_stream
} // namespace gr

#endif
