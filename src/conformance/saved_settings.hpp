// SPDX-License-Identifier: MIT
#pragma once

#include "conformance/run.hpp"

#include <string>
#include <utility>
#include <vector>

namespace iio_stream::conformance {

/// Changes attributes (files in sysfs and debugfs) and restores them in the reverse order.
/// What cannot be restored is reported by the check "restored".
/// Thread: one.
class SavedSettings {
public:
    explicit SavedSettings(Run& run) : run_(run) {}
    SavedSettings(const SavedSettings&) = delete;
    ~SavedSettings() { restore(); }

    /// Remembers the file's value, if this is the first change, writes `value`, and returns what
    /// reads back. `compare` false: the hardware changes the value by itself, so the check
    /// "restored" does not compare it. Throws Error.
    std::string set(const std::string& path, const std::string& value, bool compare = true);
    /// Writes `value` now, and `off` to restore it: for a file that does not read as it was
    /// written.
    void switch_on(const std::string& path, const std::string& value, const std::string& off);
    /// Only remembers it: someone else is about to change it. A file that cannot be read is left
    /// out.
    void keep(const std::string& path, bool compare = true);
    void restore() noexcept;

private:
    Run& run_;
    std::vector<std::pair<std::string, std::string>> saved_;
    std::vector<std::pair<std::string, std::string>> switched_;
};

} // namespace iio_stream::conformance
