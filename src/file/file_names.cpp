// SPDX-License-Identifier: MIT
#include "file/file_names.hpp"

#include "file/sigmf/datatype.hpp"
#include "iio_stream/error.hpp"
#include "sys/stream_file.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace iio_stream::file {

namespace {

struct Suffix {
    const char* suffix;
    const char* format; ///< empty: any format
};

constexpr std::array kRawSuffixes{
    Suffix{".ci8", "ci8"},       Suffix{".cu8", "cu8"},      Suffix{".ci16", "ci16_le"},
    Suffix{".cu16", "cu16_le"},  Suffix{".ci32", "ci32_le"}, Suffix{".cf32", "cf32_le"},
    Suffix{".cf64", "cf64_le"},  Suffix{".ri8", "ri8"},      Suffix{".ri16", "ri16_le"},
    Suffix{".ri32", "ri32_le"},  Suffix{".rf32", "rf32_le"}, Suffix{".sc16", "ci16_le"},
    Suffix{".fc32", "cf32_le"},  Suffix{".cs8", "ci8"},      Suffix{".cs16", "ci16_le"},
    Suffix{".cfile", "cf32_le"}, Suffix{".bin", ""},         Suffix{".raw", ""},
    Suffix{".dat", ""},          Suffix{".iq", ""}};

// These suffixes never name a SigMF recording.
constexpr std::array kUnsupportedSuffixes{".csv", ".txt", ".json", ".npy", ".mat", ".h5", ".hdf5"};

} // namespace

std::string unsupported_suffix(const std::string& path)
{
    for (const char* suffix : kUnsupportedSuffixes)
        if (path.ends_with(suffix))
            return suffix;
    return "";
}

SuffixFormat format_from_suffix(const std::string& path)
{
    // Paths in /dev are devices, but /dev/shm contains regular files.
    if (path == "-" || (path.starts_with("/dev/") && !path.starts_with("/dev/shm/")))
        return {FileKind::opaque, ""};
    for (const Suffix& known : kRawSuffixes)
        if (path.ends_with(known.suffix))
            return {*known.format == '\0' ? FileKind::opaque : FileKind::raw, known.format};
    for (const char* suffix : {".wav", ".WAV", ".rf64", ".RF64"})
        if (path.ends_with(suffix))
            return {FileKind::wav, ""};
    return {FileKind::sigmf, ""};
}

FileTarget::FileTarget(std::string name)
    : path(std::move(name)),
      suffix(format_from_suffix(path)),
      is_standard_stream(path == "-"),
      is_special(is_standard_stream || sys::is_special(path))
{}

std::string format_unlike_suffix(const FileTarget& target, const Format& format)
{
    if (target.suffix.kind != FileKind::raw)
        return "";
    std::string found = format.name();
    try {
        found = datatype_of(format, target.path).name;
    } catch (const Error&) { // SigMF has no name for these samples: compare the format's own name
    }
    return found.substr(1) == target.suffix.format.substr(1) ? "" : found;
}

void require_format_of_suffix(const FileTarget& target, const Format& given)
{
    if (const std::string other = format_unlike_suffix(target, given); !other.empty())
        fail_usage(target.path + ": the name says " + target.suffix.format + ", but format= says " +
                       other,
                   "leave format= out, or rename the file (.bin does not declare a format)");
}

} // namespace iio_stream::file
