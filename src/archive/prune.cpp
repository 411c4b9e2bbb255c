// SPDX-License-Identifier: MIT
#include "archive/contents.hpp"
#include "archive/parallel.hpp"
#include "core/base/text.hpp"
#include "iio_stream/archive_prune.hpp"
#include "sys/event.hpp"

#include <algorithm>
#include <cerrno>
#include <span>

namespace iio_stream {

namespace archive {

namespace {

/// A part that prune may remove.
struct Candidate {
    PrunedPart part;
    Entry metadata; ///< entry of the metadata that were read
    bool is_gone = false;
    std::string problem{};
};

/// Returns all finished parts, oldest first. Within a recording no part counts as older than the
/// part before it, even if the clock was set back between them. Parts whose size differs from their
/// metadata are left out and counted in `damaged`.
std::vector<Candidate> by_age(const Contents& found, std::uint64_t& damaged)
{
    std::vector<Candidate> made;
    for (const Series& one : found.recordings) {
        const SampleTimes times(one);
        std::int64_t latest_ns = INT64_MIN;
        for (const Part& part : one.parts) {
            latest_ns =
                std::max(latest_ns, times.utc_ns(part.last()).value_or(part.metadata.modified_ns));
            if (part.data_bytes == part.bytes)
                made.push_back({{part.name, part.data_bytes, latest_ns}, part.metadata});
            else
                ++damaged;
        }
    }
    std::ranges::stable_sort(made, {}, [](const Candidate& one) { return one.part.end_ns; });
    return made;
}

std::size_t how_many_go(const std::vector<Candidate>& parts, const PruneConfig& config,
                        std::uint64_t bytes)
{
    const std::int64_t now = sys::realtime_ns();
    std::size_t count = 0;
    for (; count < parts.size(); ++count) {
        const bool is_old = config.older && parts[count].part.end_ns < now - config.older->count();
        if (!is_old && (!config.keep_bytes || bytes <= *config.keep_bytes))
            break;
        bytes -= parts[count].part.bytes;
    }
    return count;
}

/// Removes both objects of a part, even if the user cancels in between: samples without metadata
/// would never be removed.
void remove_part(Store& store, const ArchiveConfig& config, const Candidate& one)
{
    constexpr std::chrono::seconds kAtLeast{10};
    const std::string meta = one.part.name + kMeta, data = one.part.name + kData;
    if (const std::optional<Entry> now = store.find(meta); now && !now->is_still(one.metadata))
        throw Error(Fault::storage, EBUSY, "remove", store.url_of(meta),
                    "another recording has its name now");
    store.remove(meta);
    try {
        store.remove(data);
    } catch (const Stopped&) {
        open_store(config.place, std::min<std::chrono::nanoseconds>(config.retry, kAtLeast), {})
            ->remove(data);
    }
}

/// Removes parts, oldest first. An error that ends the removal early is reported as a problem of
/// the store.
void remove_all(const PruneConfig& config, std::span<Candidate> parts, PruneReport& report,
                const GoOn& go_on)
{
    try {
        in_parallel(
            config.archive, parts.size(),
            [&](Store& store, std::size_t n) {
                try {
                    remove_part(store, config.archive, parts[n]);
                    parts[n].is_gone = true;
                } catch (const Error& error) {
                    if (!is_of_one_object(error) || error.code().value() == EACCES)
                        throw; // without permission for one, none can be removed
                    parts[n].problem = detail::printable(error.what());
                }
            },
            go_on);
    } catch (const Stopped&) {
    } catch (const Error& error) {
        report.problems.push_back({config.archive.place, detail::printable(error.what())});
    }
}

} // namespace

} // namespace archive

PruneReport prune_archive(const PruneConfig& config, const std::function<bool()>& go_on)
{
    using namespace archive;
    if (!config.older && !config.keep_bytes)
        fail_usage("prune " + config.archive.place + ": no limit is given",
                   "set the age or the total size beyond which parts are removed");
    return guarded(config.archive, "prune", [&] {
        const Contents found = contents_of(config.archive, go_on);
        PruneReport report;
        report.unfinished = found.unfinished.size();
        report.damaged = found.damaged.size();
        std::vector<Candidate> parts = by_age(found, report.damaged);
        for (const Candidate& one : parts)
            report.bytes += one.part.bytes;
        const std::size_t count = how_many_go(parts, config, report.bytes);
        const std::span<Candidate> going(parts.data(), count);
        if (config.dry_run)
            for (Candidate& one : going)
                one.is_gone = true;
        else
            remove_all(config, going, report, go_on);
        for (Candidate& one : going) {
            if (!one.problem.empty())
                report.problems.push_back({one.part.name, one.problem});
            if (!one.is_gone)
                continue;
            report.removed_bytes += one.part.bytes;
            report.removed.push_back(std::move(one.part));
        }
        report.parts = parts.size() - report.removed.size();
        report.bytes -= report.removed_bytes;
        return report;
    });
}

} // namespace iio_stream
