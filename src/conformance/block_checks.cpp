// SPDX-License-Identifier: MIT
// 404 to 407: what the kernel reports about blocks, and what is in their memory.
#include "conformance/marked_blocks.hpp"
#include "conformance/streaming.hpp"
#include "iio_stream/reader.hpp"

#include <algorithm>
#include <cstring>

namespace iio_stream::conformance {

namespace {

using namespace std::chrono_literals;

constexpr int kStatusBlocks = 32;
constexpr double kLateWait = 1; ///< seconds: a busy machine wakes a program late

/// What the blocks of a stream looked like.
struct Seen {
    std::int64_t blocks = 0, unverified = 0;
    std::string wrong;
};

void look_at(const Block& block, const Block* last, Seen& seen)
{
    ++seen.blocks;
    seen.unverified += block.state() == BlockState::unverified;
    if (last == nullptr)
        return;
    const std::string name = "block " + std::to_string(block.sequence());
    if (block.sequence() != last->sequence() + 1)
        seen.wrong = name + " follows block " + std::to_string(last->sequence());
    else if (block.time().ns < last->time().ns)
        seen.wrong = name + " was complete before the one ahead of it";
    else if (block.position() != last->position() + last->samples())
        seen.wrong = name + " begins at sample " + std::to_string(block.position()) +
                     " instead of " + std::to_string(last->position() + last->samples());
}

void status_by(Run& run, const Subject& subject, const Way& way)
{
    PipelineConfig config = capture_config(subject, way);
    config.sinks.clear();
    config.block_size = block_bytes(subject, 0.005, 64 * 1024);
    Reader reader(config);
    Seen seen;
    std::optional<Block> last;
    while (seen.blocks < kStatusBlocks && seen.wrong.empty() && !run.stopped()) {
        auto block = reader.next(3s);
        if (!block)
            break;
        look_at(*block, last ? &*last : nullptr, seen);
        last.emplace(std::move(*block));
    }
    last.reset();
    reader.stop();
    const Summary summary = reader.close();
    const SourceStats& counts = summary.source_stats;
    Facts facts{{"blocks", seen.blocks},
                {"unverified", seen.unverified},
                {"errors", static_cast<std::int64_t>(counts.error_blocks)}};
    run.blame(summary.error);
    if (seen.wrong.empty() && summary.error)
        seen.wrong = summary.error->what();
    if (counts.error_blocks != 0) // their numbers are missing in the order
        seen.wrong = std::to_string(counts.error_blocks) + " of " +
                     std::to_string(summary.stats.blocks) + " blocks failed in the DMA";
    if (seen.wrong.empty() && seen.blocks == 0)
        seen.wrong = "no block came within 3 s";
    if (!seen.wrong.empty())
        run.fail(seen.wrong, std::move(facts), way.text());
    else
        run.pass(std::to_string(seen.blocks) + " blocks in order" +
                     (seen.unverified == 0
                          ? ""
                          : ", " + std::to_string(seen.unverified) + " without a status"),
                 std::move(facts), way.text());
}

// Memories that this subject takes as DMABUFs.
std::vector<Memory> dmabuf_memories(const Subject& subject)
{
    std::vector<Memory> memories;
    for (const Way& way : subject.ways)
        if (way.path == "dmabuf")
            memories.push_back(Memory::parse("memory", way.memory));
    return memories;
}

void for_each_memory(Run& run, const Subject& subject,
                     void (*check)(Run&, const Subject&, const Memory&))
{
    const std::vector<Memory> memories = dmabuf_memories(subject);
    if (memories.empty())
        run.skip("the buffer takes no DMABUFs");
    for (const Memory& memory : memories)
        if (!run.stopped())
            try {
                check(run, subject, memory);
            } catch (const Error& error) {
                run.fail(error, memory.name());
            }
}

void short_in(Run& run, const Subject& subject, const Memory& memory)
{
    const MarkedBlocks filled = fill_marked_blocks(subject, memory);
    if (!filled.refused.empty()) {
        run.skip(filled.refused, memory.name());
        return;
    }
    for (std::size_t i = 0; i < filled.blocks.size(); ++i) {
        const MarkedBlock& block = filled.blocks[i];
        const std::string name = "block " + std::to_string(i);
        if (block.error != 0) {
            run.fail(name + " failed: " + std::strerror(block.error), {}, memory.name());
            return;
        }
        if (block.untouched == filled.block_bytes) {
            run.skip(name + " has no word that the DMA wrote; see bounced", memory.name());
            return;
        }
        if (block.untouched != 0 && block.filled_to + block.untouched == filled.block_bytes) {
            run.fail(name + " is short: the DMA filled " + std::to_string(block.filled_to) +
                         " of " + std::to_string(filled.block_bytes) +
                         " bytes, and reported it as complete",
                     {}, memory.name());
            return;
        }
        if (block.untouched != 0) {
            run.fail(name + ": " + std::to_string(block.untouched) + " of " +
                         std::to_string(filled.block_bytes) + " bytes were not written by the DMA",
                     {}, memory.name());
            return;
        }
    }
    run.pass(std::to_string(filled.blocks.size()) + " blocks of " +
                 std::to_string(filled.block_bytes) + " bytes, each written to its end",
             {}, memory.name());
}

void bounced_in(Run& run, const Subject& subject, const Memory& memory)
{
    const MarkedBlocks filled = fill_marked_blocks(subject, memory);
    if (!filled.refused.empty()) {
        run.skip(filled.refused, memory.name());
        return;
    }
    std::size_t pages = 0;
    for (const MarkedBlock& block : filled.blocks)
        pages += block.untouched_pages;
    const std::size_t all = filled.blocks.size() * filled.block_bytes / 4096;
    if (pages != 0 && pages * 2 >= all)
        run.fail(std::to_string(pages) + " of " + std::to_string(all) +
                     " pages were not written by the DMA: the kernel copies them for it (swiotlb), "
                     "or it wrote nothing",
                 {}, memory.name());
    else
        run.pass("the DMA wrote to the memory's own pages", {}, memory.name());
}

void idle_in(Run& run, const Subject& subject, const Memory& memory)
{
    const IdleQueue idle = stop_idle_queue(subject, memory);
    const Facts facts{{"waited_seconds", idle.waited}};
    if (!idle.refused.empty())
        run.skip(idle.refused, memory.name());
    else if (idle.completed)
        run.fail("a block ended although the device was never started", facts, memory.name());
    else if (idle.waited > IdleQueue::kIdleWait + kLateWait)
        run.fail("a wait of " + seconds_text(IdleQueue::kIdleWait) + " took " +
                     seconds_text(idle.waited),
                 facts, memory.name());
    else if (idle.returned != idle.queued)
        run.fail("only " + std::to_string(idle.returned) + " of " + std::to_string(idle.queued) +
                     " queued blocks came back within 2 s of the stop",
                 facts, memory.name());
    else
        run.pass("a wait of " + seconds_text(IdleQueue::kIdleWait) + " took " +
                     seconds_text(idle.waited) + "; " + std::to_string(idle.returned) +
                     " queued blocks came back at the stop",
                 facts, memory.name());
}

} // namespace

void check_block_status(Run& run, Subject* subject)
{
    run.each_way(subject->one_way_per_path(),
                 [&](const Way& way) { status_by(run, *subject, way); });
}

void check_short_blocks(Run& run, Subject* subject)
{
    for_each_memory(run, *subject, short_in);
}

void check_bounced(Run& run, Subject* subject)
{
    for_each_memory(run, *subject, bounced_in);
}

void check_deadlines(Run& run, Subject* subject)
{
    for_each_memory(run, *subject, idle_in);
}

} // namespace iio_stream::conformance
