// SPDX-License-Identifier: MIT
#pragma once

#include "file/part.hpp"
#include "file/sigmf/metadata.hpp"
#include "file/sigmf/tuning_log.hpp"
#include "iio_stream/block.hpp"

#include <cstdint>
#include <string>

namespace iio_stream::file {

/// Which of the stream's samples a file has.
struct Stretch {
    std::uint64_t begin = 0, end = 0; ///< positions in the stream
    bool straight = true;             ///< contiguous: nothing was dropped or filled in
};

/// Adds to a file's outcome a loss that became known later and may be before or among its samples.
/// False: it is after them.
bool add_late(Outcome& outcome, const Stretch& stretch, std::uint64_t samples, const Gap& gap);

/// Writes such losses and retunings into the metadata of a finished recording, if they are still
/// there.
class LateNews {
public:
    LateNews(std::string path, Outcome outcome, const Stretch& stretch, TuningLog tunings);
    /// Throws a storage Error.
    void tell(const Part::Late& late);

private:
    std::string path_;
    Outcome outcome_;
    Stretch stretch_;
    TuningLog tunings_;
};

} // namespace iio_stream::file
