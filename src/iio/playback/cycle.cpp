// SPDX-License-Identifier: MIT
#include "iio/playback/cycle.hpp"

#include "core/base/align.hpp"
#include "iio_stream/error.hpp"
#include "iio_stream/units.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <numeric>

namespace iio_stream::iio {

void Cycle::reset(BlockPool& pool, std::size_t align, std::string device)
{
    clear();
    pool_ = &pool;
    align_ = align;
    device_ = std::move(device);
    leases_.reserve(pool.count());
    copies_.reserve(pool.count());
    entries_.reserve(pool.count());
}

void Cycle::clear() noexcept
{
    entries_.clear();
    copies_.clear();
    leases_.clear();
    given_ = into_round_ = heard_ = heard_bytes_ = 0;
    rounds_ = 0;
}

// The last block stays free, because the source needs one to find out that no samples follow.
void Cycle::keep(Block filled)
{
    if (leases_.size() + 1 >= pool_->count())
        fail_usage("cyclic=on repeats at most " + std::to_string(pool_->count() - 1) +
                       " blocks of " + format_size(pool_->block_size()) + "; more came for " +
                       device_,
                   "loop=on repeats a file of any size; --blocks and --block-size make room");
    given_ += filled.bytes();
    leases_.push_back(std::move(filled));
}

void Cycle::close()
{
    std::vector<EmptyBlock> free;
    while (auto block = pool_->take())
        free.push_back(std::move(*block));
    const bool whole = std::all_of(leases_.begin(), leases_.end(), [this](const Block& lease) {
        return lease.bytes() % align_ == 0 && lease.offset() == 0;
    });
    if (whole)
        for (const Block& lease : leases_)
            entries_.push_back({lease.index(), lease.bytes()});
    const std::size_t own = entries_.size();
    // If the device does not accept these lengths, several rounds together can have a length that
    // it accepts.
    copy(std::move(free), whole ? given_ : std::lcm(given_, align_), whole ? 1 : 2);
    // A device that repeats a single block gets the longest one, because repeating a few samples is
    // a lot of work.
    if (entries_.size() > own && entries_[own].bytes % given_ == 0)
        std::rotate(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(own),
                    entries_.end());
    if (entries_.size() >= 2)
        return;
    const std::string what = std::to_string(given_) + " bytes cannot be repeated on " + device_;
    entries_.clear();
    if (!whole)
        fail_usage(what + ": it takes multiples of " + std::to_string(align_) +
                       " bytes, and there is no room for that many rounds",
                   "--blocks and --block-size make room");
    throw Error(Fault::device, ENOBUFS, "repeat", device_,
                what + " without a seam: no block is free for a copy", "raise --blocks");
}

// Copies as many units as there is room for, into at least `least` blocks of nearly equal length,
// because a short block leaves little time. Each block gets whole units if they fit, because a
// device that repeats by itself needs only one block.
void Cycle::copy(std::vector<EmptyBlock> blocks, std::size_t unit, std::size_t least)
{
    const bool fits = unit <= pool_->block_size() && blocks.size() >= least;
    const std::size_t step = fits ? unit : align_;
    const std::size_t capacity = pool_->block_size() / step * step;
    std::size_t bytes = blocks.size() * capacity / unit * unit;
    if (bytes == 0)
        return;
    const std::size_t count = std::max((bytes + capacity - 1) / capacity, least);
    const std::size_t chunk = detail::round_up((bytes + count - 1) / count, step);
    std::deque<CpuRead> leases;
    for (const Block& lease : leases_)
        leases.emplace_back(lease);
    std::size_t lease = 0, within = 0;
    for (EmptyBlock& block : blocks) {
        if (bytes == 0)
            break; // the remaining blocks go back to the pool
        const std::size_t part = std::min(chunk, bytes);
        const CpuWrite out{block};
        for (std::size_t done = 0; done < part;) {
            const auto from = leases[lease].bytes().subspan(within);
            const std::size_t some = std::min(part - done, from.size());
            std::memcpy(out.bytes().data() + done, from.data(), some);
            done += some;
            within += some;
            if (some == from.size()) {
                within = 0;
                lease = (lease + 1) % leases.size();
            }
        }
        bytes -= part;
        entries_.push_back({block.index(), part});
        copies_.push_back(std::move(block));
    }
}

void Cycle::played(std::size_t bytes) noexcept
{
    into_round_ += bytes;
    while (heard_ < leases_.size() &&
           (rounds_ != 0 || into_round_ >= heard_bytes_ + leases_[heard_].bytes()))
        heard_bytes_ += leases_[heard_++].bytes();
    rounds_ += into_round_ / given_;
    into_round_ %= given_;
}

} // namespace iio_stream::iio
