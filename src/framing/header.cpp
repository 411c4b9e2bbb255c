// SPDX-License-Identifier: MIT
#include "framing/header.hpp"

#include "core/loss/losses.hpp"
#include "framing/bytes.hpp"
#include "framing/crc32c.hpp"

#include <algorithm>
#include <utility>

namespace iio_stream::framing {

namespace {

constexpr std::uint32_t kMagic = 0x534f4949; // "IIOS"
constexpr unsigned kHeaderVersion = 1;
constexpr std::uint32_t kKnownFlags =
    Header::end | Header::index_guessed | Header::unverified | Header::broken | Header::utc;
constexpr std::uint32_t kNoEvidence = 0xff;
constexpr unsigned kChecked = 1; ///< the header has a CRC-32C checksum; earlier versions ignore
                                 ///< this flag

std::int64_t relative(std::uint64_t offset, std::uint64_t position) noexcept
{
    return static_cast<std::int64_t>(offset - position);
}

bool sensible(const Header::Loss& loss) noexcept
{
    constexpr auto kFarthest = static_cast<std::int64_t>(kLastIndex);
    return loss.offset_min <= loss.offset_max && loss.offset_min >= -kFarthest &&
           loss.offset_max <= kFarthest && loss.lost_min <= loss.lost_max &&
           loss.lost_min <= kLastIndex &&
           (loss.lost_max <= kLastIndex || loss.lost_max == kUnknown);
}

bool sensible(const Header& header) noexcept
{
    if (header.sample_index > kLastIndex || (header.loss && !sensible(*header.loss)))
        return false;
    if ((header.flags & ~kKnownFlags) != 0 || header.valid_bytes > header.wire_bytes ||
        header.wire_bytes % kPacketBytes != 0)
        return false;
    if ((header.flags & Header::end) != 0)
        return header.wire_bytes == 0;
    return header.valid_bytes != 0 && (header.flags & Header::broken) == 0;
}

} // namespace

void Header::encode(HeaderBytes out) const noexcept
{
    std::byte* p = out.data();
    const Loss none{0, 0, 0, 0, {}};
    const Loss& gap = loss ? *loss : none;
    put_number(p, kMagic, 4);
    put_number(p + 4, kHeaderVersion, 2);
    put_number(p + 6, kHeaderBytes, 2);
    put_number(p + 8, stream_id, 4);
    put_number(p + 12, flags, 4);
    put_number(p + 16, sequence, 8);
    put_number(p + 24, sample_index, 8);
    put_number(p + 32, static_cast<std::uint64_t>(time_ns), 8);
    put_number(p + 40, wire_bytes, 4);
    put_number(p + 44, valid_bytes, 4);
    put_number(p + 48, loss ? static_cast<std::uint32_t>(gap.evidence) : kNoEvidence, 4);
    put_number(p + 52, checksum ? kChecked : 0, 4);
    put_number(p + 56, static_cast<std::uint64_t>(gap.offset_min), 8);
    put_number(p + 64, static_cast<std::uint64_t>(gap.offset_max), 8);
    put_number(p + 72, gap.lost_min, 8);
    put_number(p + 80, gap.lost_max, 8);
    put_number(p + 88, checksum.value_or(0), 8);
    put_number(p + 96, crc32c(out.first(96)), 4);
}

std::optional<Header> Header::decode(std::span<const std::byte> bytes) noexcept
{
    const std::byte* p = bytes.data();
    if (bytes.size() != kHeaderBytes || get_number(p, 4) != kMagic ||
        get_number(p + 4, 2) != kHeaderVersion || get_number(p + 6, 2) != kHeaderBytes ||
        get_number(p + 96, 4) != crc32c(bytes.first(96)))
        return std::nullopt;
    Header h;
    h.stream_id = static_cast<std::uint32_t>(get_number(p + 8, 4));
    h.flags = static_cast<std::uint32_t>(get_number(p + 12, 4));
    h.sequence = get_number(p + 16, 8);
    h.sample_index = get_number(p + 24, 8);
    h.time_ns = static_cast<std::int64_t>(get_number(p + 32, 8));
    h.wire_bytes = static_cast<std::uint32_t>(get_number(p + 40, 4));
    h.valid_bytes = static_cast<std::uint32_t>(get_number(p + 44, 4));
    const std::uint64_t evidence = get_number(p + 48, 4);
    if (evidence <= static_cast<std::uint64_t>(Evidence::starvation)) {
        h.loss = {static_cast<std::int64_t>(get_number(p + 56, 8)),
                  static_cast<std::int64_t>(get_number(p + 64, 8)), get_number(p + 72, 8),
                  get_number(p + 80, 8), static_cast<Evidence>(evidence)};
    } else if (evidence != kNoEvidence) {
        return std::nullopt;
    }
    if (get_number(p + 52, 4) == kChecked)
        h.checksum = static_cast<std::uint32_t>(get_number(p + 88, 4));
    return sensible(h) ? std::optional(h) : std::nullopt;
}

std::optional<Header::Loss> merge_losses(std::span<const Gap> gaps, std::uint64_t position) noexcept
{
    std::optional<Header::Loss> all;
    for (const Gap& gap : gaps) {
        const Header::Loss one{relative(gap.offset_min, position),
                               relative(gap.offset_max, position), gap.lost_min, gap.lost_max,
                               gap.evidence};
        all = merged(all, one);
    }
    return all;
}

std::optional<Header::Loss> merged(const std::optional<Header::Loss>& a,
                                   const std::optional<Header::Loss>& b) noexcept
{
    if (!a || !b)
        return a ? a : b;
    return Header::Loss{
        std::min(a->offset_min, b->offset_min), std::max(a->offset_max, b->offset_max),
        detail::add_least(a->lost_min, b->lost_min), detail::add_losses(a->lost_max, b->lost_max),
        std::max(a->evidence, b->evidence)}; // the weaker evidence
}

std::optional<Header::Loss> seen_from_behind(std::optional<Header::Loss> loss,
                                             std::uint64_t samples) noexcept
{
    if (!loss)
        return loss;
    // A loss further back than this is irrelevant.
    constexpr std::int64_t kFarthest = std::int64_t{1} << 62;
    const auto far = static_cast<std::int64_t>(std::min<std::uint64_t>(samples, kFarthest));
    for (std::int64_t* offset : {&loss->offset_min, &loss->offset_max})
        *offset = std::max(*offset, far - kFarthest) - far;
    return loss;
}

std::optional<Header::Loss> merge_trailing(std::span<const Gap> gaps) noexcept
{
    auto loss = merge_losses(gaps, 0);
    if (loss)
        loss->offset_min = loss->offset_max = 0;
    return loss;
}

Header first_part(const Header& header, std::size_t bytes, std::size_t sample_bytes) noexcept
{
    Header part = header;
    const std::size_t samples = std::min<std::size_t>(bytes, header.valid_bytes) / sample_bytes;
    part.valid_bytes = static_cast<std::uint32_t>(samples * sample_bytes);
    if (std::exchange(part.checksum, std::nullopt))
        part.flags |= Header::unverified;
    if ((part.flags & Header::utc) != 0 && part.valid_bytes != header.valid_bytes)
        part.time_ns = 0; // it is the time of the block's end
    if (part.loss && part.loss->offset_min > 0 &&
        static_cast<std::uint64_t>(part.loss->offset_min) >= samples)
        part.loss.reset(); // the loss is after these samples
    return part;
}

Time time_of(const Header& header, std::int64_t offset_ns,
             std::optional<std::uint64_t> uncertainty_ns) noexcept
{
    const bool is_utc = (header.flags & Header::utc) != 0; // can be before 1970
    if (header.time_ns == 0 || header.time_ns >= kClockEndNs ||
        header.time_ns <= (is_utc ? -kClockEndNs : 0))
        return {};
    if (is_utc)
        return {Clock::realtime, header.time_ns, std::nullopt};
    return {Clock::monotonic, header.time_ns + offset_ns, uncertainty_ns};
}

Header describe(const Block& filled, std::size_t wire_bytes) noexcept
{
    Header h;
    h.sample_index = filled.sample_index();
    h.flags = (filled.index_exact() ? 0u : Header::index_guessed) |
              (filled.state() == BlockState::unverified ? Header::unverified : 0u);
    h.time_ns = filled.time().ns;
    if (filled.time().clock == Clock::realtime)
        h.flags |= Header::utc;
    h.wire_bytes = static_cast<std::uint32_t>(wire_bytes);
    h.valid_bytes = static_cast<std::uint32_t>(filled.bytes());
    h.loss = merge_losses(filled.gaps(), filled.position());
    return h;
}

} // namespace iio_stream::framing
