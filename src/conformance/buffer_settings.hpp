// SPDX-License-Identifier: MIT
#pragma once

#include "conformance/saved_settings.hpp"

namespace iio_stream::conformance {

/// Restores the enabled channels, the length and the watermark of a buffer, which every stream
/// sets. Thread: one.
class BufferSettingsGuard {
public:
    BufferSettingsGuard(Run& run, const Subject& subject);

private:
    SavedSettings settings_;
};

} // namespace iio_stream::conformance
