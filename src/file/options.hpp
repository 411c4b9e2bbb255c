// SPDX-License-Identifier: MIT
#pragma once

#include "core/options/common_options.hpp"

namespace iio_stream::file {

/// Options for every kind of file that is read.
inline constexpr OptionTable kSourceOptions{
    detail::format_option("from the file's suffix or metadata"),
    detail::kStatedFormat["rate"],
    Option{"loop", OptionType::on_off, "", "", "off",
           "Repeat the file without a seam between last and first sample", OptionSide::source},
};

/// Options for files that have no metadata.
inline constexpr OptionTable kRawSourceOptions{
    detail::kStatedFormat["channel_names"],
    Option{"skip", OptionType::size, "SIZE", "bytes", "0",
           "Bytes before the first sample in a file whose header is not supported",
           OptionSide::source},
};

/// Options for files that are read without metadata, and for files that are written with metadata
/// or a header.
inline constexpr OptionTable kFactOptions{
    Option{"frequency", OptionType::rate, "FREQUENCY", "Hz",
           "from the file's name or header; of a sink, from its source",
           "Frequency at which samples without metadata were taken"},
    Option{"datetime", OptionType::text, "TIME", "",
           "from the file's name or header; of a sink, the time of recording",
           "Time of the first sample, in UTC, if the samples have no metadata"},
};

/// Options for reading from and writing to a file.
inline constexpr OptionTable kIoOptions{
    Option{"engine", OptionType::choice, "auto|io_uring|libaio|buffered", "", "auto",
           "Interface to the disk; auto takes the first that the kernel and file system allow"},
    Option{"direct", OptionType::choice, "auto|on|off", "", "auto",
           "Bypass the page cache (O_DIRECT)"},
    Option{"depth", OptionType::number, "N", "requests", "16 MiB of blocks, 4 to 32",
           "Reads or writes in flight"},
};

/// Options for every kind of file that is written.
inline constexpr OptionTable kSinkOptions{
    Option{"overwrite", OptionType::on_off, "", "", "off", "Replace an existing file",
           OptionSide::sink},
    Option{"preallocate", OptionType::size, "auto|off|SIZE", "bytes", "auto",
           "Space to reserve ahead of the writes", OptionSide::sink},
    Option{"sync", OptionType::size, "none|end|SIZE", "bytes", "end",
           "When to flush to the disk: never, before a file is complete, or also each time this "
           "much has been written",
           OptionSide::sink},
    Option{"rotate_bytes", OptionType::size, "SIZE", "bytes", "one file",
           "Start a new file after this many bytes", OptionSide::sink},
    Option{"rotate_time", OptionType::time, "TIME", "s", "one file",
           "Start a new file after this long", OptionSide::sink},
    Option{"keep", OptionType::text, "all|none|last:SIZE|last:TIME", "", "all",
           "With rotate_bytes= or rotate_time=: which closed parts stay here; with archive=, only "
           "parts that it has confirmed are removed",
           OptionSide::sink},
};

/// Options for recordings with metadata.
inline constexpr OptionTable kSigmfOptions{
    Option{"hash", OptionType::choice, "off|end", "", "off",
           "Write the SHA-512 of the data into the SigMF metadata at the end", OptionSide::sink},
    Option{"hostname", OptionType::on_off, "", "", "off",
           "Write the name of this machine into the SigMF metadata", OptionSide::sink},
    Option{"description", OptionType::text, "TEXT", "", "none",
           "Description of the recording, for the SigMF metadata", OptionSide::sink},
    Option{"author", OptionType::text, "TEXT", "", "none",
           "Author of the recording, for the SigMF metadata", OptionSide::sink},
    Option{"license", OptionType::text, "URL", "", "none",
           "License of the recording, for the SigMF metadata", OptionSide::sink},
    Option{"archive", OptionType::text, "s3://BUCKET/PREFIX", "", "none",
           "With rotate_bytes= or rotate_time=: upload each closed part in the background",
           OptionSide::sink},
    Option{"archive_wait", OptionType::time, "TIME", "s", "30s",
           "At the end, wait this long for parts that are not in the archive yet",
           OptionSide::sink},
};

} // namespace iio_stream::file
