// SPDX-License-Identifier: MIT
#pragma once

#include "file/sigmf/datatype.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace iio_stream::file {

/// What is wrong with SigMF metadata by version 1.2.5 of the specification, and by the meaning of
/// our own keys. A reader goes on with `repaired` unless there is an obstacle; a verification fails
/// on every problem.
struct Inspection {
    std::vector<std::string> problems; ///< each names the key and its value; 100 at most
    std::vector<std::string> warnings; ///< the same for a reader: one line for each kind of problem
    std::string obstacle; ///< why the metadata do not say how to read the samples; "": they do
    /// The metadata without what is wrong: every value that is left has the type that its key
    /// requires, and captures and annotations are sorted. contents_of() reads them.
    Json repaired;
};
Inspection inspect(const Json& metadata);
/// The same, with what is wrong with the text that they were parsed from, although a tolerant
/// parser reads it: RFC 8259 has no byte order mark, and no name twice in an object.
Inspection inspect(const Json& metadata, std::string_view text);

/// Why an archive does not take metadata in which inspect() has found this; "" if it does. Those of
/// a recording of iio-stream have no problems unless they are damaged. Those of another program
/// only have to be readable.
std::string why_not_archived(const Json& metadata, const Inspection& found);

} // namespace iio_stream::file
