// SPDX-License-Identifier: MIT
#include "core/memory/memory_backend.hpp"
#include "iio/buffer/buffer_dir.hpp"
#include "iio/buffer/dma.hpp"
#include "iio/context/context.hpp"
#include "iio/context/local_context.hpp"
#include "iio/probe/dma_write_test.hpp"
#include "iio/probe/preferred_memory.hpp"
#include "iio_stream/device.hpp"
#include "iio_stream/doctor.hpp"
#include "iio_stream/session.hpp"
#include "sys/machine.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>

namespace iio_stream {

namespace {

constexpr std::uint64_t kBlocks = 32;

ProbeRow try_memory(Uri source, const Memory& memory, const std::string& controller,
                    std::size_t& block_size)
{
    ProbeRow row;
    row.memory = memory;
    source.options.set("memory", memory.name());
    source.options.set("path", "dmabuf");
    PipelineConfig config;
    config.source = source;
    config.sinks = {"null:"};
    config.duration = std::chrono::seconds(2);
    try {
        Session session;
        session.add(config);
        session.prepare();
        const auto before = sys::interrupt_count(controller);
        session.start();
        while (!session.wait(std::chrono::milliseconds(20)))
            if (session[0].stats().blocks >= kBlocks)
                session.request_stop();
        session.stop();
        const auto after = sys::interrupt_count(controller);
        const Summary summary = session[0].summary();
        if (summary.error)
            throw Error(*summary.error);
        if (summary.stats.blocks == 0)
            throw Error(Fault::device, ETIMEDOUT, "probe", source.text(),
                        "no block came within 2 s");
        block_size = summary.block_size;
        row.blocks = summary.stats.blocks;
        const auto bytes = static_cast<double>(summary.stats.bytes);
        row.bytes_per_second = bytes / summary.stats.seconds;
        row.cpu_seconds_per_gib =
            (summary.cpu.user_seconds + summary.cpu.system_seconds) / bytes * 1073741824.0;
        if (before && after)
            row.interrupts_per_block =
                static_cast<double>(*after - *before) / static_cast<double>(row.blocks);
    } catch (const Error& error) {
        row.error = error.what();
    }
    return row;
}

// Tests whether the device's samples arrive at all and, if so, how fast.
ProbeRow probe_memory(const iio::Device& device, const Uri& uri, const Memory& memory,
                      const std::string& controller, std::size_t& block_size)
{
    Uri address = uri;
    const iio::BufferSettings settings = iio::BufferSettings::from(address, OptionSide::source);
    std::optional<std::string> unwritten; ///< why the DMA did not write the blocks
    try {
        unwritten = iio::dma_write_test(device, settings, memory, block_size);
    } catch (const Error& error) {
        ProbeRow row;
        row.memory = memory;
        row.error = error.what();
        return row;
    }
    ProbeRow row;
    if (!unwritten || unwritten->empty()) {
        row = try_memory(uri, memory, controller, block_size);
    } else {
        row.memory = memory;
        row.error = *unwritten;
    }
    if (unwritten)
        row.data_arrived = unwritten->empty();
    return row;
}

std::string number(double value)
{
    char text[32];
    std::snprintf(text, sizeof text, "%.1f", value);
    return text;
}

// Without scatter-gather hardware, every segment of a block costs an interrupt, and scattered pages
// cost more than a copy. With it, memory that files can be written from directly is better.
void recommend(ProbeResult& result)
{
    const auto find = [&](auto&& is) {
        return std::find_if(result.rows.begin(), result.rows.end(),
                            [&](const ProbeRow& r) { return r.error.empty() && is(r); });
    };
    const auto direct =
        find([](const ProbeRow& r) { return detail::backend_of(r.memory).direct_io; });
    auto best = find([](const ProbeRow&) { return true; });
    const auto end = result.rows.end();
    const auto looked = [](const ProbeRow& r) { return r.data_arrived.has_value(); };
    if (best == end && std::any_of(result.rows.begin(), end, looked)) {
        result.recommended = Memory{};
        result.reason =
            "no DMABUF is known to be written by the DMA itself, so read() is used, which copies";
        return;
    }
    if (best == end)
        throw Error(Fault::device, ENOTSUP, "probe", "",
                    "no DMABUF memory could be tried: " +
                        (result.rows.empty() ? "there is none" : result.rows.front().error));
    if (direct == end) {
        result.recommended = best->memory;
        result.reason = "the only memory that works";
        return;
    }
    if (direct->interrupts_per_block && *direct->interrupts_per_block > 4) {
        for (auto row = result.rows.begin(); row != end; ++row)
            if (row->error.empty() && row->interrupts_per_block < best->interrupts_per_block)
                best = row;
        result.recommended = best->memory;
        result.reason = "the DMA has no scatter-gather: " + number(*best->interrupts_per_block) +
                        " interrupts per block from " + best->memory.name() + ", " +
                        number(*direct->interrupts_per_block) + " from " + direct->memory.name();
        return;
    }
    result.recommended = direct->memory;
    result.reason = direct->interrupts_per_block
                        ? "the DMA has scatter-gather: " + number(*direct->interrupts_per_block) +
                              " interrupts per block from " + direct->memory.name() +
                              ", which files can be written from directly"
                        : "the DMA's interrupts cannot be counted; files can be written from " +
                              direct->memory.name() + " directly";
}

} // namespace

ProbeResult probe(const std::string& device)
{
    const Uri uri = Uri::parse(
        device.starts_with("iio:") && device.find("iio:device") != 0 ? device : "iio:" + device);
    const iio::ContextPtr context = iio::open_local();
    const iio::Device found = iio::find_device(context, "local:", uri.rest);
    const std::string controller = iio::dma_controller_of(found.id());
    ProbeResult result;
    for (const MemoryChoice& choice : memory_choices()) {
        if (!detail::backend_of(choice.memory).attachable)
            continue;
        ProbeRow row;
        row.memory = choice.memory;
        row.error = choice.unavailable;
        if (row.error.empty())
            row = probe_memory(found, uri, choice.memory, controller, result.block_size);
        result.rows.push_back(std::move(row));
    }
    recommend(result);
    result.stored_in = iio::store_preferred_memory(
        uri.rest, {result.recommended, "doctor --probe: " + result.reason});
    return result;
}

} // namespace iio_stream
