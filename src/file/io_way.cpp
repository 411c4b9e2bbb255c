// SPDX-License-Identifier: MIT
#include "file/io_way.hpp"

#include "core/text.hpp"
#include "file/options.hpp"
#include "iio_stream/units.hpp"
#include "sys/files.hpp"
#include "sys/io_refusal.hpp"
#include "sys/stream_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>
#include <vector>

namespace iio_stream::file {

namespace {

constexpr std::size_t kInFlight =
    16 << 20; ///< bytes: enough for disks, and a small part of 250 ms of blocks
constexpr std::size_t kFewest = 4, kMost = 32; ///< requests in flight, by default
constexpr std::size_t kBesides = 2;            ///< an allocation and a sync

constexpr const char* kNotAFile = "it is not a regular file";

/// Words for messages, for each direction.
struct Words {
    const char *verb, *preposition, *through, *does;
};

Words words_of(Use use)
{
    if (use == Use::write)
        return {"write", "to", "write() copies into the page cache", "writes"};
    return {"read", "from", "read() copies out of the page cache", "reads"};
}

Engine parse_engine(const std::string& text)
{
    if (text == "auto")
        return Engine::automatic;
    if (text == "io_uring")
        return Engine::io_uring;
    if (text == "libaio")
        return Engine::libaio;
    return Engine::buffered;
}

// Bypassing the page cache is required, and the last possible way was refused.
Error no_way(const IoSettings& settings, const Words& words, const std::string& path,
             const std::string& why, const sys::IoRefusal& refusal)
{
    std::string with = " directly ", hint = "direct=auto falls back to the page cache";
    if (settings.engine == Engine::libaio) {
        with = " with libaio ";
        hint = "engine=auto takes io_uring or the page cache";
    } else if (settings.engine == Engine::io_uring) {
        with = " with io_uring ";
        hint = "engine=auto falls back to libaio";
    }
    if (!refusal.fix.empty())
        hint = refusal.fix + "; " + hint;
    return {Fault::storage, refusal.error, words.verb + with + words.preposition, path, why, hint};
}

sys::DirectIo ability(const std::string& path, Use use)
{
    if (path == "-" || sys::is_special(path))
        return {0, 0, kNotAFile};
    if (use == Use::read && !sys::path_exists(path))
        return {0, 0, "it does not exist"}; // opening it will report that
    return sys::direct_io_at(path);
}

} // namespace

void IoSettings::take(Options& options)
{
    engine = parse_engine(options.take_or_standard(kIoOptions["engine"]));
    const std::string wanted = options.take_or_standard(kIoOptions["direct"]);
    if (wanted != "auto")
        direct = parse_switch("direct", wanted) ? Direct::on : Direct::off;
    if (direct == Direct::on && engine == Engine::buffered)
        fail_usage("direct=on and engine=buffered exclude each other");
    if (direct == Direct::off && engine != Engine::automatic && engine != Engine::buffered)
        fail_usage("direct=off: only engine=buffered goes through the page cache");
    if (const auto requests = options.take(kIoOptions["depth"])) {
        depth = parse_memory_size("depth", *requests);
        if (depth == 0 || depth > 256)
            fail_usage("depth=" + *requests + ": must be 1 to 256");
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

const char* Way::mechanism() const noexcept
{
    if (engine == Engine::io_uring)
        return "io_uring-direct";
    return engine == Engine::libaio ? "libaio-direct" : "buffered";
}

std::string Way::why_staged(const MemoryTraits& traits, Use use) const
{
    if (!traits.direct_io)
        return std::string("the disk cannot ") + (use == Use::write ? "read " : "write into ") +
               traits.memory.name() + " directly";
    if (traits.block_size % io.offset_align != 0)
        return "blocks are not multiples of the disk's " + std::to_string(io.offset_align) +
               " bytes";
    return "";
}

Way choose_way(const IoSettings& settings, const std::string& path, Use use)
{
    const Words words = words_of(use);
    Way way;
    if (settings.engine == Engine::buffered || settings.direct == Direct::off) {
        way.reason = settings.engine == Engine::buffered ? "engine=buffered was given"
                                                         : "direct=off was given";
        return way;
    }
    way.io = ability(path, use);
    if (!way.io.possible()) {
        if (settings.forced() && (use == Use::write || sys::path_exists(path)))
            throw Error(
                Fault::storage, EINVAL, std::string(words.verb) + " directly " + words.preposition,
                path, way.io.refusal,
                std::string("direct=auto ") + words.does + " through the page cache if it must");
        way.reason = std::string(words.through) + ": " + way.io.refusal;
        return way;
    }
    sys::IoRefusal refusal;
    for (const Engine engine : {Engine::io_uring, Engine::libaio}) {
        if (settings.engine != Engine::automatic && settings.engine != engine)
            continue;
        way.engine = engine;
        refusal = engine == Engine::io_uring ? sys::io_uring_refusal()
                                             : sys::aio_refusal(settings.most_requests());
        if (!refusal.refused())
            return way;
        detail::add_clause(way.reason, refusal.why);
    }
    if (settings.forced())
        throw no_way(settings, words, path, way.reason, refusal);
    if (way.reason == kNotAFile) // a pipe has no page cache
        return {Engine::buffered, {}, std::string(words.verb) + "() copies: " + way.reason};
    return {Engine::buffered, {}, std::string(words.through) + ": " + way.reason};
}

std::unique_ptr<sys::IoQueue> make_queue(Engine engine, int fd, const std::string& path,
                                         std::size_t depth, const BlockPool& pool,
                                         std::size_t registered, const BlockPool& stages)
{
    if (engine == Engine::libaio)
        return sys::make_aio_queue(fd, path, depth);
    std::vector<std::span<std::byte>> buffers;
    for (std::size_t i = 0; i < registered; ++i)
        buffers.push_back(pool.mapping(i));
    for (std::size_t i = 0; i < stages.count(); ++i)
        buffers.push_back(stages.mapping(i));
    return sys::make_uring_queue(fd, path, depth, buffers);
}

std::string remark_on(const sys::IoQueue& queue)
{
    const int error = queue.register_error();
    if (error == 0)
        return "";
    return std::string("pages are pinned again for each request: ") +
           (error == ENOMEM ? "RLIMIT_MEMLOCK is too small to register the blocks"
                            : std::strerror(error));
}

} // namespace iio_stream::file
