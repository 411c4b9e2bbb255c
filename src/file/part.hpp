// SPDX-License-Identifier: MIT
#pragma once

#include "core/retunings.hpp"
#include "file/loss.hpp"
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
    virtual std::optional<Begin> begin_with(const Block&) { return std::nullopt; }
    /// Records on the disk where it begins, or throws. It must get no samples before. A begin that
    /// is only expected may be announced earlier, and is replaced by the next.
    virtual void announce(const Begin&) {}
    /// Records the same in its metadata; call when it has its first samples.
    virtual void publish_begin() {}
    /// A loss or a retuning that became known only now may be before its samples or among them.
    /// Valid until its last writes are done; after that use late_teller(), which works even when
    /// the part is gone.
    using Late = std::variant<Gap, detail::RetuningNews>;
    virtual void tell_late(const Late&) {}
    using LateTeller = std::function<void(const Late&)>;
    virtual LateTeller late_teller() const { return {}; }
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
