/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef INCLUDED_GR_IIO_STREAM_SOURCE_IMPL_H
#define INCLUDED_GR_IIO_STREAM_SOURCE_IMPL_H

#include "control.h"
#include "ports.h"
#include <gnuradio/iio_stream/source.h>
#include <iio_stream/reader.hpp>

#include <atomic>
#include <optional>
#include <vector>

namespace gr {
namespace iio_stream {

//! The parameters of a source.
struct source_settings {
    std::string endpoint, type;
    size_t vlen;
    std::string on_gap, packet_len;
    size_t buffer_size, buffers;
    uint64_t samples;
    double stats_interval;
};

/*!
 * The source block. d_next counts the samples that were delivered since the stream's start, like
 * the Reader. GNU Radio counts items; the current item is nitems_written(0) + d_made.
 */
class source_impl : public source {
public:
    explicit source_impl(const source_settings& settings);

    bool start() override;
    bool stop() override { return d_control.stop([this] { conclude(); }); }
    int work(int noutput_items,
             gr_vector_const_void_star& input_items,
             gr_vector_void_star& output_items) override;

    std::string format() const override { return d_format; }
    double sample_rate() const override { return d_rate; }
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
    //! The block whose samples are being written to the outputs.
    struct block {
        explicit block(::iio_stream::Block given) : filled(std::move(given)), data(filled) {}
        ::iio_stream::Block filled;
        ::iio_stream::CpuRead data;
        uint64_t end = 0; //!< d_next after its last sample
    };
    //! Something to report, or do, before sample `at`.
    struct event {
        enum class kind { gap_begins, gap_ends, tuned } what;
        uint64_t at;
        ::iio_stream::Gap gap{};
        uint64_t before = 0; //!< samples from the gap's start to `at`, if they were already written
        uint64_t span = 0;   //!< samples from `at` to the gap's end
    };

    void conclude();
    void produce(uint64_t wanted, gr_vector_void_star& out);
    bool fetch(bool wait);
    void expect_gaps();
    void expect_change();
    void expect(event expected);
    void handle_event();
    size_t write(gr_vector_void_star& out, size_t room);
    size_t write_items(gr_vector_void_star& out, size_t room, uint64_t samples);
    void copy_to_places(uint64_t samples) const;
    void advance(uint64_t samples);
    uint64_t until_gap() const;

    uint64_t item() { return nitems_written(0) + d_made; }
    void tag(const pmt::pmt_t& key, const pmt::pmt_t& value);
    void tag_origin();
    void tag_packet();
    std::optional<pmt::pmt_t> time_of_next() const;

    const source_settings d_settings;
    const port_type& d_type;
    ::iio_stream::Reader d_reader;
    const std::string d_format; //!< the format for which the ports were made
    const ports d_ports;
    control d_control;
    const pmt::pmt_t d_id;

    ::iio_stream::Tuning d_tuning,
        d_tuned;                //!< settings of the next sample, and after the next retuning
    std::atomic<double> d_rate; //!< samples per second; 0: unknown
    int64_t d_to_utc_ns = 0;    //!< offset from CLOCK_MONOTONIC to UTC
    std::optional<block> d_block;
    std::vector<event> d_events;    //!< sorted by place
    std::optional<change> d_change; //!< a retuning that takes effect after the last block
    uint64_t d_next = 0;            //!< position of the next sample
    uint64_t d_zeros = 0;           //!< zeros still to be written in place of lost samples
    uint64_t d_made = 0;            //!< items made by this call of work()
    size_t d_part = 0;              //!< samples in the incomplete item
    std::vector<std::vector<std::byte>> d_begun; //!< the incomplete item, for each port
    std::vector<std::byte*> d_places; //!< where the next samples go, for each port
    bool d_untold = true;   //!< rx_time and the like are due on the next sample
    bool d_unpacked = true; //!< a packet begins with the next sample
    bool d_running = false;
    bool d_over = false;
    std::optional<::iio_stream::Error> d_failed; //!< caught in work()
    const char* d_ended = nullptr;               //!< the reason if this block ended the stream
};

} // namespace iio_stream
} // namespace gr

#endif
