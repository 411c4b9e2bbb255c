/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef INCLUDED_GR_IIO_STREAM_PORTS_H
#define INCLUDED_GR_IIO_STREAM_PORTS_H

#include <iio_stream/format.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace gr {
namespace iio_stream {

//! The type of one sample on a port: its names in GNU Radio and in the library.
struct port_type {
    const char* name;
    const char* format;
    bool complex;
    size_t bytes;

    size_t channels() const { return complex ? 2 : 1; }
    //! Returns the type with this name. Throws a usage Error for an unknown name.
    static const port_type& of(const std::string& name);
};

/*!
 * \brief Converts between the samples of a stream and the items of ports.
 *
 * Each port has one channel or an I/Q pair; counters do not belong to any port. Thread: any; it is
 * immutable.
 */
class ports {
public:
    enum class direction { out_of_blocks, into_blocks };

    //! Throws a usage Error if the channels cannot form ports of that type.
    ports(const ::iio_stream::Format& stream, const port_type& type, direction way);

    size_t count() const { return d_channels.size(); }
    size_t sample_bytes() const { return d_sample_bytes; }
    //! The names of each port's channels, separated by commas.
    const std::vector<std::string>& channels() const { return d_channels; }

    //! Converts samples of a block to items of all ports; each has an element of \p items.
    void take(const std::byte* block, std::span<std::byte* const> items, size_t samples) const;
    //! Converts items of all ports to samples of a block.
    void put(std::span<const std::byte* const> items, std::byte* block, size_t samples) const;

private:
    std::vector<std::string> d_channels;
    ::iio_stream::Converter d_converter; //!< of all channels
    size_t d_sample_bytes;
    bool d_plain; //!< only full 16-bit integers, converted to floats of one port
};

} // namespace iio_stream
} // namespace gr

#endif
