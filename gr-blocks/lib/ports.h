/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef INCLUDED_GR_IIO_STREAM_PORTS_H
#define INCLUDED_GR_IIO_STREAM_PORTS_H

#include <iio_stream/format.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace gr {
namespace iio_stream {

//! What one sample is on a port: the type's name in GNU Radio, and in the library.
struct port_type {
    const char* name;
    const char* format;
    bool complex;
    size_t bytes;

    size_t channels() const { return complex ? 2 : 1; }
    //! Throws a usage Error for a name that is not known.
    static const port_type& of(const std::string& name);
};

/*!
 * \brief A stream's samples as items of ports, converted on the way from one memory to the other.
 *
 * Each port is one channel, or a pair; counters are no port's. Thread: any; it has no state.
 */
class ports
{
public:
    enum class direction { out_of_blocks, into_blocks };

    //! Throws a usage Error if the channels do not make up ports of that type.
    ports(const ::iio_stream::Format& stream, const port_type& type, direction way);

    size_t count() const { return d_converters.size(); }
    size_t sample_bytes() const { return d_sample_bytes; }
    //! Names of each port's channels, with commas between them.
    const std::vector<std::string>& channels() const { return d_channels; }

    //! From a block's samples to the items of one port.
    void take(size_t port, const std::byte* block, void* items, size_t samples) const;
    //! From the items of one port into a block.
    void put(size_t port, const void* items, std::byte* block, size_t samples) const;

private:
    size_t d_item_bytes, d_sample_bytes;
    bool d_plain = false; //!< nothing but whole 16-bit numbers, to become floats of one port
    std::vector<::iio_stream::Converter> d_converters;
    std::vector<std::string> d_channels;
};

} // namespace iio_stream
} // namespace gr

#endif
