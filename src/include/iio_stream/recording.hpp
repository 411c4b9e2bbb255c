// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/api.hpp"
#include "iio_stream/block.hpp"
#include "iio_stream/format.hpp"
#include "iio_stream/stats.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
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

/// Settings that hold from sample `start` of a recording on, until the next capture.
struct RecordedCapture {
    std::uint64_t start = 0;         ///< the sample, counted from the file's first
    std::uint64_t index = 0;         ///< of that sample in its stream, lost ones included
    bool index_exact = true;         ///< false: `index` is a lower bound
    std::string datetime;            ///< when it was taken, UTC as in SigMF; "" = unknown
    std::optional<double> frequency; ///< Hz
    std::optional<double> rate;      ///< samples per second
};

/// A place in a recording where samples are, or may be, missing.
struct RecordedLoss {
    Gap gap;              ///< offsets count samples of the file
    bool dropped = false; ///< by the recorder, whose disk was too slow
};

/// Bytes of a data file right before one of its samples, which are not samples.
struct RecordedHeader {
    std::uint64_t sample = 0, bytes = 0;
};

/// What SigMF metadata say about the samples they belong to. A value that they do not have is
/// empty, and so is one that is wrong: then `problems` has it.
struct IIO_STREAM_API RecordingDescription {
    Format format;
    std::string state;                     ///< as in Recording
    std::optional<std::uint64_t> samples;  ///< stated by recordings of iio-stream only
    std::vector<RecordedCapture> captures; ///< at least one, the first at sample 0
    std::vector<RecordedLoss> losses;      ///< of other programs' recordings: where the index jumps
    std::vector<Zeros> zeros;              ///< in place of lost samples, which are not in `losses`
    bool has_first_index = false;          ///< the first capture states its index in the stream
    std::string hardware, sha512;          ///< core:hw, core:sha512
    std::string dataset;                   ///< name of the data file, if it is not NAME.sigmf-data
    bool metadata_only = false;            ///< distributed without a data file
    std::vector<RecordedHeader> headers;   ///< in the data file, by their samples
    std::uint64_t trailing_bytes = 0;      ///< after its last sample
    std::vector<std::string> problems;     ///< deviations from SigMF; empty: there are none
    std::vector<std::string> warnings;     ///< the same, in one line for each kind
};

/// Bytes of metadata. More are refused, wherever they are read: it is far above what a recorder
/// writes.
inline constexpr std::size_t kMostMetadata = 64 << 20;

/// Reads the text of a metadata file, as every part of the library does. `format`: that of the
/// samples, whatever the metadata say. Pure: call it on any thread. Throws a storage Error
/// (EBADMSG) if the text is not JSON, or does not say how to read the samples and `format` is
/// empty.
IIO_STREAM_API RecordingDescription describe_recording(std::string_view metadata,
                                                       const std::string& format = {});

/// The sink that compares the recording's samples with a pattern, "ramp" or "lanes", starting where
/// this part of a recording starts. Throws a usage Error for another pattern.
IIO_STREAM_API std::string verify_sink(const Recording& recording, const std::string& pattern);

/// What recover_recording() did.
struct Recovery {
    bool needed = false;
    std::uint64_t bytes_before = 0, bytes = 0, samples = 0;
    /// At the end of the file: samples that were given to it and did not reach the disk; kUnknown:
    /// there may be some. Of a recording whose end is not known, 0.
    std::uint64_t missing = 0;
    std::string next_part; ///< what follows the missing samples; "" if nothing does
    std::string tail;      ///< the file that keeps what was cut off; "" if that was only zeros
    std::string backup;    ///< the file that keeps the previous metadata; "" if they did not change
};

/// Makes a valid recording of what an interruption left: cuts off what is not known to be samples
/// and keeps it in a file next to it; records this in the metadata, leaving everything that is not
/// ours; removes the writer's journal. Running it again does no harm. Throws: Error, with EBUSY if
/// it is still being recorded or a process has the file open, and ELOOP if one of the files is a
/// symbolic link.
IIO_STREAM_API Recovery recover_recording(const std::string& path, const std::string& format = {});

} // namespace iio_stream
