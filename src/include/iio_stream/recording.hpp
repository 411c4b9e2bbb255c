// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/api.hpp"
#include "iio_stream/format.hpp"
#include "iio_stream/stats.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace iio_stream {

enum class Hash {
    none,      ///< the metadata have none, or it is a raw file
    unchecked, ///< the recording is not whole: it was not looked at
    good,
    bad,
    added
};

/// Samples from `begin` to `end` of a file.
struct Zeros {
    std::uint64_t begin = 0, end = 0;
};

/// What is known of a recording without looking at its samples.
struct Recording {
    std::string metadata, data;  ///< paths; no metadata: raw samples
    Format format;               ///< empty where it is not known
    std::uint64_t bytes = 0, samples = 0;
    std::uint64_t first_index = 0; ///< in its stream, of the first sample: it may be one of several parts
    bool first_exact = true;       ///< else it is the least that it can be
    GapTotals gaps;
    std::vector<Zeros> zeros; ///< in the place of lost samples (--on-gap zero-fill)
    Hash hash = Hash::none;
    bool needs_recover = false;  ///< an interruption left it
    std::vector<std::string> problems; ///< none: it is fine
};

/// Checks a recording: SigMF, by any of its names, or raw. `add_hash` writes a missing SHA-512 into
/// the metadata. Throws: Error where files cannot be read, usage where the name tells no format
/// (`format` does, for raw samples).
IIO_STREAM_API Recording check_recording(const std::string& path, const std::string& format = {},
                                         bool add_hash = false);

/// The sink that compares the recording's samples with a pattern, "ramp" or "lanes": one of several
/// parts begins in the middle of it. Throws a usage Error for another pattern.
IIO_STREAM_API std::string verify_sink(const Recording& recording, const std::string& pattern);

/// What recover_recording() did.
struct Recovery {
    bool needed = false;
    std::uint64_t bytes_before = 0, bytes = 0, samples = 0;
    std::string tail;   ///< the file that keeps what was cut off; "" where that was nothing but zeros
    std::string backup; ///< the file that keeps the metadata as they were; "" where they stayed
};

/// Makes a valid recording of what an interruption left: cuts off what is not known to be samples,
/// and keeps it in a file beside; says so in the metadata, in which all that is not ours stays;
/// removes the writer's journal. Once more does no harm.
/// Throws: Error, EBUSY where it is still being recorded, or a process has the file open; ELOOP
/// where one of the files is a symbolic link.
IIO_STREAM_API Recovery recover_recording(const std::string& path, const std::string& format = {});

} // namespace iio_stream
