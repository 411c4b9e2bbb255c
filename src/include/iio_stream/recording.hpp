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
    none,      ///< no hash in the metadata, or a raw file
    unchecked, ///< the recording is incomplete, so the hash was not checked
    good,
    bad,
    added
};

/// Samples from `begin` to `end` of a file.
struct Zeros {
    std::uint64_t begin = 0, end = 0;
};

/// What can be said about a recording without looking at its samples.
struct IIO_STREAM_API Recording {
    std::string metadata, data; ///< paths; no metadata: raw samples
    Format format;              ///< empty if unknown
    std::uint64_t bytes = 0, samples = 0;
    /// Sample index of its first sample in the stream: the recording may be one of several parts.
    std::uint64_t first_index = 0;
    bool first_exact = true; ///< false: first_index is a lower bound
    GapTotals gaps;
    std::vector<Zeros>
        zeros; ///< in place of lost samples (--on-gap zero-fill), which are not in `gaps`

    /// `gaps`, and the losses that zeros replace.
    GapTotals losses() const noexcept;
    Hash hash = Hash::none;
    bool needs_recover = false; ///< it was interrupted
    /// iio_stream:state: complete, interrupted (an error ended the stream; it is whole up to there)
    /// or recovered;
    /// "" if we did not write it.
    std::string state;
    std::vector<std::string> problems; ///< empty: the recording is fine
};

/// Checks a recording: SigMF, by any of its file names, or raw. `add_hash` adds a missing SHA-512
/// to the metadata. Throws: Error if files cannot be read, usage if neither the name nor `format`
/// says what raw samples are.
IIO_STREAM_API Recording check_recording(const std::string& path, const std::string& format = {},
                                         bool add_hash = false);

/// The sink that compares the recording's samples with a pattern, "ramp" or "lanes", starting where
/// this part of a recording starts. Throws a usage Error for another pattern.
IIO_STREAM_API std::string verify_sink(const Recording& recording, const std::string& pattern);

/// What recover_recording() did.
struct Recovery {
    bool needed = false;
    std::uint64_t bytes_before = 0, bytes = 0, samples = 0;
    std::string tail;   ///< the file that keeps what was cut off; "" if that was only zeros
    std::string backup; ///< the file that keeps the previous metadata; "" if they did not change
};

/// Makes a valid recording of what an interruption left: cuts off what is not known to be samples
/// and keeps it in a file next to it; records this in the metadata, leaving everything that is not
/// ours; removes the writer's journal. Running it again does no harm. Throws: Error, with EBUSY if
/// it is still being recorded or a process has the file open, and ELOOP if one of the files is a
/// symbolic link.
IIO_STREAM_API Recovery recover_recording(const std::string& path, const std::string& format = {});

} // namespace iio_stream
