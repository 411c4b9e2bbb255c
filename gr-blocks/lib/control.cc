/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "control.h"

#include "messages.h"
#include <iio_stream/units.hpp>

#include <algorithm>
#include <climits>
#include <time.h>

namespace gr {
namespace iio_stream {

namespace ios = ::iio_stream;

control::control(gr::basic_block& block, const std::string& endpoint, double stats_interval)
    : d_block(block),
      d_logger(block.alias()),
      d_endpoint(endpoint),
      d_is_device(d_endpoint.scheme == "iio"),
      d_interval(std::chrono::duration_cast<clock::duration>(
          std::chrono::duration<double>(stats_interval))),
      d_next(clock::now() + d_interval)
{
    if (!(stats_interval >= 0 && stats_interval <= 1e6))
        ios::fail_usage("stats_interval=" + std::to_string(stats_interval) +
                        ": seconds, 0 for no statistics");
    block.message_port_register_out(pmt::mp("stats"));
    block.message_port_register_out(pmt::mp("async_msgs"));
    block.message_port_register_in(pmt::mp("command"));
    block.set_msg_handler(pmt::mp("command"), [this](const pmt::pmt_t& command) { (void)obey(command); });
}

void control::tune(const std::map<std::string, std::string>& options)
{
    (void)set(options_of(options));
}

ios::Tuning control::set(const ios::Options& options)
{
    ios::Tuning tuning = ios::tune(d_endpoint, options);
    const std::lock_guard lock(d_mutex);
    d_change = change{ monotonic_ns(), tuning };
    return tuning;
}

bool control::apply(const pmt::pmt_t& command)
{
    const auto error = obey(command);
    if (error)
        d_logger.d_logger->error("{}", error->what());
    return !error;
}

bool control::apply(const std::map<std::string, std::string>& options)
{
    if (options.empty())
        return true;
    pmt::pmt_t command = pmt::make_dict();
    for (const auto& [key, value] : options)
        command = with(command, key.c_str(), pmt::mp(value));
    return apply(command);
}

std::optional<ios::Error> control::obey(const pmt::pmt_t& command)
{
    std::optional<ios::Error> failed;
    pmt::pmt_t answer = with(pmt::make_dict(), "command", command);
    try {
        order wanted = order_of(command);
        if (wanted.chan && *wanted.chan >= d_channels.size())
            ios::fail_usage("chan=" + std::to_string(*wanted.chan) + ": the block has " +
                                std::to_string(d_channels.size()) + " ports",
                            "0 is the first port, -1 means all");
        if (wanted.chan)
            wanted.options.set("channels", d_channels[*wanted.chan]);
        const ios::Tuning tuning = set(wanted.options);
        answer = with(answer, "error", pmt::PMT_NIL);
        answer = with(answer, "tuning", tuning_dict(tuning));
    } catch (const ios::Error& error) {
        failed = error;
        answer = with(answer, "error", error_dict(error));
    }
    say("answer", answer);
    return failed;
}

std::optional<change> control::take_change()
{
    const std::lock_guard lock(d_mutex);
    return std::exchange(d_change, std::nullopt);
}

void control::say(const char* what, const pmt::pmt_t& dict)
{
    d_block.message_port_pub(pmt::mp("async_msgs"), pmt::cons(pmt::mp(what), dict));
}

void control::warn(const std::vector<ios::Hop>& route)
{
    for (const ios::Hop& hop : route)
        if (!hop.warning.empty())
            d_logger.d_logger->warn("{}", hop.warning);
}

void control::fail(const ios::Error& error)
{
    // Calls spdlog directly: gr::logger takes text in GNU Radio 3.10.5 and a constant format in
    // 3.10.12.
    d_logger.d_logger->error("{}", error.what());
    say("error", error_dict(error));
}

bool control::due()
{
    const clock::time_point now = clock::now();
    if (d_interval == clock::duration::zero() || now < d_next)
        return false;
    d_next = std::max(d_next + d_interval, now); // missed messages are not sent later
    return true;
}

void control::publish(const ios::Stats& stats)
{
    d_block.message_port_pub(pmt::mp("stats"), stats_dict(stats));
}

bool control::stop(const std::function<void()>& conclude) noexcept
try {
    conclude();
    return true;
} catch (const std::exception& error) {
    d_logger.d_logger->error("{}", error.what());
    return false;
}

// Reports the summary's error if it has one, because the error that work() has caught may state
// only that the stream has ended.
void control::conclude(const ios::Summary& summary,
                       const pmt::pmt_t& end,
                       const std::optional<ios::Error>& failed)
{
    {
        const std::lock_guard lock(d_mutex);
        d_summary = to_json(summary);
    }
    publish(summary.stats);
    if (const auto& error = summary.error ? summary.error : failed)
        fail(*error);
    say("ended", end);
}

std::string control::summary() const
{
    const std::lock_guard lock(d_mutex);
    return d_summary;
}

void require_word(const char* name, const std::string& word, const std::vector<std::string>& known)
{
    if (std::find(known.begin(), known.end(), word) == known.end())
        ios::fail_usage(std::string(name) + "=" + word + " is not valid",
                        ios::suggest(word, known));
}

void require_item(size_t vlen, size_t bytes)
{
    if (vlen == 0)
        ios::fail_usage("vlen=0: an item has at least one sample");
    if (vlen > INT_MAX / bytes)
        ios::fail_usage("vlen=" + std::to_string(vlen) + ": an item has less than 2 GiB");
}

size_t block_size(size_t samples, size_t sample_bytes)
{
    if (samples > SIZE_MAX / sample_bytes)
        ios::fail_usage("buffer_size=" + std::to_string(samples) + " exceeds the address space");
    return samples * sample_bytes;
}

int64_t monotonic_ns()
{
    timespec now;
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1'000'000'000) + now.tv_nsec;
}

} // namespace iio_stream
} // namespace gr
