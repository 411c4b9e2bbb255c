// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/format.hpp"

#include <optional>
#include <string>

namespace iio_stream::file {

/// The contents that the suffix of a file name declares.
enum class FileKind { raw, opaque, sigmf, wav };
struct SuffixFormat {
    FileKind kind = FileKind::sigmf;
    std::string format; ///< for FileKind::raw: SigMF's name of the datatype
};

/// The target that a path names. It is determined once, before the file is opened.
struct FileTarget {
    std::string path;
    SuffixFormat suffix;
    bool is_standard_stream = false; ///< "-" is standard input or output
    bool is_special = false;         ///< a standard stream, or an existing pipe, socket or device

    FileTarget() = default;
    explicit FileTarget(std::string path);
    /// True for a pair of SigMF files. A pipe, socket or device is never one, whatever its name.
    bool is_recording() const noexcept { return suffix.kind == FileKind::sigmf && !is_special; }
};

/// The suffix of `path` if it belongs to a format that is neither written nor read, such as ".csv";
/// otherwise "".
std::string unsupported_suffix(const std::string& path);

/// ".ci16" → raw ci16_le; ".bin" ".raw" ".dat" and "-" → opaque; ".wav" → wav; any other name →
/// sigmf.
SuffixFormat format_from_suffix(const std::string& path);

/// SigMF's name of `format` if it contradicts the suffix; otherwise "". The first letter (c or r)
/// is not compared: the samples of a single real channel may be in a file with a complex suffix.
std::string format_unlike_suffix(const FileTarget& target, const Format& format);
/// Throws a usage Error if the given format contradicts the suffix.
void require_format_of_suffix(const FileTarget& target, const Format& given);

} // namespace iio_stream::file
