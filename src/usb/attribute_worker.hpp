// SPDX-License-Identifier: MIT
#pragma once

#include "usb/allowed.hpp"

#include <memory>
#include <optional>
#include <string>

namespace iio_stream::usb {

/// Sets and reads a board's attributes on a thread of its own: a radio takes its time, and what
/// streams does not wait for it. One request is under way at a time, and has a deadline.
/// Owns: the thread, and leaves it behind where the kernel does not give it back.
/// Thread: any, one at a time; nothing here waits but the destructor.
class AttributeWorker {
public:
    explicit AttributeWorker(Allowed attributes);
    AttributeWorker(const AttributeWorker&) = delete;
    ~AttributeWorker();

    bool is_free() const;                                   ///< no request is under way
    void set(std::size_t number, const std::string& value); ///< where it is
    /// GET_ATTR's answer, once; nullopt while it is being found out: ask again.
    std::optional<std::string> answer(std::size_t number);
    /// How the radio was set when the last request was done.
    Tuning tuning() const;

private:
    struct State;
    static void run(const std::shared_ptr<State>& state) noexcept;

    std::shared_ptr<State> state_;
};

} // namespace iio_stream::usb
