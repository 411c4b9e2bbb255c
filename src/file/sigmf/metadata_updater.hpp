// SPDX-License-Identifier: MIT
#pragma once

#include "file/parts/part.hpp"
#include "file/sigmf/loss_log.hpp"
#include "file/sigmf/metadata.hpp"
#include "file/sigmf/tuning_log.hpp"

#include <string>

namespace iio_stream::file {

/// Writes late reports into the metadata of a finished recording, if the metadata file still
/// exists.
class MetadataUpdater {
public:
    MetadataUpdater(std::string path, Outcome outcome, const StreamRange& range, TuningLog tunings);
    /// Throws a storage Error.
    void apply(const Part::LateReport& late);

private:
    std::string path_;
    Outcome outcome_;
    StreamRange range_;
    TuningLog tunings_;
};

} // namespace iio_stream::file
