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

/// A sink that is a recording of its own, and may be one of a series.
/// Thread: after close(), any one that has it to itself.
class Part : public Sink {
public:
    Fault fault() const noexcept final { return Fault::storage; }

    /// One of the same kind with that number in the series; to be prepared.
    virtual std::unique_ptr<Part> sibling(std::size_t number) const = 0;
    /// Its samples continue those of `before`, a sibling that gets no more. Call once, when it is
    /// prepared and still empty.
    virtual void follow(Part& before) = 0;
    /// Where it begins if `first` is its first block; nullopt if its files do not record that. Call
    /// before that block is submitted, or not at all.
    virtual std::optional<PartStart> start_with(const Block&) { return std::nullopt; }
    /// Records on the disk where it begins, or throws. It must get no samples before. A start that
    /// is only expected may be announced earlier, and is replaced by the next.
    virtual void announce(const PartStart&) {}
    /// Records the same in its metadata; call when it has its first samples.
    virtual void publish_start() {}
    /// A loss or a retuning that became known only after the block in which it belongs.
    using LateReport = std::variant<Gap, detail::NewRetuning>;
    /// Records one that may concern this part. Call until its last writes are done; after that use
    /// late_report_handler(), which works even when the part is gone.
    virtual void apply_late_report(const LateReport&) {}
    using LateReportHandler = std::function<void(const LateReport&)>;
    virtual LateReportHandler late_report_handler() const { return {}; }
    /// What stop() does, without slow work: that is left to seal().
    virtual void close(Stop how) = 0;
    virtual void seal() {}
    void stop(Stop how) final
    {
        close(how);
        if (how == Stop::drain)
            seal();
    }

    /// Whether its file has everything it was given; after close().
    virtual bool whole() const noexcept = 0;
    /// Its files; the first is the one the recording is known by.
    virtual std::vector<std::string> files() const = 0;
};

} // namespace iio_stream::file
