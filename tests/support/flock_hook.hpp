// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <string>

namespace iio_stream::test {

/// Acts between two steps of the code under test: once, at the first flock() of this process that
/// `when` accepts. It acts before a file is locked, and after it is unlocked. `when` gets the
/// file's name, which ends in " (deleted)" if it has none, and the operation without LOCK_NB.
class FlockHook {
public:
    FlockHook(std::function<bool(const std::string& file, int operation)> when,
              std::function<void()> act);
    FlockHook(const FlockHook&) = delete;
    ~FlockHook();

    bool has_acted() const noexcept;

    bool accepts(int fd, int operation) const; ///< for flock(), like act()
    void act() const { act_(); }

private:
    std::function<bool(const std::string&, int)> when_;
    std::function<void()> act_;
};

} // namespace iio_stream::test
