// SPDX-License-Identifier: MIT
#include "usb/host/board_share.hpp"

#include "iio_stream/error.hpp"

#include <mutex>
#include <poll.h>
#include <vector>

namespace iio_stream::usb {

namespace {

// A process opens each board once. An unplugged board may still have shares.
std::shared_ptr<BoardConnection> board_of(const BoardChoice& choice, int cancel)
{
    static std::mutex mutex;
    static std::vector<std::weak_ptr<BoardConnection>> all;
    const std::lock_guard guard(mutex);
    std::erase_if(all, [](const std::weak_ptr<BoardConnection>& known) { return known.expired(); });
    for (const std::weak_ptr<BoardConnection>& known : all)
        if (auto board = known.lock();
            board && !board->is_unplugged() && choice.means(board->itself()))
            return board;
    auto board = std::make_shared<BoardConnection>(choice, cancel);
    all.push_back(board);
    return board;
}

} // namespace

BoardShare::BoardShare(const BoardChoice& choice, int cancel) : board_(board_of(choice, cancel))
{
    group_.add(board_->fd(), POLLIN);
    group_.add(event_flag_->fd(), POLLIN);
}

void BoardShare::handle_events()
{
    event_flag_->clear();
    board_->handle_events();
}

void BoardShare::wait_for_events() noexcept
{
    try {
        board_->handle_events(50'000);
    } catch (const Error&) { // the device is gone; its transfers end anyway
    }
}

} // namespace iio_stream::usb
