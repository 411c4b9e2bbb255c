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

/// A range of samples in a file, from `begin` up to and excluding `end`.
struct Zeros {
    std::uint64_t begin = 0, end = 0;
};

/// The properties of a recording that are known without reading its samples.
struct IIO_STREAM_API Recording {
    std::string metadata, data; ///< paths; `metadata` is empty for raw samples
    Format format;              ///< empty if unknown
    std::uint64_t bytes = 0, samples = 0;
    /// Sample index of its first sample in the stream; not 0 if the recording is a later part of
    /// several.
    std::uint64_t first_index = 0;
    bool first_exact = true; ///< false: first_index is a lower bound
    GapTotals gaps;
    std::vector<Zeros> zeros; ///< zeros that replace lost samples (--on-gap zero-fill); these
                              ///< losses are not in `gaps`

    /// The sum of `gaps` and the losses that zeros replace.
    GapTotals losses() const noexcept;
    Hash hash = Hash::none;
    bool needs_recover = false; ///< the recording was interrupted
    /// The value of iio_stream:state: complete, interrupted (an error ended the stream; the
    /// recording is whole up to that point) or recovered. "" if another program wrote the
    /// recording.
    std::string state;
    std::vector<std::string> problems; ///< empty: the recording is fine
};

/// Checks a recording: SigMF, given by any of its file names, or raw samples. `add_hash` adds a
/// missing SHA-512 to the metadata. Throws: Error if files cannot be read; a usage Error if neither
/// the file name nor `format` states the format of raw samples.
IIO_STREAM_API Recording check_recording(const std::string& path, const std::string& format = {},
                                         bool add_hash = false);

/// Returns SigMF's name of the sample format that the suffix of a file's name declares, such as
/// "cf32_le" for "x.cf32". Returns "" if the suffix leaves the format open, as ".sigmf-meta",
/// ".wav" and ".bin" do.
IIO_STREAM_API std::string format_of_suffix(const std::string& path);

/// Settings that apply from sample `start` of a recording until the next capture.
struct RecordedCapture {
    std::uint64_t start = 0;         ///< first sample, counted from the start of the file
    std::uint64_t index = 0;         ///< sample index of `start` in its stream, including lost
                                     ///< samples
    bool index_exact = true;         ///< false: `index` is a lower bound
    std::string datetime;            ///< UTC time of that sample, as in SigMF; "" = unknown
    std::optional<double> frequency; ///< Hz
    std::optional<double> rate;      ///< samples per second
};

/// A place in a recording where samples are, or may be, missing.
struct RecordedLoss {
    Gap gap;              ///< offsets count samples of the file
    bool dropped = false; ///< the recorder dropped the samples because its disk was too slow
};

/// A header in a data file: `bytes` bytes, which are not samples, directly before sample `sample`.
struct RecordedHeader {
    std::uint64_t sample = 0, bytes = 0;
};

/// The contents of SigMF metadata. A missing value is empty. An invalid value is also empty and is
/// listed in `problems`.
struct IIO_STREAM_API RecordingDescription {
    Format format;
    std::string state;                     ///< as in Recording
    std::optional<std::uint64_t> samples;  ///< only recordings by iio-stream contain it
    std::vector<RecordedCapture> captures; ///< at least one, the first at sample 0
    std::vector<RecordedLoss> losses;      ///< in recordings by other programs: the places where
                                           ///< the index jumps
    std::vector<Zeros> zeros;              ///< zeros that replace lost samples; not in `losses`
    bool has_first_index = false;          ///< the first capture states its index in the stream
    std::string hardware, sha512;          ///< core:hw, core:sha512
    std::string dataset;                   ///< name of the data file, if it is not NAME.sigmf-data
    bool metadata_only = false;            ///< distributed without a data file
    std::vector<RecordedHeader> headers;   ///< headers in the data file, ordered by sample
    std::uint64_t trailing_bytes = 0;      ///< bytes after the last sample
    std::vector<std::string> problems;     ///< deviations from SigMF; empty if there are none
    std::vector<std::string> warnings;     ///< the same deviations, one line for each kind
};

/// Maximum size of metadata in bytes. All readers reject larger metadata. The limit is far above
/// the size that a recorder writes.
inline constexpr std::size_t kMostMetadata = 64 << 20;

/// Parses the text of a metadata file; the whole library parses metadata with this function.
/// `format`, if not empty, overrides the sample format in the metadata. The function is pure and
/// can be called on any thread. Throws a storage Error (EBADMSG) if the text is not JSON, or if it
/// does not state the sample format and `format` is empty.
IIO_STREAM_API RecordingDescription describe_recording(std::string_view metadata,
                                                       const std::string& format = {});

/// Returns the address of a sink that compares the recording's samples with a pattern, "ramp" or
/// "lanes", starting at first_index. Throws a usage Error for any other pattern.
IIO_STREAM_API std::string verify_sink(const Recording& recording, const std::string& pattern);

/// The result of recover_recording().
struct Recovery {
    bool needed = false;
    std::uint64_t bytes_before = 0, bytes = 0, samples = 0;
    /// Samples at the end of the file that were written but did not reach the disk; kUnknown: an
    /// unknown number, which can be zero. 0 for a recording whose intended end is not known.
    std::uint64_t missing = 0;
    std::string next_part; ///< the part that follows the missing samples; "" if there is none
    std::string tail;      ///< the file that holds the bytes that were cut off; "" if they were
                           ///< only zeros
    std::string backup;    ///< the file that holds the previous metadata; "" if they did not change
};

/// Makes an interrupted recording valid. It cuts off bytes that are not known to be samples and
/// keeps them in a file next to the recording, notes this in the metadata without changing the
/// fields of other programs, and removes the writer's journal. It is safe to run it again.
/// Throws: Error, with EBUSY if the recording is still being made or a process has the file open,
/// and with ELOOP if one of the files is a symbolic link.
IIO_STREAM_API Recovery recover_recording(const std::string& path, const std::string& format = {});

} // namespace iio_stream
