// SPDX-License-Identifier: MIT
#pragma once

#include "sys/event.hpp"
#include "sys/fd_group.hpp"
#include "usb/host/board_connection.hpp"

#include <atomic>
#include <memory>

namespace iio_stream::usb {

/// One stream's share of a board. Both directions of a process use the same BoardConnection, and
/// each can handle the other's events.
/// Thread: one at a time.
class BoardShare {
public:
    explicit BoardShare(const BoardChoice& choice, int cancel = -1); ///< like BoardConnection's
    BoardConnection& operator*() const noexcept { return *board_; }
    BoardConnection* operator->() const noexcept { return board_.get(); }

    int fd() const noexcept { return group_.fd(); } ///< readable when there are events
    void handle_events();
    /// Handles events for a limited time; ignores errors.
    void wait_for_events() noexcept;
    /// A flag that is set when another thread has handled an event of this share, which can happen
    /// after the share is destroyed.
    class EventFlag {
    public:
        void set() noexcept
        {
            event_.set();
            set_ = true; // in this order, so that the event is not left set
        }
        void clear() noexcept
        {
            if (set_.exchange(false))
                event_.clear();
        }
        int fd() const noexcept { return event_.fd(); }

    private:
        sys::Event event_;
        std::atomic<bool> set_{false};
    };
    const std::shared_ptr<EventFlag>& event_flag() const noexcept { return event_flag_; }

private:
    std::shared_ptr<BoardConnection> board_;
    std::shared_ptr<EventFlag> event_flag_ = std::make_shared<EventFlag>();
    sys::FdGroup group_;
};

} // namespace iio_stream::usb
