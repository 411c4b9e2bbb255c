// SPDX-License-Identifier: MIT
#pragma once

#include "sys/event.hpp"
#include "sys/fd_group.hpp"
#include "usb/host.hpp"

#include <atomic>
#include <memory>

namespace iio_stream::usb {

/// One stream's share of a board. Both directions in a process use the same board, and each may
/// handle the other's events.
/// Thread: one at a time.
class BoardShare {
public:
    explicit BoardShare(const BoardChoice& choice, int cancel = -1); ///< like Board's
    Board& operator*() const noexcept { return *board_; }
    Board* operator->() const noexcept { return board_.get(); }

    int fd() const noexcept { return group_.fd(); } ///< readable when there are events
    void handle_events();
    /// The same, for a limited time; ignores errors.
    void wait_for_events() noexcept;
    /// Signals events of this share that another thread handled, possibly after its end.
    class News {
    public:
        void tell() noexcept
        {
            event_.set();
            told_ = true; // in this order: the event is not left set
        }
        void clear() noexcept
        {
            if (told_.exchange(false))
                event_.clear();
        }
        int fd() const noexcept { return event_.fd(); }

    private:
        sys::Event event_;
        std::atomic<bool> told_{false};
    };
    const std::shared_ptr<News>& news() const noexcept { return news_; }

private:
    std::shared_ptr<Board> board_;
    std::shared_ptr<News> news_ = std::make_shared<News>();
    sys::FdGroup group_;
};

} // namespace iio_stream::usb
