// SPDX-License-Identifier: MIT
#pragma once

#include "core/loss/retunings.hpp"
#include "file/journal/file_loss.hpp"
#include "iio_stream/block.hpp"
#include "iio_stream/endpoint.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace iio_stream::file {

/// A sink that writes a complete recording, which may be one part of a series.
/// Thread: after close(), any thread that uses the part exclusively.
class Part : public Sink {
public:
    Fault fault() const noexcept final { return Fault::storage; }

    /// A part of the same kind with that number in the series, not prepared yet.
    virtual std::unique_ptr<Part> sibling(std::size_t number) const = 0;
    /// Makes this part continue `before`, a sibling that gets no more samples. Call it once, when
    /// this part is prepared and still empty.
    virtual void follow(Part& before) = 0;
    /// Where the part begins if the given block is its first one; nullopt if its files do not
    /// record that. Call it before that block is submitted, or not at all.
    virtual std::optional<PartStart> start_with(const Block&) { return std::nullopt; }
    /// Records on the disk where the part begins, or throws. Call it before the part gets samples.
    /// An expected start may be announced earlier; the next announcement replaces it.
    virtual void announce(const PartStart&) {}
    /// Records the start in the part's metadata. Call it when the part has its first samples.
    virtual void publish_start() {}
    /// A loss or a retuning that became known only after the block to which it belongs.
    using LateReport = std::variant<Gap, detail::NewRetuning>;
    /// Records a report that may concern this part. Call it only before the part's last writes are
    /// done. After that, use late_report_handler(), which works even when the part is gone.
    virtual void apply_late_report(const LateReport&) {}
    using LateReportHandler = std::function<void(const LateReport&)>;
    virtual LateReportHandler late_report_handler() const { return {}; }
    /// Records facts that became known after the last block. Call it before close(), at most once.
    virtual void end_with(const StreamEnd&) {}
    /// Like stop(), but leaves slow work to seal().
    virtual void close(Stop how) = 0;
    virtual void seal() {}
    void stop(Stop how, const StreamEnd& end) final
    {
        end_with(end);
        close(how);
        if (how == Stop::drain)
            seal();
    }

    /// Whether the file has everything that was submitted to the part. Call it after close().
    virtual bool whole() const noexcept = 0;
    /// The part's files. The first one identifies the recording.
    virtual std::vector<std::string> files() const = 0;
};

} // namespace iio_stream::file
