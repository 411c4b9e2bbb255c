// SPDX-License-Identifier: MIT
#pragma once

#include "file/sigmf/datatype.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace iio_stream::file {

/// The problems of SigMF metadata, according to version 1.2.5 of the specification and to the
/// meaning of our own keys. A reader continues with `repaired` unless there is an obstacle. A
/// verification fails if there is any problem.
struct Inspection {
    std::vector<std::string> problems; ///< each names the key and its value; 100 at most
    std::vector<std::string> warnings; ///< for a reader: one line for each kind of problem
    std::string obstacle; ///< why the metadata do not suffice to read the samples; "" if they do
    /// The metadata without the problems: every remaining value has the type that its key requires,
    /// and captures and annotations are sorted. contents_of() reads them.
    Json repaired;
};
Inspection inspect(const Json& metadata);
/// Like the function above, but also finds problems of the text that a tolerant parser accepts: a
/// byte order mark, or a duplicate name in an object (RFC 8259).
Inspection inspect(const Json& metadata, std::string_view text);

/// Why `metadata` must not be put into an archive; "" if they may be. `found` is the result of
/// inspect() for them.
/// The metadata of a recording of iio-stream have no problems unless they are damaged. The metadata
/// of another program only have to be readable.
std::string why_not_archived(const Json& metadata, const Inspection& found);

} // namespace iio_stream::file
