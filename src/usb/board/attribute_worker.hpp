// SPDX-License-Identifier: MIT
#pragma once

#include "usb/attribute_allowlist.hpp"

#include <memory>
#include <optional>
#include <string>

namespace iio_stream::usb {

/// Sets and reads a board's attributes on a thread of its own: a radio can be slow, and the stream
/// must not wait for it. One request runs at a time, with a deadline.
/// Owns: the thread. It keeps running after destruction if it is stuck in the kernel.
/// Thread: any, one at a time; only the destructor waits.
class AttributeWorker {
public:
    explicit AttributeWorker(AttributeAllowlist attributes);
    AttributeWorker(const AttributeWorker&) = delete;
    ~AttributeWorker();

    bool is_free() const;                                   ///< no request is running
    void set(std::size_t number, const std::string& value); ///< call only if is_free()
    /// Returns the answer to GET_ATTR, once. If there is none, starts a request to read the value.
    /// Returns nullopt while a request is running; the caller has to try again. If the request is
    /// overdue, returns an error.
    std::optional<std::string> answer(std::size_t number);
    /// The radio's settings after the last request.
    Tuning tuning() const;

private:
    struct State;
    static void run(const std::shared_ptr<State>& state) noexcept;

    std::shared_ptr<State> state_;
};

} // namespace iio_stream::usb
