// SPDX-License-Identifier: MIT
#pragma once

#include "core/retunings.hpp"
#include "iio_stream/block.hpp"
#include "iio_stream/endpoint.hpp"

#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace iio_stream::file {

/// A sink that is a recording of its own, and may be one of several in a row.
/// Thread: from close() on, anybody's who has it for himself.
class Part : public Sink {
public:
    Fault fault() const noexcept final { return Fault::storage; }

    /// One of the same kind that has that number in the row; to be prepared.
    virtual std::unique_ptr<Part> sibling(std::size_t number) const = 0;
    /// Its samples go on behind those of `before`, a sibling, to which no more are given. Once, when
    /// it is prepared and has none yet.
    virtual void follow(Part& before) = 0;
    /// Tells on the disk where in the stream it begins; when it has its first samples.
    virtual void announce() {}
    /// A loss, or a retuning, that became known only now may lie among the samples before it, or in
    /// them. Until its last writes are done; from then on late_teller() does that, also when the part
    /// is gone.
    using Late = std::variant<Gap, detail::RetuningNews>;
    virtual void tell_late(const Late&) {}
    using LateTeller = std::function<void(const Late&)>;
    virtual LateTeller late_teller() const { return {}; }
    /// What stop() does, without what can wait: that is for seal() then.
    virtual void close(Stop how) = 0;
    virtual void seal() {}
    void stop(Stop how) final
    {
        close(how);
        if (how == Stop::drain)
            seal();
    }

    /// Whether all that it was given is in its file; once it is closed.
    virtual bool whole() const noexcept = 0;
    /// Its files; the first is what the recording is known by.
    virtual std::vector<std::string> files() const = 0;
};

} // namespace iio_stream::file
