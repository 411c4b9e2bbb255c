// SPDX-License-Identifier: MIT
#include "file/next_part.hpp"

#include <cerrno>
#include <utility>

namespace iio_stream::file {

void NextPart::reset() noexcept
{
    asked_ = made_ = false;
    maker_.forget();
}

void NextPart::make(std::shared_ptr<Part> part, const StreamInfo& info, BlockPool& pool, int cancel)
{
    asked_ = true;
    maker_.add([this, part = std::move(part), info, &pool, cancel] {
        try {
            std::string why;
            if (!part->prepare(info, pool, cancel, why))
                throw Error(Fault::storage, ENOTSUP, "open", part->files().front(), why);
            part->start();
        } catch (...) { // what it has made so far is none of the recording
            const std::exception_ptr failure = std::current_exception();
            try {
                part->close(Stop::abort);
            } catch (const std::exception&) {
            }
            std::rethrow_exception(failure);
        }
        part_ = part;
        made_.store(true, std::memory_order_release);
    });
}

bool NextPart::made() const noexcept
{
    return made_.load(std::memory_order_acquire) || maker_.failed();
}

std::shared_ptr<Part> NextPart::take()
{
    maker_.check();
    made_.store(false, std::memory_order_relaxed);
    asked_ = false;
    return std::exchange(part_, nullptr);
}

std::shared_ptr<Part> NextPart::abandon() noexcept
{
    maker_.finish();
    return std::exchange(part_, nullptr);
}

} // namespace iio_stream::file
