/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef INCLUDED_GR_IIO_STREAM_SINK_IMPL_H
#define INCLUDED_GR_IIO_STREAM_SINK_IMPL_H

#include "control.h"
#include "ports.h"
#include <gnuradio/iio_stream/sink.h>
#include <iio_stream/writer.hpp>

#include <optional>
#include <vector>

namespace gr {
namespace iio_stream {

//! The parameters of a sink.
struct sink_settings {
    std::string endpoint, type;
    size_t ports, vlen;
    std::string format;
    double sample_rate;
    std::string length_tag;
    size_t buffer_size, buffers;
    double stats_interval;
};

// Returns the format of a sink's stream: the requested format, the device's format, or the ports'
// format.
::iio_stream::Format sink_format(const sink_settings& settings, const port_type& type);

class sink_impl : public sink {
public:
    explicit sink_impl(const sink_settings& settings);

    bool start() override;
    bool stop() override { return d_control.stop([this] { conclude(); }); }
    int work(int noutput_items,
             gr_vector_const_void_star& input_items,
             gr_vector_void_star& output_items) override;

    std::string format() const override { return d_format; }
    void tune(const std::map<std::string, std::string>& options) override
    {
        d_control.tune(options);
    }
    bool set_frequency(double hertz) override { return d_control.apply("frequency", hertz); }
    bool set_sample_rate(double rate) override { return d_control.apply("rate", rate); }
    bool set_gain(double decibels) override { return d_control.apply("gain", decibels); }
    bool set_bandwidth(double hertz) override { return d_control.apply("bandwidth", hertz); }
    bool set_settings(const std::map<std::string, std::string>& options) override
    {
        return d_control.apply(options);
    }
    std::string summary() const override { return d_control.summary(); }

private:
    //! A block that is being filled.
    struct block {
        explicit block(::iio_stream::EmptyBlock taken)
            : empty(std::move(taken)), data(std::in_place, empty)
        {
        }
        ::iio_stream::EmptyBlock empty;
        std::optional<::iio_stream::CpuWrite> data;
        size_t bytes = 0;
    };

    void conclude();
    size_t consume(size_t items, gr_vector_const_void_star& in);
    bool fetch(bool wait);
    void put();
    void find_ends(size_t items);
    void end_burst();
    void tell_underflows();

    const sink_settings d_settings;
    const port_type& d_type;
    ::iio_stream::Writer d_writer;
    const std::string d_format;
    const ports d_ports;
    control d_control;

    std::vector<const std::byte*> d_places; //!< the next items of each port
    std::optional<block> d_block;
    std::vector<uint64_t> d_ends; //!< items after which a burst or packet ends
    uint64_t d_underflows = 0;    //!< number of underflows that were reported
    int64_t d_look_ns = 0;        //!< time of the next check for underflows
    bool d_burst_ended = false;   //!< whether a burst has ended since the last report
    bool d_running = false;
    bool d_over = false;
    std::optional<::iio_stream::Error> d_failed; //!< caught in work()
};

} // namespace iio_stream
} // namespace gr

#endif
