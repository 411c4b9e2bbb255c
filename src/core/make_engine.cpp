// SPDX-License-Identifier: MIT
#include "core/make_engine.hpp"

#include "core/common_options.hpp"
#include "core/engine.hpp"
#include "core/registry.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace iio_stream::detail {

namespace {

constexpr std::size_t kMaxSinks = 12;

std::optional<Memory> take_memory(Options& options)
{
    const auto text = options.take(kCommon["memory"]);
    if (!text || *text == "auto")
        return std::nullopt;
    return Memory::parse("memory", *text);
}

std::unique_ptr<SinkWorker> make_worker(Uri uri, std::unique_ptr<Sink> sink,
                                        const std::string& convert)
{
    std::string name = uri.text();
    SinkWorkerOptions options;
    if (!sink) {
        options = SinkWorkerOptions::from(uri.options);
        sink = make_sink(uri);
    }
    if (options.convert.empty())
        options.convert = convert;
    return std::make_unique<SinkWorker>(std::move(sink), std::move(name), options);
}

} // namespace

std::unique_ptr<Engine> make_engine(const PipelineConfig& config, std::unique_ptr<Source> source,
                                    std::vector<std::unique_ptr<Sink>> sinks)
{
    Uri uri = config.source;
    const std::string name = uri.empty() ? "given" : uri.text();
    std::optional<Memory> memory;
    std::string convert;
    if (!source && uri.empty())
        fail_usage("there is no source", "such as sim: or iio:DEVICE");
    if (!source) {
        memory = take_memory(uri.options);
        convert = uri.options.take(kCommon["convert"]).value_or("");
        source = make_source(uri);
    }
    sinks.resize(std::max(sinks.size(), config.sinks.size()));
    if (sinks.empty())
        fail_usage(name + " has no sink", "null: counts samples and discards them");
    if (sinks.size() > kMaxSinks)
        fail_usage(std::to_string(sinks.size()) + " sinks: at most " + std::to_string(kMaxSinks) +
                   " are possible");
    std::vector<std::unique_ptr<SinkWorker>> workers;
    for (std::size_t i = 0; i < sinks.size(); ++i)
        workers.push_back(
            make_worker(i < config.sinks.size() ? config.sinks[i] : Uri::named("given"),
                        std::move(sinks[i]), convert));
    return std::make_unique<Engine>(config, std::move(source), std::move(memory),
                                    std::move(workers));
}

} // namespace iio_stream::detail
