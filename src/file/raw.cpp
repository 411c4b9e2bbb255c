// SPDX-License-Identifier: MIT
#include "file/raw.hpp"

#include "file/sigmf/datatype.hpp"
#include "iio_stream/error.hpp"

#include <algorithm>
#include <array>

namespace iio_stream::file {

namespace {

struct Suffix {
    const char* suffix;
    const char* format; ///< empty: any
};

constexpr std::array kRawSuffixes{
    Suffix{".ci8", "ci8"},       Suffix{".cu8", "cu8"},      Suffix{".ci16", "ci16_le"},
    Suffix{".cu16", "cu16_le"},  Suffix{".ci32", "ci32_le"}, Suffix{".cf32", "cf32_le"},
    Suffix{".cf64", "cf64_le"},  Suffix{".ri8", "ri8"},      Suffix{".ri16", "ri16_le"},
    Suffix{".ri32", "ri32_le"},  Suffix{".rf32", "rf32_le"}, Suffix{".sc16", "ci16_le"},
    Suffix{".fc32", "cf32_le"},  Suffix{".cs8", "ci8"},      Suffix{".cs16", "ci16_le"},
    Suffix{".cfile", "cf32_le"}, Suffix{".bin", ""},         Suffix{".raw", ""},
    Suffix{".dat", ""},          Suffix{".iq", ""}};

// No one who writes such a name means the start of a SigMF recording's.
constexpr std::array kForeignSuffixes{".wav", ".WAV", ".csv", ".txt", ".json",
                                      ".npy", ".mat", ".h5",  ".hdf5"};

} // namespace

std::string foreign_suffix(const std::string& path)
{
    for (const char* suffix : kForeignSuffixes)
        if (path.ends_with(suffix))
            return suffix;
    return "";
}

NameSays what_name_says(const std::string& path)
{
    if (path == "-" || (path.starts_with("/dev/") && !path.starts_with("/dev/shm/"))) // has files
        return {Kind::opaque, ""};
    for (const Suffix& known : kRawSuffixes)
        if (path.ends_with(known.suffix))
            return {*known.format == '\0' ? Kind::opaque : Kind::raw, known.format};
    return {Kind::sigmf, ""};
}

std::string contradicted(const std::string& path, const Format& format)
{
    const NameSays says = what_name_says(path);
    if (says.kind != Kind::raw)
        return "";
    std::string found = format.name();
    try {
        found = datatype_of(format, path).name;
    } catch (const Error&) { // SigMF has no name for them, and neither do we
    }
    return found.substr(1) == says.format.substr(1) ? "" : found;
}

void refuse_contradiction(const std::string& path, const Format& said)
{
    if (const std::string other = contradicted(path, said); !other.empty())
        fail_usage(path + ": the name says " + what_name_says(path).format + ", but format= says " +
                       other,
                   "leave format= out, or rename the file (.bin promises nothing)");
}

} // namespace iio_stream::file
