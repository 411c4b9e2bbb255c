// SPDX-License-Identifier: MIT
#include "conformance/saved_settings.hpp"

#include "sys/files.hpp"

#include <algorithm>

namespace iio_stream::conformance {

void SavedSettings::keep(const std::string& path, bool compare)
{
    const auto is_saved = [&](const auto& one) { return one.first == path; };
    if (std::any_of(saved_.begin(), saved_.end(), is_saved))
        return;
    try {
        if (const auto value = sys::read_text(path)) {
            saved_.emplace_back(path, *value);
            if (compare)
                run_.remember(path, *value);
        }
    } catch (const Error&) {
        // A file that cannot be read cannot be restored.
    }
}

std::string SavedSettings::set(const std::string& path, const std::string& value, bool compare)
{
    keep(path, compare);
    sys::write_text(path, value);
    return sys::read_text(path).value_or("");
}

void SavedSettings::switch_on(const std::string& path, const std::string& value,
                              const std::string& off)
{
    if (std::none_of(switched_.begin(), switched_.end(),
                     [&](const auto& one) { return one.first == path; }))
        switched_.emplace_back(path, off);
    sys::write_text(path, value);
}

void SavedSettings::restore() noexcept
{
    for (; !switched_.empty(); switched_.pop_back())
        try {
            sys::write_text(switched_.back().first, switched_.back().second);
        } catch (const std::exception& error) {
            run_.not_restored(error.what());
        }
    for (; !saved_.empty(); saved_.pop_back()) {
        const auto& [path, value] = saved_.back();
        try {
            if (sys::read_text(path) != value)
                sys::write_text(path, value);
        } catch (const std::exception& error) {
            run_.not_restored(path + " was '" + value + "': " + error.what());
        }
    }
}

} // namespace iio_stream::conformance
