// SPDX-License-Identifier: MIT
#include "file/io_way.hpp"

#include "iio_stream/units.hpp"
#include "sys/files.hpp"
#include "sys/machine.hpp"
#include "sys/stream_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>
#include <vector>

namespace iio_stream::file {

namespace {

constexpr std::size_t kInFlight = 16 << 20; ///< bytes: enough for disks, few of 250 ms of blocks

/// What the messages say of each direction.
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
    if (text == "buffered")
        return Engine::buffered;
    fail_usage("engine=" + text + " does not move files",
               suggest(text, {"auto", "io_uring", "libaio", "buffered"}));
}

sys::DirectIo ability(const std::string& path, Use use)
{
    if (path == "-" || sys::is_special(path))
        return {0, 0, "it is not a regular file"};
    if (use == Use::read && !sys::path_exists(path))
        return {0, 0, "it does not exist"}; // opening it will tell
    return sys::direct_io_at(path);
}

} // namespace

void IoSettings::take(Options& options)
{
    engine = parse_engine(options.take("engine", "auto"));
    const std::string wanted = options.take("direct", "auto");
    if (wanted != "auto")
        direct = parse_switch("direct", wanted) ? Direct::on : Direct::off;
    if (direct == Direct::on && engine == Engine::buffered)
        fail_usage("direct=on and engine=buffered exclude each other");
    if (direct == Direct::off && engine != Engine::automatic && engine != Engine::buffered)
        fail_usage("direct=off: only engine=buffered goes through the page cache");
    if (const auto requests = options.take("depth")) {
        depth = parse_memory_size("depth", *requests);
        if (depth == 0 || depth > 256)
            fail_usage("depth=" + *requests + ": 1 to 256 requests in flight are possible");
    }
}

std::size_t IoSettings::depth_for(std::size_t block_bytes) const noexcept
{
    return depth != 0 ? depth : std::clamp<std::size_t>(kInFlight / block_bytes, 4, 32);
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
               traits.memory.name() + " itself";
    if (traits.block_bytes % io.offset_align != 0)
        return "blocks are no multiples of the disk's " + std::to_string(io.offset_align) + " bytes";
    return "";
}

Way choose_way(const IoSettings& settings, const std::string& path, Use use)
{
    const Words words = words_of(use);
    Way way;
    if (settings.engine == Engine::buffered || settings.direct == Direct::off) {
        way.reason = settings.engine == Engine::buffered ? "engine=buffered was asked for"
                                                         : "direct=off was asked for";
        return way;
    }
    way.io = ability(path, use);
    if (!way.io.possible()) {
        if (settings.forced() && (use == Use::write || sys::path_exists(path)))
            throw Error(Fault::storage, EINVAL,
                        std::string(words.verb) + " directly " + words.preposition, path,
                        way.io.refusal,
                        std::string("direct=auto ") + words.does +
                            " through the page cache where it must");
        way.reason = std::string(words.through) + ": " + way.io.refusal;
        return way;
    }
    way.engine = settings.engine == Engine::automatic ? Engine::io_uring : settings.engine;
    const std::string refusal = way.engine == Engine::io_uring ? sys::io_uring_refusal() : "";
    if (!refusal.empty() && settings.engine == Engine::io_uring)
        throw Error(Fault::storage, EPERM,
                    std::string(words.verb) + " with io_uring " + words.preposition, path, refusal,
                    "engine=auto takes libaio where it must");
    if (!refusal.empty()) {
        way.engine = Engine::libaio;
        way.reason = refusal;
    }
    return way;
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
    return std::string("pages are pinned anew for each request: ") +
           (error == ENOMEM ? "RLIMIT_MEMLOCK is too small to register the blocks"
                            : std::strerror(error));
}

} // namespace iio_stream::file
