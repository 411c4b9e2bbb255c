// SPDX-License-Identifier: MIT
#pragma once

#include "iio/tuning/front_end.hpp"
#include "iio_stream/block.hpp"

#include <optional>
#include <string>
#include <vector>

namespace iio_stream::iio {

/// The attributes that hold a radio's settings, to be read repeatedly.
/// Thread: one at a time.
class SettingsReader {
public:
    /// Attributes that cannot be read now are left out permanently.
    explicit SettingsReader(const FrontEnd& front);

    /// Reads the settings. Returns nullopt if an attribute can no longer be read.
    std::optional<Settings> read() const;
    /// The sysfs files of the attributes; empty for a remote device.
    std::vector<std::string> files() const;
    bool empty() const noexcept;

private:
    std::vector<TuningTarget> frequency_, gain_, bandwidth_, rate_;
    std::vector<TuningTarget> modes_; ///< modes of the gain control
};

} // namespace iio_stream::iio
