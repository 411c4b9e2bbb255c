// SPDX-License-Identifier: MIT
#pragma once

#include "iio/front_end.hpp"
#include "iio_stream/block.hpp"

#include <optional>
#include <string>
#include <vector>

namespace iio_stream::iio {

/// Where a radio's settings can be read, again and again.
/// Thread: one at a time.
class Dials {
public:
    /// What cannot be read now is left out for good.
    explicit Dials(const FrontEnd& front);

    /// Nullopt where one of them cannot be read any more.
    std::optional<Settings> read() const;
    /// The files that they are, in sysfs; none of a remote device.
    std::vector<std::string> files() const;
    bool empty() const noexcept;

private:
    std::vector<TuningTarget> frequency_, gain_, bandwidth_, rate_;
    std::vector<TuningTarget> modes_; ///< of the gain's control
};

} // namespace iio_stream::iio
