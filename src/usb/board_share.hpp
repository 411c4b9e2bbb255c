// SPDX-License-Identifier: MIT
#pragma once

#include "sys/event.hpp"
#include "sys/fd_group.hpp"
#include "usb/host.hpp"

#include <atomic>
#include <memory>

namespace iio_stream::usb {

/// One stream's share of a board; the two directions in a process have the same board, and each may
/// hear what is the other's.
/// Thread: one at a time.
class BoardShare {
public:
    explicit BoardShare(const BoardChoice& choice, int cancel = -1); ///< as Board's
    Board& operator*() const noexcept { return *board_; }
    Board* operator->() const noexcept { return board_.get(); }

    int fd() const noexcept { return group_.fd(); } ///< readable when there are events
    void handle_events();
    /// The same with some patience, whatever becomes of it.
    void wait_for_events() noexcept;
    /// For whoever hears something of this share's on another thread, maybe behind its end.
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
