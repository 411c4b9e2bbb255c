// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <string>

namespace iio_stream::test {

/// Calls `act` once, between two steps of the code under test: at the first flock() of this process
/// that `when` accepts. It acts before a file is locked, or after it is unlocked. `when` gets the
/// operation without LOCK_NB and the name of the file. The name ends in " (deleted)" if the file
/// was deleted.
class FlockHook {
public:
    FlockHook(std::function<bool(const std::string& file, int operation)> when,
              std::function<void()> act);
    FlockHook(const FlockHook&) = delete;
    ~FlockHook();

    bool has_acted() const noexcept;

    bool accepts(int fd, int operation) const; ///< called by flock(), like act()
    void act() const { act_(); }

private:
    std::function<bool(const std::string&, int)> when_;
    std::function<void()> act_;
};

} // namespace iio_stream::test
