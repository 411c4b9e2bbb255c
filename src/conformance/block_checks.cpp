// SPDX-License-Identifier: MIT
// 404 to 407: the kernel's reports about blocks, and the contents of their memory.
#include "conformance/marked_blocks.hpp"
#include "conformance/streaming.hpp"
#include "iio_stream/reader.hpp"

#include <algorithm>
#include <cstring>
#include <functional>

namespace iio_stream::conformance {

namespace {

using namespace std::chrono_literals;

constexpr int kStatusBlocks = 32;
constexpr double kLateWait = 1; ///< seconds: a busy machine wakes a program late

/// The number of blocks of a stream, and the first fault in their order.
struct BlockSequence {
    std::int64_t blocks = 0, unverified = 0;
    std::string wrong;
};

void check_next(const Block& block, const Block* last, BlockSequence& sequence)
{
    ++sequence.blocks;
    sequence.unverified += block.state() == BlockState::unverified;
    if (last == nullptr)
        return;
    const std::string name = "block " + std::to_string(block.sequence());
    if (block.sequence() != last->sequence() + 1)
        sequence.wrong = name + " follows block " + std::to_string(last->sequence());
    else if (block.time().ns < last->time().ns)
        sequence.wrong = name + " was complete before the previous one";
    else if (block.position() != last->position() + last->samples())
        sequence.wrong = name + " begins at sample " + std::to_string(block.position()) +
                         " instead of " + std::to_string(last->position() + last->samples());
}

void status_by(Run& run, const Subject& subject, const Way& way)
{
    PipelineConfig config = capture_config(subject, way);
    config.sinks.clear();
    config.block_size = block_bytes(subject, 0.005, 64 * 1024);
    Reader reader(config);
    BlockSequence sequence;
    std::optional<Block> last;
    while (sequence.blocks < kStatusBlocks && sequence.wrong.empty() && !run.stopped()) {
        auto block = reader.next(3s);
        if (!block)
            break;
        check_next(*block, last ? &*last : nullptr, sequence);
        last.emplace(std::move(*block));
    }
    last.reset();
    reader.stop();
    const Summary summary = reader.close();
    const SourceStats& counts = summary.source_stats;
    Facts facts{{"blocks", sequence.blocks},
                {"unverified", sequence.unverified},
                {"errors", static_cast<std::int64_t>(counts.error_blocks)}};
    run.blame(summary.error);
    if (sequence.wrong.empty() && summary.error)
        sequence.wrong = summary.error->what();
    if (counts.error_blocks != 0) // failed blocks leave gaps in the order
        sequence.wrong = std::to_string(counts.error_blocks) + " of " +
                         std::to_string(summary.stats.blocks) + " blocks failed in the DMA";
    if (sequence.wrong.empty() && sequence.blocks == 0)
        sequence.wrong = "no block arrived within 3 s";
    if (!sequence.wrong.empty())
        run.fail(sequence.wrong, std::move(facts), way.text());
    else
        run.pass(std::to_string(sequence.blocks) + " blocks in order" +
                     (sequence.unverified == 0
                          ? ""
                          : ", " + std::to_string(sequence.unverified) + " without a status"),
                 std::move(facts), way.text());
}

// The memories whose DMABUFs this subject accepts.
std::vector<Memory> dmabuf_memories(const Subject& subject)
{
    std::vector<Memory> memories;
    for (const Way& way : subject.ways)
        if (way.path == "dmabuf")
            memories.push_back(Memory::parse("memory", way.memory));
    return memories;
}

bool has_kernel_blocks(const Subject& subject)
{
    return std::ranges::any_of(subject.ways, [](const Way& way) { return way.path == "mmap"; });
}

/// Names the variant of a check that uses the kernel's own blocks.
constexpr const char* kKernelBlocks = "mmap";

/// Runs `check` for each memory, and `in_kernel` if it is given and the kernel has blocks of its
/// own.
void for_each_memory(Run& run, const Subject& subject,
                     const std::function<void(const Memory&)>& check,
                     const std::function<void()>& in_kernel)
{
    const std::vector<Memory> memories = dmabuf_memories(subject);
    const bool kernel = in_kernel && has_kernel_blocks(subject);
    if (memories.empty() && !kernel)
        run.skip("the buffer takes no DMABUFs");
    const auto guarded = [&](const std::string& name, const auto& one) {
        if (run.stopped())
            return;
        try {
            one();
        } catch (const Error& error) {
            run.fail(error, name);
        }
    };
    for (const Memory& memory : memories)
        guarded(memory.name(), [&] { check(memory); });
    if (kernel)
        guarded(kKernelBlocks, in_kernel);
}

void report_short(Run& run, const MarkedBlocks& filled, const std::string& variant)
{
    if (!filled.refused.empty()) {
        run.skip(filled.refused, variant);
        return;
    }
    for (std::size_t i = 0; i < filled.blocks.size(); ++i) {
        const MarkedBlock& block = filled.blocks[i];
        const std::string name = "block " + std::to_string(i);
        if (block.error != 0) {
            run.fail(name + " failed: " + std::strerror(block.error), {}, variant);
            return;
        }
        if (block.untouched == filled.block_bytes) {
            if (variant == kKernelBlocks)
                run.fail(name + " was reported as filled, but the DMA wrote no word of it", {},
                         variant);
            else
                run.skip(name + " has no word that the DMA wrote; see bounced", variant);
            return;
        }
        if (block.untouched != 0 && block.filled_to + block.untouched == filled.block_bytes) {
            run.fail(name + " is short: the DMA filled " + std::to_string(block.filled_to) +
                         " of " + std::to_string(filled.block_bytes) + " bytes, and reported " +
                         (block.reported == filled.block_bytes ? "it as complete"
                                                               : std::to_string(block.reported)),
                     {}, variant);
            return;
        }
        if (block.untouched != 0) {
            run.fail(name + ": " + std::to_string(block.untouched) + " of " +
                         std::to_string(filled.block_bytes) + " bytes were not written by the DMA",
                     {}, variant);
            return;
        }
    }
    run.pass(std::to_string(filled.blocks.size()) + " blocks of " +
                 std::to_string(filled.block_bytes) + " bytes, each written to its end",
             {}, variant);
}

void report_bounced(Run& run, const MarkedBlocks& filled, const std::string& variant)
{
    if (!filled.refused.empty()) {
        run.skip(filled.refused, variant);
        return;
    }
    std::size_t pages = 0;
    for (const MarkedBlock& block : filled.blocks)
        pages += block.untouched_pages;
    const std::size_t all = filled.blocks.size() * filled.block_bytes / 4096;
    if (pages != 0 && pages * 2 >= all)
        run.fail(std::to_string(pages) + " of " + std::to_string(all) +
                     " pages were not written by the DMA: the kernel copies them (swiotlb), or the "
                     "DMA wrote nothing",
                 {}, variant);
    else
        run.pass("the DMA wrote to the memory's own pages", {}, variant);
}

void report_idle(Run& run, const IdleQueue& idle, const std::string& variant)
{
    const Facts facts{{"waited_seconds", idle.waited}};
    if (!idle.refused.empty())
        run.skip(idle.refused, variant);
    else if (idle.completed)
        run.fail("a block ended although the device was never started", facts, variant);
    else if (idle.waited > IdleQueue::kIdleWait + kLateWait)
        run.fail("a wait of " + seconds_text(IdleQueue::kIdleWait) + " took " +
                     seconds_text(idle.waited),
                 facts, variant);
    else if (idle.returned != idle.queued)
        run.fail("only " + std::to_string(idle.returned) + " of " + std::to_string(idle.queued) +
                     " queued blocks came back within 2 s of the stop",
                 facts, variant);
    else
        run.pass("a wait of " + seconds_text(IdleQueue::kIdleWait) + " took " +
                     seconds_text(idle.waited) + "; " + std::to_string(idle.returned) +
                     " queued blocks came back at the stop",
                 facts, variant);
}

} // namespace

void check_block_status(Run& run, Subject* subject)
{
    run.each_way(subject->one_way_per_path(),
                 [&](const Way& way) { status_by(run, *subject, way); });
}

void check_short_blocks(Run& run, Subject* subject)
{
    for_each_memory(
        run, *subject,
        [&](const Memory& memory) {
            report_short(run, fill_marked_blocks(*subject, memory), memory.name());
        },
        [&] { report_short(run, fill_marked_kernel_blocks(*subject), kKernelBlocks); });
}

void check_bounced(Run& run, Subject* subject)
{
    for_each_memory(run, *subject,
                    [&](const Memory& memory) {
                        report_bounced(run, fill_marked_blocks(*subject, memory), memory.name());
                    },
                    {}); // the kernel allocates its own blocks for the DMA
}

void check_deadlines(Run& run, Subject* subject)
{
    for_each_memory(
        run, *subject,
        [&](const Memory& memory) {
            report_idle(run, stop_idle_queue(*subject, memory), memory.name());
        },
        [&] { report_idle(run, stop_idle_kernel_queue(*subject), kKernelBlocks); });
}

} // namespace iio_stream::conformance
