// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace iio_stream::serve {

enum class Verb {
    nothing, ///< an empty line
    help,
    exit,
    version,
    print,
    zprint,
    timeout,
    open,
    close,
    read,
    write,
    readbuf,
    writebuf,
    gettrig,
    settrig,
    set_buffers
};

/// The owner of an attribute.
enum class Owner { device, input, output, buffer, debug };

/// A line of the text protocol that iiod of libiio 0.x uses.
struct Request {
    Verb verb = Verb::nothing;
    std::string device; ///< id, name or label
    Owner owner = Owner::device;
    std::string channel;   ///< name or id, if the owner is an input or output
    std::string attribute; ///< empty: all attributes of the owner
    std::string mask;    ///< OPEN: the channels, as hexadecimal words of 32 bits, the highest first
    std::string trigger; ///< SETTRIG; empty: none
    std::uint64_t number = 0; ///< milliseconds, samples, bytes or buffers
    bool cyclic = false;
};

/// Returns nullopt if the line is not a valid command.
std::optional<Request> parse_request(std::string_view line);

} // namespace iio_stream::serve
