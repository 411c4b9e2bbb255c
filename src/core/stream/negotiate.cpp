// SPDX-License-Identifier: MIT
#include "core/stream/negotiate.hpp"

#include "core/base/text.hpp"
#include "core/memory/memory_backend.hpp"
#include "iio_stream/units.hpp"

#include <algorithm>
#include <cerrno>

namespace iio_stream::detail {

namespace {

struct Candidate {
    Plan plan;
    unsigned copies = 0;
    bool preferred = false;
    bool idle_dmabufs = false; ///< no device gets the DMABUFs, so plain pages would be enough
};

bool better(const Candidate& a, const Candidate& b)
{
    const auto rank = [](const Candidate& c) {
        return std::tuple{!c.preferred, c.copies, c.idle_dmabufs};
    };
    return rank(a) < rank(b); // a tie keeps the order of memory_choices()
}

std::string block_too_large(const Memory& memory, std::size_t block_size)
{
    const MemoryBackend& backend = backend_of(memory);
    const std::size_t limit = backend.largest == nullptr ? SIZE_MAX : backend.largest();
    if (block_size <= limit)
        return "";
    return "a block of " + format_size(block_size) + " is larger than " + memory.name() +
           "'s limit of " + format_size(limit) + " (" + backend.limited_by + ")";
}

using SinkLinks = std::vector<std::unique_ptr<SinkLink>>;

// Adds the hops of the sinks to `route`. If two devices had the same block, a wait for one fence
// would be a wait for both, and on some kernels one device would wait for the other. So one device
// gets the blocks, and the others get copies. If possible, that device is one whose blocks can be
// read meanwhile.
bool plan_sinks(const Format& format, const SinkLinks& sinks, const MemoryTraits& traits,
                std::vector<Hop>& route, std::string& why)
{
    std::vector<std::vector<Hop>> hops;
    const auto given = [&](std::size_t i) {
        return hops[i].front().attached && !begins_at_converter(hops[i].front());
    };
    std::size_t first = sinks.size(); // the sink that gets the blocks
    for (std::size_t i = 0; i < sinks.size(); ++i) {
        auto out = sinks[i]->plan(format, traits, why);
        if (!out)
            return false;
        hops.push_back(std::move(*out));
        if (given(i) && (first == sinks.size() ||
                         (hops[first].front().holds_off && !hops[i].front().holds_off)))
            first = i;
    }
    for (std::size_t i = 0; i < sinks.size(); ++i) {
        if (i != first && given(i)) {
            auto out = sinks[i]->plan(format, traits, why, sinks[first]->uri());
            if (!out)
                return false;
            hops[i] = std::move(*out);
        }
        route.insert(route.end(), hops[i].begin(), hops[i].end());
    }
    return true;
}

// Returns the plan for one memory; nullopt, with the reason in `why`, if an endpoint refuses it.
std::optional<Candidate> candidate_for(const Source& source, const std::string& uri,
                                       const SinkLinks& sinks, const MemoryTraits& traits,
                                       std::string& why)
{
    Candidate candidate;
    std::vector<Hop>& route = candidate.plan.route;
    auto in = source.plan(traits, why);
    if (!in)
        return std::nullopt;
    in->from = uri;
    in->to = "block";
    in->memory = traits.memory.name();
    in->page_bytes = traits.page_bytes;
    in->segments = traits.segments;
    route.push_back(std::move(*in));
    if (!plan_sinks(source.format(), sinks, traits, route, why))
        return std::nullopt;
    bool attached = false;
    for (const Hop& hop : route) {
        candidate.copies += hop.copies;
        if (begins_at_converter(hop))
            continue;
        attached = attached || hop.attached;
        if (hop.cpu)
            candidate.plan.cpu = CpuUse::mapped;
    }
    candidate.plan.memory = traits.memory;
    candidate.idle_dmabufs = traits.attachable && !attached;
    return candidate;
}

} // namespace

Plan negotiate(const Source& source, const std::string& uri,
               const std::vector<std::unique_ptr<SinkLink>>& sinks, std::size_t block_size,
               const std::vector<MemoryChoice>& choices)
{
    const BlockNeeds needs = source.needs();
    std::optional<Candidate> best;
    std::string refusals;    // why each memory cannot be used
    std::string unavailable; // refusals of memory that this machine lacks
    for (const MemoryChoice& choice : choices) {
        std::string why = choice.unavailable;
        if (why.empty())
            why = block_too_large(choice.memory, block_size);
        if (!why.empty() && choices.size() == 1 && choice.unavailable.empty())
            fail_usage("memory=" + choice.memory.name() + ": " + why, "smaller blocks");
        if (why.empty() && backend_of(choice.memory).only_source && needs.own != choice.memory)
            why = "the source has no blocks of its own, as devices on Analog Devices' kernels have";
        const bool lacking = !why.empty();
        std::optional<Candidate> candidate;
        if (!lacking)
            candidate =
                candidate_for(source, uri, sinks, traits_of(choice.memory, block_size), why);
        if (!candidate) {
            const std::string line = choice.memory.name() + ": " + why;
            add_clause(refusals, line);
            if (lacking && backend_of(choice.memory).attachable)
                add_clause(unavailable, why);
            continue;
        }
        candidate->preferred = needs.preferred && *needs.preferred == choice.memory;
        if (!best || better(*candidate, *best))
            best = std::move(candidate);
    }
    if (!best)
        throw Error(Fault::device, ENOTSUP, "stream", uri, refusals,
                    choices.size() == 1 ? "leave memory= out to get a memory that works" : "");
    // The sinks still have the plan for the memory that was tried last, so plan again.
    std::string none;
    if (auto again =
            candidate_for(source, uri, sinks, traits_of(best->plan.memory, block_size), none))
        best->plan = std::move(again->plan);
    Plan plan = std::move(best->plan);
    std::string& reason = plan.route.front().reason;
    if (best->preferred)
        add_clause(reason, needs.reason);
    // If this machine lacks memory that would allow a route without copies, the reason names it.
    if (plan.route.front().copies != 0 && !backend_of(plan.memory).attachable)
        add_clause(reason, unavailable);
    return plan;
}

} // namespace iio_stream::detail
