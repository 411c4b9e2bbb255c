// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/format.hpp"

#include <optional>
#include <string>

namespace iio_stream::file {

/// What the suffix of a file name declares about its contents.
enum class FileKind { raw, opaque, sigmf, wav };
struct SuffixFormat {
    FileKind kind = FileKind::sigmf;
    std::string format; ///< kind raw: SigMF's name of the datatype
};

/// What a path names. It is made once, before the file is opened.
struct FileTarget {
    std::string path;
    SuffixFormat suffix;
    bool is_standard_stream = false; ///< "-" is standard input or output
    bool is_special = false;         ///< a standard stream, or an existing pipe, socket or device

    FileTarget() = default;
    explicit FileTarget(std::string path);
    /// True for a pair of SigMF files. A pipe, socket or device is not one, whatever its name.
    bool is_recording() const noexcept { return suffix.kind == FileKind::sigmf && !is_special; }
};

/// The suffix of a format that we neither write nor read (".csv"); "" if it is none.
std::string unsupported_suffix(const std::string& path);

/// ".ci16" → raw ci16_le; ".bin" ".raw" ".dat" and "-" → opaque; ".wav" → wav; anything else is
/// SigMF's.
SuffixFormat format_from_suffix(const std::string& path);

/// The samples' format, as SigMF calls it, if the name promises other values; "" if it is right.
/// (Whether two of them are a pair is not promised: a converter's only channel may be called so.)
std::string format_unlike_suffix(const FileTarget& target, const Format& format);
/// Throws a usage Error if the given format contradicts the suffix.
void require_format_of_suffix(const FileTarget& target, const Format& given);

} // namespace iio_stream::file
