// SPDX-License-Identifier: MIT
#pragma once

#include "conformance/run.hpp"

#include <string>
#include <utility>
#include <vector>

namespace iio_stream::conformance {

/// Changes attributes (files in sysfs and debugfs) and restores them in the reverse order. The
/// check "restored" reports settings that cannot be restored.
/// Thread: one.
class SavedSettings {
public:
    explicit SavedSettings(Run& run) : run_(run) {}
    SavedSettings(const SavedSettings&) = delete;
    ~SavedSettings() { restore(); }

    /// Saves the file's value before the first change, writes `value`, and returns the value that
    /// is read back. If `compare` is false, the check "restored" does not compare the value,
    /// because the hardware changes it by itself. Throws Error.
    std::string set(const std::string& path, const std::string& value, bool compare = true);
    /// Writes `value` now and `off` to restore the setting. This is for files that do not read back
    /// the value that was written.
    void switch_on(const std::string& path, const std::string& value, const std::string& off);
    /// Only saves the value, because other code is about to change it. Ignores a file that cannot
    /// be read.
    void keep(const std::string& path, bool compare = true);
    void restore() noexcept;

private:
    Run& run_;
    std::vector<std::pair<std::string, std::string>> saved_;
    std::vector<std::pair<std::string, std::string>> switched_;
};

} // namespace iio_stream::conformance
