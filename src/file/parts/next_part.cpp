// SPDX-License-Identifier: MIT
#include "file/parts/next_part.hpp"

#include <cerrno>
#include <utility>

namespace iio_stream::file {

void NextPart::reset() noexcept
{
    asked_ = made_ = false;
    start_ = PartStart{};
    part_.reset();
    maker_.forget();
}

void NextPart::make(std::shared_ptr<Part> part, const StreamInfo& info, BlockPool& pool, int cancel,
                    const std::optional<PartStart>& start)
{
    asked_ = true;
    start_ = start;
    part_ = std::move(part);
    maker_.add([this, part = part_, info, &pool, cancel, start] {
        try {
            std::string why;
            if (!part->prepare(info, pool, cancel, why))
                throw Error(Fault::storage, ENOTSUP, "open", part->files().front(), why);
            part->start();
            if (start)
                part->announce(*start);
        } catch (...) { // the files created so far are not part of the recording
            const std::exception_ptr failure = std::current_exception();
            try {
                part->close(Stop::abort);
            } catch (const std::exception&) {
            }
            std::rethrow_exception(failure);
        }
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

void NextPart::announce(const std::shared_ptr<Part>& part, const PartStart& start)
{
    start_ = start;
    maker_.add([part, start] { part->announce(start); });
}

void NextPart::expect(const PartStart& start)
{
    if (asked_ && start_ != start && maker_.left() == 0 && !maker_.failed())
        announce(part_, start);
}

bool NextPart::announced(const std::shared_ptr<Part>& part, const PartStart& start)
{
    maker_.check();
    if (maker_.left() != 0)
        return false;
    if (start_ == start)
        return true;
    announce(part, start);
    return false;
}

std::shared_ptr<Part> NextPart::abandon() noexcept
{
    maker_.finish();
    return made_ ? std::exchange(part_, nullptr) : nullptr;
}

} // namespace iio_stream::file
