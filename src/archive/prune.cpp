// SPDX-License-Identifier: MIT
#include "iio_stream/archive_prune.hpp"

#include "archive/contents.hpp"
#include "archive/in_parallel.hpp"
#include "core/text.hpp"
#include "sys/event.hpp"

#include <algorithm>
#include <span>
#include <tuple>

namespace iio_stream {

namespace archive {

namespace {

/// All finished parts, oldest first. `damaged` counts those whose size is not that of their metadata.
std::vector<PrunedPart> by_age(const Contents& found, std::uint64_t& damaged)
{
    std::vector<PrunedPart> made;
    for (const Series& one : found.recordings) {
        const SampleTimes times(one);
        for (const Part& part : one.parts)
            if (part.data_bytes == part.bytes)
                made.push_back({part.name, part.data_bytes, times.utc_ns(part.last()).value_or(part.modified_ns)});
            else
                ++damaged;
    }
    std::sort(made.begin(), made.end(), [](const PrunedPart& a, const PrunedPart& b) {
        return std::tie(a.end_ns, a.name) < std::tie(b.end_ns, b.name);
    });
    return made;
}

std::size_t how_many_go(const std::vector<PrunedPart>& parts, const PruneConfig& config, std::uint64_t bytes)
{
    const std::int64_t now = sys::realtime_ns();
    std::size_t count = 0;
    for (; count < parts.size(); ++count) {
        const bool is_old = config.older && parts[count].end_ns < now - config.older->count();
        if (!is_old && (!config.keep_bytes || bytes <= *config.keep_bytes))
            break;
        bytes -= parts[count].bytes;
    }
    return count;
}

/// Both objects, also if it is ended meanwhile: samples without metadata would stay for good.
void remove_part(Store& store, const ArchiveConfig& config, const std::string& name)
{
    constexpr std::chrono::seconds kAtLeast{10};
    store.remove(name + kMeta);
    try {
        store.remove(name + kData);
    } catch (const Stopped&) {
        open_store(config.place, std::min<std::chrono::nanoseconds>(config.retry, kAtLeast), {})->remove(name + kData);
    }
}

/// Whether another recording has taken the name of a part since its metadata were read.
class Renewed {
public:
    Renewed(const Contents& found, const ArchiveConfig& config, const GoOn& go_on)
        : now_(open_store(config.place, config.retry, go_on)->list())
    {
        for (const Series& one : found.recordings)
            for (const Part& part : one.parts)
                seen_[part.name] = part.modified_ns;
    }
    bool operator()(const std::string& name) const
    {
        const auto now = now_.find(name + kMeta);
        return now != now_.end() && now->second.modified_ns != seen_.at(name);
    }

private:
    std::map<std::string, Entry> now_;
    std::map<std::string, std::int64_t> seen_;
};

struct Fate {
    bool is_gone = false;
    std::string problem;
};

/// The first ones are tried first. Ended early, it is said of which.
std::vector<Fate> remove_all(const PruneConfig& config, const Contents& found, std::span<const PrunedPart> parts,
                             const GoOn& go_on)
{
    std::vector<Fate> fates(parts.size(), Fate{config.dry_run, {}});
    if (config.dry_run)
        return fates;
    const Renewed is_renewed(found, config.archive, go_on);
    try {
        in_parallel(
            config.archive, parts.size(),
            [&](Store& store, std::size_t n) {
                try {
                    if (is_renewed(parts[n].name))
                        throw Error(Fault::storage, EBUSY, "remove", parts[n].name, "another recording has its name now");
                    remove_part(store, config.archive, parts[n].name);
                    fates[n].is_gone = true;
                } catch (const Error& error) {
                    if (!is_of_one_object(error))
                        throw;
                    fates[n].problem = detail::printable(error.what());
                }
            },
            go_on);
    } catch (const Stopped&) {
    }
    return fates;
}

} // namespace

} // namespace archive

PruneReport prune_archive(const PruneConfig& config, const std::function<bool()>& go_on)
{
    using namespace archive;
    if (!config.older && !config.keep_bytes)
        fail_usage("prune " + config.archive.place + ": which parts?", "older than a time, or beyond a size");
    return guarded(config.archive, "prune", [&] {
        const Contents found = contents_of(config.archive, go_on);
        PruneReport report;
        report.unfinished = found.unfinished.size();
        report.damaged = found.damaged.size();
        std::vector<PrunedPart> parts = by_age(found, report.damaged);
        for (const PrunedPart& part : parts)
            report.bytes += part.bytes;
        const std::size_t count = how_many_go(parts, config, report.bytes);
        const std::vector<Fate> fates = remove_all(config, found, {parts.data(), count}, go_on);
        for (std::size_t n = 0; n < count; ++n) {
            if (!fates[n].problem.empty())
                report.problems.push_back({parts[n].name, fates[n].problem});
            if (!fates[n].is_gone)
                continue;
            report.removed_bytes += parts[n].bytes;
            report.removed.push_back(std::move(parts[n]));
        }
        report.parts = parts.size() - report.removed.size();
        report.bytes -= report.removed_bytes;
        return report;
    });
}

} // namespace iio_stream
