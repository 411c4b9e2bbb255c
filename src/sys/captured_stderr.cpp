// SPDX-License-Identifier: MIT
#include "sys/captured_stderr.hpp"

#include "sys/unique_fd.hpp"

#include <algorithm>
#include <array>
#include <fcntl.h>
#include <mutex>
#include <new>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace iio_stream::sys {

namespace {

struct Capture {
    std::mutex mutex;
    bool enabled = false;
    unsigned users = 0;
    UniqueFd original, captured; ///< invalid while nothing is captured
};

Capture& the_capture()
{
    static Capture* const capture = new Capture; // threads can use it while the process exits
    return *capture;
}

void write_whole(int fd, std::string_view text) noexcept
{
    while (!text.empty()) {
        const ssize_t put = ::write(fd, text.data(), text.size());
        if (put <= 0)
            return;
        text.remove_prefix(static_cast<std::size_t>(put));
    }
}

// Writes the captured lines to stderr, except those of the library.
void replay(int captured)
{
    std::string text;
    std::array<char, 4096> piece;
    ssize_t got;
    while ((got = ::pread(captured, piece.data(), piece.size(), static_cast<off_t>(text.size()))) >
           0)
        text.append(piece.data(), static_cast<std::size_t>(got));
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
        const std::string_view line = std::string_view(text).substr(at, end - at);
        if (!line.starts_with("ERROR: ") && !line.starts_with("WARNING: "))
            write_whole(STDERR_FILENO, line);
        at = end;
    }
}

} // namespace

CapturedStderr::CapturedStderr() noexcept
{
    Capture& capture = the_capture();
    const std::scoped_lock lock(capture.mutex);
    if (capture.users++ != 0 || !capture.enabled)
        return;
    UniqueFd original(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3));
    UniqueFd captured(::memfd_create("stderr", MFD_CLOEXEC));
    if (!original.valid() || !captured.valid() || ::dup2(captured.get(), STDERR_FILENO) < 0)
        return;
    capture.original = std::move(original);
    capture.captured = std::move(captured);
}

void CapturedStderr::enable() noexcept
{
    const std::scoped_lock lock(the_capture().mutex);
    the_capture().enabled = true;
}

CapturedStderr::~CapturedStderr()
try {
    Capture& capture = the_capture();
    const std::scoped_lock lock(capture.mutex);
    if (--capture.users != 0 || !capture.original.valid())
        return;
    (void)::dup2(capture.original.get(), STDERR_FILENO);
    capture.original.reset();
    const UniqueFd captured = std::move(capture.captured);
    replay(captured.get());
} catch (const std::bad_alloc&) {
    // The lines are lost.
}

} // namespace iio_stream::sys
