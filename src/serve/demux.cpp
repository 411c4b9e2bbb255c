// SPDX-License-Identifier: MIT
#include "serve/demux.hpp"

#include "iio_stream/error.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace iio_stream::serve {

Demux::Demux(const Format& from, const Format& to)
    : from_bytes_(from.sample_bytes),
      to_bytes_(to.sample_bytes),
      trivial_(from.sample_bytes == to.sample_bytes && from.channels.size() == to.channels.size())
{
    for (const Channel& channel : to.channels) {
        const auto at = std::find_if(from.channels.begin(), from.channels.end(),
                                     [&](const Channel& other) { return other.id == channel.id; });
        if (at == from.channels.end())
            throw Error(Fault::device, EINVAL, "find the channel", channel.id);
        pieces_.push_back({at->offset, channel.offset, channel.type.bytes()});
    }
}

void Demux::copy(std::span<const std::byte> in, std::span<std::byte> out) const noexcept
{
    const std::byte* sample = in.data();
    std::byte* target = out.data();
    for (std::size_t i = in.size() / from_bytes_; i > 0; --i) {
        for (const Piece& piece : pieces_)
            std::memcpy(target + piece.to, sample + piece.from, piece.bytes);
        sample += from_bytes_;
        target += to_bytes_;
    }
}

} // namespace iio_stream::serve
