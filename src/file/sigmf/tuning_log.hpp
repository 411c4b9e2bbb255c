// SPDX-License-Identifier: MIT
#pragma once

#include "core/loss/retunings.hpp"
#include "file/journal/file_retuning.hpp"
#include "iio_stream/block.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace iio_stream::file {

/// Records the settings of the radio for the samples of a data file. Allocates only in begin().
class TuningLog {
public:
    /// Called with each retuning as it is noted.
    using Listener = std::function<void(const Retuned&)>;
    void listen(Listener listener) { listener_ = std::move(listener); }

    /// Begins the first file of a stream.
    void begin(const Settings& first);
    /// Continues the file `before`, which has this many samples. Call it after begin().
    void follow(TuningLog& before, std::uint64_t samples);
    /// Notes a block that starts at the file's sample `offset`. Returns whether it reports a
    /// retuning.
    bool note(const Block& filled, std::uint64_t offset, std::size_t sample_bytes);
    /// Passes all settings to the listener, for a file that continues a retuned one.
    void report_all() const;
    /// Adds the last retuning, which is reported at the end of the stream.
    void set_last_retuning(const Retuning& last);
    /// Adds a retuning that became known after the file's last block. Returns false if it is after
    /// the file.
    bool apply_late_retuning(const detail::NewRetuning& retuning);

    const Tunings& tunings() const noexcept { return tunings_; }
    /// All retunings before this sample of the file have been noted; kUnknown: there are none.
    std::uint64_t complete_until() const;

private:
    /// The start of a run of samples that is contiguous both in the stream and in the file.
    struct Piece {
        std::uint64_t position, offset;
    };
    static constexpr std::size_t kMostPieces = 64;

    std::uint64_t offset_of(std::uint64_t position, std::uint64_t before) const;
    void add(const detail::NewRetuning& retuning);

    detail::Retunings retunings_;
    Tunings tunings_;
    std::vector<Piece> pieces_;
    bool forgotten_ = false; ///< older pieces were removed
    std::uint64_t end_ = 0;  ///< position after the last block
    Listener listener_;
};

} // namespace iio_stream::file
