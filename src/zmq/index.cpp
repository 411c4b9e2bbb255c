// SPDX-License-Identifier: MIT
#include "zmq/index.hpp"

#include "core/loss/losses.hpp"

#include <algorithm>
#include <cstring>

namespace iio_stream::zmq {

namespace {

constexpr std::uint32_t kIndexVersion = 1;
constexpr std::uint64_t kMostSamples = std::uint64_t{1} << 62; ///< larger than any plausible stream

template <typename T>
void put_little(std::byte*& at, T value) noexcept
{
    for (std::size_t i = 0; i < sizeof value; ++i)
        *at++ = static_cast<std::byte>(value >> (8 * i));
}

template <typename T>
T take_little(const std::byte*& at) noexcept
{
    T value = 0;
    for (std::size_t i = 0; i < sizeof value; ++i)
        value |= static_cast<T>(std::to_integer<T>(*at++) << (8 * i));
    return value;
}

} // namespace

std::array<std::byte, Index::kBytes> Index::encode() const noexcept
{
    std::array<std::byte, kBytes> out{};
    std::memcpy(out.data(), kIndexKey.data(), kIndexKey.size());
    std::byte* at = out.data() + kIndexKey.size();
    put_little(at, kIndexVersion);
    put_little(at, sample_bytes);
    for (const std::uint64_t count : {stream, sequence, first, doubt, reach, spread})
        put_little(at, count);
    return out;
}

std::optional<Index> Index::decode(std::span<const std::byte> bytes) noexcept
{
    if (bytes.size() != kBytes ||
        std::memcmp(bytes.data(), kIndexKey.data(), kIndexKey.size()) != 0)
        return std::nullopt;
    const std::byte* at = bytes.data() + kIndexKey.size();
    if (take_little<std::uint32_t>(at) != kIndexVersion)
        return std::nullopt;
    Index index;
    index.sample_bytes = take_little<std::uint32_t>(at);
    for (std::uint64_t* count :
         {&index.stream, &index.sequence, &index.first, &index.doubt, &index.reach, &index.spread})
        *count = take_little<std::uint64_t>(at);
    if (index.first > kMostSamples)
        return std::nullopt;
    return index;
}

void Indexer::reset(std::uint64_t stream, std::size_t sample_bytes)
{
    next_ = {};
    next_.stream = stream;
    next_.sample_bytes = static_cast<std::uint32_t>(sample_bytes);
    position_ = 0;
}

// If blocks before this one were dropped, their reports of losses were dropped, too. This block's
// sample index counts the certain losses, and index_exact() is false if there may be more.
void Indexer::begin(const Block& filled) noexcept
{
    const bool unreported = next_.doubt == 0 && next_.spread == 0 && filled.gaps().empty();
    if (!filled.index_exact() && (unreported || filled.position() != position_))
        next_.doubt = kUnknown;
    const bool zeros = filled.sequence() == kUnknown; // zeros are not samples of the source
    position_ = filled.position() + (zeros ? 0 : filled.bytes() / next_.sample_bytes);
}

void Indexer::doubt(const Gap& gap) noexcept
{
    const std::uint64_t more = gap.lost_max == kUnknown ? kUnknown : gap.lost_max - gap.lost_min;
    next_.doubt = detail::add_losses(next_.doubt, more);
    next_.reach = std::max(next_.reach, gap.offset_max - gap.offset_min);
    next_.spread += gap.offset_max != gap.offset_min ? 1 : 0;
}

Index Indexer::number(std::uint64_t first, std::uint64_t samples) noexcept
{
    next_.first = std::max(next_.first, first); // a zero fill may have advanced it already
    const Index index = next_;
    next_.first += samples;
    ++next_.sequence;
    next_.reach = 0;
    return index;
}

bool IndexReader::account(const Index& index, std::uint64_t samples, std::uint64_t here,
                          detail::SampleTracker& tracker)
{
    const auto gap = [&](std::uint64_t reach, std::uint64_t least, std::uint64_t most) {
        if (most != 0)
            tracker.gap({here - std::min(reach, here), here, least, most, Evidence::counter});
    };
    if (!last_ || index.stream != last_->stream) {
        // The sender has restarted, or its source cannot detect losses.
        if (last_ || index.doubt == kUnknown)
            gap(0, 0, kUnknown);
    } else {
        if (index.sequence <= last_->sequence || index.first < expected_ ||
            index.doubt < last_->doubt || index.spread < last_->spread)
            return false;
        const std::uint64_t lost = index.first - expected_;
        const std::uint64_t doubt = index.doubt == last_->doubt ? 0
                                    : index.doubt == kUnknown   ? kUnknown
                                                                : index.doubt - last_->doubt;
        if (index.sequence == last_->sequence + 1) {
            gap(index.reach, lost, detail::add_losses(lost, doubt));
        } else { // the losses reported by a missing message may have been anywhere
            const bool anywhere = index.spread != last_->spread;
            gap(anywhere ? here : 0, lost, lost);
            gap(here, 0, doubt);
        }
    }
    last_ = index;
    expected_ = index.first + samples;
    return true;
}

} // namespace iio_stream::zmq
