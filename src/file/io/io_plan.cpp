// SPDX-License-Identifier: MIT
#include "file/io/io_plan.hpp"

#include "core/base/text.hpp"
#include "file/options.hpp"
#include "iio_stream/units.hpp"
#include "sys/disk/io_refusal.hpp"
#include "sys/files.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>
#include <vector>

namespace iio_stream::file {

namespace {

constexpr std::size_t kInFlight =
    16 << 20; ///< bytes: enough for disks, and little compared with 250 ms of blocks
constexpr std::size_t kFewest = 4, kMost = 32; ///< requests in flight, by default
constexpr std::size_t kBesides = 2;            ///< an allocation and a sync

constexpr const char* kNotAFile = "it is not a regular file";

/// Words for messages, for each direction.
struct Words {
    const char *verb, *preposition, *through, *does;
};

Words words_of(IoDirection direction)
{
    if (direction == IoDirection::write)
        return {"write", "to", "write() copies into the page cache", "writes"};
    return {"read", "from", "read() copies out of the page cache", "reads"};
}

IoEngine parse_engine(const std::string& text)
{
    if (text == "auto")
        return IoEngine::automatic;
    if (text == "io_uring")
        return IoEngine::io_uring;
    if (text == "libaio")
        return IoEngine::libaio;
    return IoEngine::buffered;
}

// The error if bypassing the page cache is required, and the last possible engine is refused.
Error direct_io_refused(const IoSettings& settings, const Words& words, const std::string& path,
                        const std::string& why, const sys::IoRefusal& refusal)
{
    std::string with = " directly ", hint = "direct=auto falls back to the page cache";
    if (settings.engine == IoEngine::libaio) {
        with = " with libaio ";
        hint = "engine=auto takes io_uring or the page cache";
    } else if (settings.engine == IoEngine::io_uring) {
        with = " with io_uring ";
        hint = "engine=auto falls back to libaio";
    }
    if (!refusal.fix.empty())
        hint = refusal.fix + "; " + hint;
    return {Fault::storage, refusal.error, words.verb + with + words.preposition, path, why, hint};
}

sys::DirectIo ability(const FileTarget& target, IoDirection direction)
{
    if (target.is_special)
        return {0, 0, kNotAFile};
    if (direction == IoDirection::read && !sys::path_exists(target.path))
        return {0, 0, "it does not exist"}; // opening it will report that
    return sys::direct_io_at(target.path);
}

} // namespace

void IoSettings::take(Options& options)
{
    engine = parse_engine(options.take_or_standard(kIoOptions["engine"]));
    const std::string wanted = options.take_or_standard(kIoOptions["direct"]);
    if (wanted != "auto")
        direct = parse_switch("direct", wanted) ? Direct::on : Direct::off;
    if (direct == Direct::on && engine == IoEngine::buffered)
        fail_usage("direct=on and engine=buffered exclude each other");
    if (direct == Direct::off && engine != IoEngine::automatic && engine != IoEngine::buffered)
        fail_usage("direct=off: only engine=buffered goes through the page cache");
    if (const auto requests = options.take_memory_size(kIoOptions["depth"])) {
        depth = *requests;
        if (depth == 0 || depth > 256)
            fail_usage("depth=" + std::to_string(depth) + ": must be 1 to 256");
    }
}

std::size_t IoSettings::depth_for(std::size_t request_bytes, std::size_t pool_bytes) const noexcept
{
    return depth != 0 ? depth
                      : std::clamp(std::min(kInFlight, pool_bytes) / request_bytes, kFewest, kMost);
}

std::size_t IoSettings::most_requests() const noexcept
{
    return (depth != 0 ? depth : kMost) + kBesides;
}

const char* FileIoPlan::mechanism() const noexcept
{
    if (engine == IoEngine::io_uring)
        return "io_uring-direct";
    return engine == IoEngine::libaio ? "libaio-direct" : "buffered";
}

std::string FileIoPlan::why_staged(const MemoryTraits& traits, IoDirection direction) const
{
    if (!traits.direct_io)
        return std::string("the disk cannot ") +
               (direction == IoDirection::write ? "read " : "write into ") + traits.memory.name() +
               " directly";
    if (traits.block_size % io.offset_align != 0)
        return "blocks are not multiples of the disk's " + std::to_string(io.offset_align) +
               " bytes";
    return "";
}

FileIoPlan plan_file_io(const IoSettings& settings, const FileTarget& target, IoDirection direction)
{
    const std::string& path = target.path;
    const Words words = words_of(direction);
    FileIoPlan plan;
    if (settings.engine == IoEngine::buffered || settings.direct == Direct::off) {
        plan.reason = settings.engine == IoEngine::buffered ? "engine=buffered was given"
                                                            : "direct=off was given";
        return plan;
    }
    plan.io = ability(target, direction);
    if (!plan.io.possible()) {
        if (settings.forced() && (direction == IoDirection::write || sys::path_exists(path)))
            throw Error(
                Fault::storage, EINVAL, std::string(words.verb) + " directly " + words.preposition,
                path, plan.io.refusal,
                std::string("direct=auto ") + words.does + " through the page cache if necessary");
        plan.reason = std::string(words.through) + ": " + plan.io.refusal;
        return plan;
    }
    sys::IoRefusal refusal;
    for (const IoEngine engine : {IoEngine::io_uring, IoEngine::libaio}) {
        if (settings.engine != IoEngine::automatic && settings.engine != engine)
            continue;
        plan.engine = engine;
        refusal = engine == IoEngine::io_uring ? sys::io_uring_refusal()
                                               : sys::aio_refusal(settings.most_requests());
        if (!refusal.refused())
            return plan;
        detail::add_clause(plan.reason, refusal.why);
    }
    if (settings.forced())
        throw direct_io_refused(settings, words, path, plan.reason, refusal);
    if (plan.reason == kNotAFile) // a pipe has no page cache
        return {IoEngine::buffered, {}, std::string(words.verb) + "() copies: " + plan.reason};
    return {IoEngine::buffered, {}, std::string(words.through) + ": " + plan.reason};
}

std::unique_ptr<sys::IoQueue> make_io_queue(IoEngine engine, int fd, const std::string& path,
                                            std::size_t depth, const BlockPool& pool,
                                            std::size_t registered, const BlockPool& stages)
{
    if (engine == IoEngine::libaio)
        return sys::make_aio_queue(fd, path, depth);
    std::vector<std::span<std::byte>> buffers;
    for (std::size_t i = 0; i < registered; ++i)
        buffers.push_back(pool.mapping(i));
    for (std::size_t i = 0; i < stages.count(); ++i)
        buffers.push_back(stages.mapping(i));
    return sys::make_uring_queue(fd, path, depth, buffers);
}

std::string queue_remark(const sys::IoQueue& queue)
{
    const int error = queue.register_error();
    if (error == 0)
        return "";
    return std::string("pages are pinned again for each request: ") +
           (error == ENOMEM ? "RLIMIT_MEMLOCK is too small to register the blocks"
                            : std::strerror(error));
}

} // namespace iio_stream::file
