// SPDX-License-Identifier: MIT
#include "conformance/loss_run.hpp"

#include "conformance/recognize.hpp"
#include "conformance/streaming.hpp"
#include "iio_stream/reader.hpp"
#include "sys/event.hpp"

#include <algorithm>
#include <thread>

namespace iio_stream::conformance {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t kMostKept = 8 << 20; ///< bytes that are searched for a pattern
constexpr std::size_t kStallBlocks = 4;
constexpr int kBlocksAfter = 12; ///< the report of a loss can be some blocks late
constexpr double kStallBlockSeconds = 0.005;

/// Collects the blocks of a stream.
class Collector {
public:
    explicit Collector(Reader& reader) : reader_(reader) {}

    void add(const Block& block)
    {
        run_.samples += block.samples();
        for (const Gap& gap : block.gaps())
            add_gap(gap);
        if (!full_ && kept_.size() + block.bytes() <= kMostKept) {
            const CpuRead read(block);
            kept_.insert(kept_.end(), read.bytes().begin(), read.bytes().end());
        } else
            full_ = true;
    }
    /// Ends the stream. Throws the Error that ended it.
    LossRun finish()
    {
        reader_.stop();
        const Format format = reader_.format();
        const Summary summary = reader_.close();
        if (summary.error)
            throw Error(*summary.error);
        for (const Gap& gap : summary.source_stats.trailing)
            add_gap(gap);
        run_.gaps = summary.stats.gaps;
        run_.available = summary.source_stats.evidence;
        if (const Recognized pattern = recognize(format, kept_); pattern.name != nullptr && !full_)
            run_.truth = pattern.findings.lost;
        return run_;
    }
    LossRun& result() noexcept { return run_; }

private:
    void add_gap(const Gap& gap)
    {
        if (std::find(run_.used.begin(), run_.used.end(), gap.evidence) == run_.used.end())
            run_.used.push_back(gap.evidence);
        if (gap.certain() && run_.first_offset == 0)
            run_.first_offset = gap.offset_min;
    }

    Reader& reader_;
    LossRun run_;
    std::vector<std::byte> kept_;
    bool full_ = false;
};

Block next_block(Reader& reader)
{
    if (auto block = reader.next(3s))
        return std::move(*block);
    if (const Summary summary = reader.close(); summary.error)
        throw Error(*summary.error);
    throw Error(Fault::device, ETIMEDOUT, "wait for", "a block", "none arrived within 3 s");
}

} // namespace

LossRun run_steadily(Run& run, const Subject& subject, const Way& way, double seconds)
{
    PipelineConfig config = capture_config(subject, way);
    config.sinks.clear();
    config.blocks = 0; // the default: 250 ms
    config.bytes = kMostKept;
    Reader reader(config);
    Collector collector(reader);
    const std::int64_t until = sys::after(static_cast<std::int64_t>(seconds * 1e9));
    while (sys::monotonic_ns() < until && !run.stopped()) {
        auto block = reader.next(3s);
        if (!block)
            break;
        collector.add(*block);
    }
    return collector.finish();
}

LossRun run_with_stall(Run& run, const Subject& subject, const Way& way, double seconds)
{
    PipelineConfig config = capture_config(subject, way);
    config.sinks.clear();
    config.blocks = kStallBlocks;
    config.block_size = block_bytes(subject, kStallBlockSeconds, 64 * 1024);
    config.duration = 0s;
    config.timeout = std::chrono::seconds(5);
    Reader reader(config);
    Collector collector(reader);
    for (int i = 0; i < 8 && !run.stopped(); ++i)
        collector.add(next_block(reader));
    std::vector<Block> held;
    while (held.size() < reader.block_count() && !run.stopped())
        held.push_back(next_block(reader));
    const std::int64_t stalled = sys::monotonic_ns(),
                       until = sys::after(static_cast<std::int64_t>(seconds * 1e9));
    while (sys::monotonic_ns() < until && !run.stopped())
        std::this_thread::sleep_for(10ms);
    collector.result().stalled = static_cast<double>(sys::monotonic_ns() - stalled) / 1e9;
    for (const Block& block : held)
        collector.add(block);
    held.clear();
    for (int i = 0; i < kBlocksAfter && !run.stopped(); ++i)
        collector.add(next_block(reader));
    return collector.finish();
}

} // namespace iio_stream::conformance
