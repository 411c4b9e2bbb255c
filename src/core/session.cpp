// SPDX-License-Identifier: MIT
#include "core/engine.hpp"
#include "core/registry.hpp"

#include <algorithm>
#include <poll.h>
#include <utility>

namespace iio_stream {

namespace {

constexpr std::size_t kMaxSinks = 12;

std::optional<Memory> take_memory(Options& options)
{
    const auto text = options.take("memory");
    if (!text || *text == "auto")
        return std::nullopt;
    return Memory::parse("memory", *text);
}

} // namespace

Pipeline::Pipeline(std::unique_ptr<detail::Engine> engine) : engine_(std::move(engine)) {}
Pipeline::Pipeline(Pipeline&&) noexcept = default;
Pipeline::~Pipeline() = default;

const Format& Pipeline::format() const noexcept { return engine_->format(); }
const std::vector<Hop>& Pipeline::route() const noexcept { return engine_->route(); }
Stats Pipeline::stats() const { return engine_->stats(); }
Summary Pipeline::summary() const { return engine_->summary(); }
bool Pipeline::ended() const noexcept { return engine_->ended(); }

struct Session::Impl {
    // What the engines' threads use until their last moment comes before the engines.
    detail::Control control;
    sys::Event over; // some pipeline has ended
    sys::Event stop; // request_stop()
    std::vector<Pipeline> pipelines;
    bool stopping = false, running = false;

    detail::Engine& engine(std::size_t i) { return *pipelines[i].engine_; }
};

Session::Session() : impl_(std::make_unique<Impl>()) {}
Session::~Session() = default;

std::size_t Session::add(const PipelineConfig& config)
{
    Uri uri = Uri::parse(config.source);
    const std::string text = uri.text();
    const auto memory = take_memory(uri.options);
    const std::string convert = uri.options.take("convert", "");
    auto source = detail::make_source(uri);

    std::vector<std::unique_ptr<detail::Lane>> lanes;
    for (const std::string& sink : config.sinks) {
        Uri address = Uri::parse(sink);
        const std::string name = address.text();
        detail::LaneOptions options = detail::LaneOptions::from(address.options);
        if (options.convert.empty())
            options.convert = convert;
        lanes.push_back(
            std::make_unique<detail::Lane>(detail::make_sink(address), name, options));
    }
    return add_engine(config, text, std::move(source), memory, std::move(lanes));
}

std::size_t Session::add(const PipelineConfig& config, std::unique_ptr<Source> source,
                         std::vector<std::unique_ptr<Sink>> sinks)
{
    std::vector<std::unique_ptr<detail::Lane>> lanes;
    for (std::size_t i = 0; i < sinks.size(); ++i)
        lanes.push_back(std::make_unique<detail::Lane>(
            std::move(sinks[i]), i < config.sinks.size() ? config.sinks[i] : "given",
            detail::LaneOptions{}));
    return add_engine(config, config.source.empty() ? "given" : config.source, std::move(source),
                      std::nullopt, std::move(lanes));
}

std::size_t Session::add_engine(const PipelineConfig& config, std::string uri,
                                std::unique_ptr<Source> source, std::optional<Memory> memory,
                                std::vector<std::unique_ptr<detail::Lane>> lanes)
{
    if (lanes.empty())
        fail_usage(uri + " has no sink", "null: takes samples and counts them");
    if (lanes.size() > kMaxSinks)
        fail_usage(std::to_string(lanes.size()) + " sinks: " + std::to_string(kMaxSinks) +
                   " are possible");
    impl_->pipelines.push_back(Pipeline(std::make_unique<detail::Engine>(
        config, std::move(uri), std::move(source), std::move(memory), std::move(lanes))));
    return impl_->pipelines.size() - 1;
}

void Session::prepare()
{
    Impl& s = *impl_;
    if (std::exchange(s.running, false)) { // another stream: the requests of the last are over
        s.stopping = false;
        s.stop.clear();
    }
    for (std::size_t i = 0; i < size(); ++i)
        s.engine(i).prepare();
}

void Session::start()
try {
    Impl& s = *impl_;
    s.control.start();
    for (std::size_t i = 0; i < size(); ++i)
        s.engine(i).start_sinks();
    // Nothing but the enabling between the first source and the last: they start together.
    for (std::size_t i = 0; i < size(); ++i)
        s.engine(i).start_source();
    s.running = true;
    for (std::size_t i = 0; i < size(); ++i)
        s.engine(i).launch(s.control, s.over);
} catch (...) {
    for (std::size_t i = 0; i < size(); ++i)
        impl_->engine(i).abandon();
    throw;
}

bool Session::wait(std::chrono::nanoseconds budget)
{
    Impl& s = *impl_;
    const std::int64_t deadline = sys::after(budget.count());
    for (;;) {
        s.over.clear(); // before the look, so that an end after it is not slept through
        bool all = true, failed = false;
        for (std::size_t i = 0; i < size(); ++i) {
            all = all && s.engine(i).ended();
            failed = failed || s.engine(i).failed();
        }
        if (all)
            return true;
        if (!s.stopping && (failed || s.stop.is_set())) {
            s.stopping = true;
            for (std::size_t i = 0; i < size(); ++i)
                s.engine(i).request_stop(Stop::drain);
        }
        const std::int64_t left = deadline - sys::monotonic_ns();
        if (left <= 0)
            return false;
        pollfd news[] = {{s.over.fd(), POLLIN, 0}, {s.stopping ? -1 : s.stop.fd(), POLLIN, 0}};
        const auto ms = std::min<std::int64_t>(left / 1'000'000 + 1, 60'000);
        (void)::poll(news, 2, static_cast<int>(ms));
    }
}

void Session::stop(Stop how)
{
    Impl& s = *impl_;
    s.stopping = true;
    for (std::size_t i = 0; i < size() && s.running; ++i)
        s.engine(i).request_stop(how);
    for (std::size_t i = 0; i < size() && s.running; ++i)
        s.engine(i).join();
}

void Session::request_stop() noexcept { impl_->stop.set(); }
std::size_t Session::size() const noexcept { return impl_->pipelines.size(); }
Pipeline& Session::operator[](std::size_t index) noexcept { return impl_->pipelines[index]; }

} // namespace iio_stream
