// SPDX-License-Identifier: MIT
#include "core/memory/bounce.hpp"

#include "core/base/align.hpp"
#include "core/base/text.hpp"
#include "core/memory/memory_backend.hpp"
#include "sys/event.hpp"
#include "sys/machine.hpp"
#include "sys/memory/cache.hpp"
#include "sys/memory/dmabuf.hpp"
#include "sys/memory/pagemap.hpp"

#include <algorithm>
#include <cstring>

namespace iio_stream::detail {

namespace {

constexpr std::uint64_t kSecondMark =
    ~std::uint64_t{0}; ///< XORed with the first mark, it gives the second mark

// Brackets CPU access like CpuRead and CpuWrite, for a buffer without an EmptyBlock.
class Access {
public:
    Access(int dmabuf, sys::CpuAccess how) : dmabuf_(dmabuf), how_(how)
    {
        sys::dmabuf_begin_cpu(dmabuf, how);
    }
    Access(const Access&) = delete;
    ~Access() { sys::dmabuf_end_cpu(dmabuf_, how_); }

private:
    int dmabuf_;
    sys::CpuAccess how_;
};

} // namespace

BounceTest::BounceTest(const BlockPool& pool, std::size_t index)
    : dmabuf_(pool.dmabuf(index)),
      bytes_(pool.mapping(index)),
      seed_(static_cast<std::uint64_t>(sys::monotonic_ns()) * 0x9e3779b97f4a7c15)
{
    if (bytes_.empty()) {
        own_ =
            sys::Mapping::of_file(dmabuf_, pool.block_size(), 0, sys::Access::read_write, "DMABUF");
        bytes_ = {own_.data(), own_.bytes()};
    }
    const Access access(dmabuf_, sys::CpuAccess::read_write);
    put(0);
}

// A value that other data contain only by chance, with a probability of 2^-64 (splitmix64).
std::uint64_t BounceTest::mark(std::size_t page) const noexcept
{
    std::uint64_t z = seed_ + (page + 1) * 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

void BounceTest::put(std::uint64_t flip)
{
    for (std::size_t at = 0; at + sizeof flip <= bytes_.size(); at += kPage) {
        const std::uint64_t word = mark(at / kPage) ^ flip;
        std::memcpy(bytes_.data() + at, &word, sizeof word);
    }
}

void BounceTest::attached()
{
    put(kSecondMark);
    // SYNC could discard data that are still in a cache, which would look like bouncing.
    sys::write_caches_back(bytes_, kPage);
}

bool BounceTest::bounced()
{
    // The bracket itself makes the kernel copy a bounced page back if the exporter passes SYNC on.
    const Access access(dmabuf_, sys::CpuAccess::read);
    for (std::size_t at = 0; at + sizeof seed_ <= bytes_.size(); at += kPage) {
        const std::uint64_t expected = mark(at / kPage) ^ kSecondMark;
        if (std::memcmp(bytes_.data() + at, &expected, sizeof expected) != 0)
            return true;
    }
    return false;
}

std::size_t BounceTest::untouched(std::size_t transferred) const
{
    const Access access(dmabuf_, sys::CpuAccess::read);
    std::size_t pages = 0;
    for (std::size_t at = 0; at + sizeof seed_ <= transferred; at += kPage) {
        const std::uint64_t put_there = mark(at / kPage);
        pages += std::memcmp(bytes_.data() + at, &put_there, sizeof put_there) == 0 ? 1 : 0;
    }
    return pages;
}

void BounceTest::wipe()
{
    const Access access(dmabuf_, sys::CpuAccess::read_write);
    for (std::size_t at = 0; at + sizeof seed_ <= bytes_.size(); at += kPage)
        std::memset(bytes_.data() + at, 0, sizeof seed_);
}

bool sync_reveals_bounces(const Memory& memory) noexcept
{
    return backend_of(memory).sync_reaches_devices;
}

bool is_in_dma_reach(const BlockPool& pool)
{
    if (sys::bouncing_is_forced())
        return false;
    for (std::size_t i = 0; i < pool.count(); ++i) {
        // This is the memfd's mapping, because pagemap shows nothing for a mapping of the DMABUF.
        const auto end = sys::highest_address(pool.mapping(i));
        if (!end || *end > sys::kDmaReach)
            return false;
    }
    return true;
}

std::string dma_reach_remark(const BlockPool& pool)
{
    if (sync_reveals_bounces(pool.traits().memory) || !sys::memory_may_bounce())
        return "";
    return pool.traits().memory.name() + ": every page is below 4 GiB (/proc/self/pagemap)";
}

std::string bounced_text(const std::string& device)
{
    return device +
           " cannot address it: the kernel would copy the blocks (swiotlb) without keeping the "
           "copies in sync";
}

void MemoryRefusals::add(const Memory& memory, std::string why)
{
    list_.emplace_back(memory, std::move(why));
}

std::string MemoryRefusals::of(const Memory& memory) const
{
    for (const auto& [refused, why] : list_)
        if (refused == memory)
            return why;
    return "";
}

std::string MemoryRefusals::why_copied(const std::string& asked, const std::string& by_device) const
{
    if (!asked.empty())
        return asked;
    return by_device.empty() ? text() : by_device;
}

std::string MemoryRefusals::text() const
{
    std::string text;
    for (const auto& [memory, why] : list_)
        add_clause(text, memory.name() + ": " + why);
    return text;
}

} // namespace iio_stream::detail
