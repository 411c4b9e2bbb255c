/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "messages.h"

#include <iio_stream/error.hpp>

#include <cstdio>

namespace gr {
namespace iio_stream {

namespace ios = ::iio_stream;

namespace {

pmt::pmt_t known(const std::optional<double>& value)
{
    return value ? pmt::from_double(*value) : pmt::PMT_NIL;
}

std::string text_of(const pmt::pmt_t& value)
{
    if (pmt::is_symbol(value))
        return pmt::symbol_to_string(value);
    if (pmt::is_bool(value))
        return pmt::to_bool(value) ? "on" : "off";
    if (pmt::is_integer(value) || pmt::is_uint64(value))
        return pmt::write_string(value);
    if (pmt::is_number(value) && !pmt::is_complex(value)) {
        char text[32];
        std::snprintf(text, sizeof text, "%.17g", pmt::to_double(value));
        return text;
    }
    ios::fail_usage("the value " + pmt::write_string(value) + " is not a number or text",
                    pmt::is_vector(value) || pmt::is_uniform_vector(value)
                        ? "one command for each channel, with chan"
                        : "");
}

// Handles the other keys of gr-uhd's commands. Returns true if there is nothing to set.
bool is_understood(const std::string& word, const pmt::pmt_t& value)
{
    const bool none = pmt::is_null(value);
    if (word == "mboard" || word == "chan") // order_of() handles chan
        return true;
    if (word == "lo_offset") {
        if (none ||
            (pmt::is_real(value) || pmt::is_integer(value) ? pmt::to_double(value) == 0 : false))
            return true;
        ios::fail_usage("lo_offset=" + pmt::write_string(value) + " is not possible",
                        "there is no digital mixer to compensate for it");
    }
    if (word == "time") {
        if (none)
            return true;
        ios::fail_usage("a command is executed at once, not at a given time", "leave out time");
    }
    return false;
}

void add(ios::Options& options, const pmt::pmt_t& key, const pmt::pmt_t& value)
{
    if (!pmt::is_symbol(key))
        ios::fail_usage("the option " + pmt::write_string(key) + " is not text");
    const std::string word = pmt::symbol_to_string(key);
    if (word == "tune" && pmt::is_tuple(value) &&
        pmt::length(value) == 2) { // as in gr-uhd, with an offset
        (void)is_understood("lo_offset", pmt::tuple_ref(value, 1));
        options.set("frequency", text_of(pmt::tuple_ref(value, 0)));
        return;
    }
    if (is_understood(word, value))
        return;
    options.set(word == "freq" ? "frequency" : word, text_of(value));
}

} // namespace

pmt::pmt_t with(const pmt::pmt_t& dict, const char* key, const pmt::pmt_t& value)
{
    return pmt::dict_add(dict, pmt::mp(key), value);
}

pmt::pmt_t known(uint64_t value)
{
    return value == ios::kUnknown ? pmt::PMT_NIL : pmt::from_uint64(value);
}

pmt::pmt_t gap_dict(const ios::Gap& gap)
{
    pmt::pmt_t dict = pmt::make_dict();
    dict = with(dict, "lost_min", known(gap.lost_min));
    dict = with(dict, "lost_max", known(gap.lost_max));
    return with(dict, "evidence", pmt::mp(ios::name_of(gap.evidence)));
}

pmt::pmt_t stats_dict(const ios::Stats& stats)
{
    pmt::pmt_t dict = pmt::make_dict();
    dict = with(dict, "samples", pmt::from_uint64(stats.samples));
    dict = with(dict, "bytes", pmt::from_uint64(stats.bytes));
    dict = with(dict, "blocks", pmt::from_uint64(stats.blocks));
    dict = with(dict, "seconds", pmt::from_double(stats.seconds));
    dict = with(dict, "certain", pmt::from_uint64(stats.gaps.certain));
    dict = with(dict, "possible", pmt::from_uint64(stats.gaps.possible));
    dict = with(dict, "lost_min", known(stats.gaps.lost_min));
    dict = with(dict, "lost_max", known(stats.gaps.lost_max));
    for (const ios::SinkStats& sink : stats.sinks)
        if (sink.playback)
            dict = with(dict, "underflows", pmt::from_uint64(sink.playback->underflows));
    return dict;
}

pmt::pmt_t tuning_dict(const ios::Tuning& tuning)
{
    pmt::pmt_t dict = pmt::make_dict();
    dict = with(dict, "frequency", known(tuning.frequency));
    dict = with(dict, "gain", known(tuning.gain));
    dict = with(dict, "bandwidth", known(tuning.bandwidth));
    dict = with(dict, "rate", known(tuning.rate));
    dict = with(dict, "antenna", pmt::mp(tuning.antenna));
    return with(dict, "agc", pmt::mp(tuning.agc));
}

pmt::pmt_t error_dict(const ios::Error& error)
{
    pmt::pmt_t dict = pmt::make_dict();
    dict = with(dict, "operation", pmt::mp(error.operation()));
    dict = with(dict, "object", pmt::mp(error.object()));
    dict = with(dict, "errno", pmt::from_long(error.code().value()));
    dict = with(dict, "name", pmt::mp(ios::errno_name(error.code().value())));
    dict = with(dict, "message", pmt::mp(error.what()));
    return with(dict, "hint", pmt::mp(error.hint()));
}

pmt::pmt_t end_dict(const ios::Summary& summary)
{
    pmt::pmt_t dict = with(stats_dict(summary.stats), "ended", pmt::mp(summary.ended));
    return with(dict, "error", summary.error ? error_dict(*summary.error) : pmt::PMT_NIL);
}

ios::Options options_of(const std::map<std::string, std::string>& words)
{
    ios::Options options;
    for (const auto& [key, value] : words)
        options.set(key, value);
    return options;
}

// As in gr-uhd, -1 or no value means all channels.
std::optional<size_t> chan_of(const pmt::pmt_t& value)
{
    if (pmt::is_null(value))
        return std::nullopt;
    if (!pmt::is_integer(value) || pmt::to_long(value) < -1)
        ios::fail_usage("chan=" + pmt::write_string(value) + " is not a valid channel number",
                        "-1 means all channels");
    const long chan = pmt::to_long(value);
    return chan < 0 ? std::nullopt : std::optional<size_t>(chan);
}

order order_of(const pmt::pmt_t& command)
{
    order found;
    if (pmt::is_tuple(command) && (pmt::length(command) == 2 || pmt::length(command) == 3)) {
        add(found.options, pmt::tuple_ref(command, 0), pmt::tuple_ref(command, 1));
        if (pmt::length(command) == 3)
            found.chan = chan_of(pmt::tuple_ref(command, 2));
    } else if (pmt::is_dict(command)) {
        pmt::pmt_t items = pmt::dict_items(command);
        for (; pmt::is_pair(items); items = pmt::cdr(items)) {
            add(found.options, pmt::caar(items), pmt::cdar(items));
            if (pmt::eqv(pmt::caar(items), pmt::mp("chan")))
                found.chan = chan_of(pmt::cdar(items));
        }
    } else if (pmt::is_pair(command)) {
        add(found.options, pmt::car(command), pmt::cdr(command));
    } else {
        ios::fail_usage("the command " + pmt::write_string(command) +
                        " is not a dictionary or pair");
    }
    if (found.options.values().empty())
        ios::fail_usage("the command is empty", "a dictionary of options and values");
    return found;
}

} // namespace iio_stream
} // namespace gr
