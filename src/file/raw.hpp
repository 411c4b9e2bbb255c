// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/format.hpp"

#include <optional>
#include <string>

namespace iio_stream::file {

/// What the name of a file says about its contents.
enum class Kind { raw, opaque, sigmf };
struct NameSays {
    Kind kind = Kind::sigmf;
    std::string format; ///< kind raw: SigMF's name of the datatype
};

/// The suffix of a format that we neither write nor read (".wav"); "" if it is none.
std::string foreign_suffix(const std::string& path);

/// ".ci16" → raw ci16_le; ".bin" ".raw" ".dat" and "-" → opaque; anything else is SigMF's.
NameSays what_name_says(const std::string& path);

/// The samples' format, as SigMF calls it, if the name promises other values; "" if it is right.
/// (Whether two of them are a pair is not promised: a converter's only channel may be called so.)
std::string contradicted(const std::string& path, const Format& format);
/// Throws a usage Error if what was said of a file contradicts its name.
void refuse_contradiction(const std::string& path, const Format& said);

} // namespace iio_stream::file
