// SPDX-License-Identifier: MIT
#include "core/engine.hpp"
#include "core/registry.hpp"

#include <algorithm>
#include <atomic>
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

std::unique_ptr<detail::SinkWorker> make_worker(std::string name, std::unique_ptr<Sink> sink,
                                        const std::string& convert)
{
    detail::SinkWorkerOptions options;
    if (!sink) {
        Uri uri = Uri::parse(name);
        name = uri.text();
        options = detail::SinkWorkerOptions::from(uri.options);
        sink = detail::make_sink(uri);
    }
    if (options.convert.empty())
        options.convert = convert;
    return std::make_unique<detail::SinkWorker>(std::move(sink), std::move(name), options);
}

} // namespace

Pipeline::Pipeline(std::unique_ptr<detail::Engine> engine) : engine_(std::move(engine)) {}
Pipeline::Pipeline(Pipeline&&) noexcept = default;
Pipeline::~Pipeline() = default;

const Format& Pipeline::format() const noexcept { return engine_->format(); }
const std::vector<Hop>& Pipeline::route() const noexcept { return engine_->route(); }
Stats Pipeline::stats() const { return engine_->stats(); }
Summary Pipeline::summary() const { return engine_->summary(); }
std::vector<std::uint64_t> Pipeline::room() const { return engine_->room(); }
bool Pipeline::ended() const noexcept { return engine_->ended(); }
bool Pipeline::repeats() const noexcept { return engine_->repeats(); }
void Pipeline::request_stop(Stop how) noexcept { engine_->request_stop(how); }

struct Session::Impl {
    // What the engines' threads use until their last moment comes before the engines.
    detail::Control control;
    sys::Event over; // some pipeline has ended
    sys::Event stop; // request_stop()
    std::vector<Pipeline> pipelines;
    std::size_t prepared = 0; // so many, which start() has not had
    bool stopping = false, running = false;
    /// What waits for somebody, and gives up at a request_stop().
    enum class Waiting { nobody, all, sinks, sources };
    std::atomic<Waiting> waiting{Waiting::nobody};

    void cancel_waiting() noexcept;
    bool all_ended()
    {
        bool all = true;
        for (std::size_t i = 0; i < pipelines.size(); ++i)
            all = all && engine(i).ended();
        return all;
    }

    /// While it lives a request_stop() reaches those; so does one that came before.
    struct Patient {
        Patient(Impl& s, Waiting who) : impl(s)
        {
            impl.waiting = who;
            if (impl.stop.is_set())
                impl.cancel_waiting();
        }
        Patient(const Patient&) = delete;
        ~Patient() { impl.waiting = Waiting::nobody; }

        Impl& impl;
    };

    detail::Engine& engine(std::size_t i) { return *pipelines[i].engine_; }
};

// From any thread or signal handler.
void Session::Impl::cancel_waiting() noexcept
{
    const Waiting who = waiting;
    for (std::size_t i = 0; i < pipelines.size() && who != Waiting::nobody; ++i) {
        if (who != Waiting::sinks)
            engine(i).cancel_source();
        if (who != Waiting::sources)
            engine(i).cancel_sinks();
    }
}

Session::Session() : impl_(std::make_unique<Impl>()) {}
Session::~Session() = default;

std::size_t Session::add(const PipelineConfig& config)
{
    return add(config, nullptr, {});
}

std::size_t Session::add(const PipelineConfig& config, std::unique_ptr<Source> source,
                         std::vector<std::unique_ptr<Sink>> sinks)
{
    std::string name = config.source.empty() ? "given" : config.source;
    std::optional<Memory> memory;
    std::string convert;
    if (!source) {
        Uri uri = Uri::parse(config.source);
        name = uri.text();
        memory = take_memory(uri.options);
        convert = uri.options.take("convert", "");
        source = detail::make_source(uri);
    }
    sinks.resize(std::max(sinks.size(), config.sinks.size()));
    if (sinks.empty())
        fail_usage(name + " has no sink", "null: takes samples and counts them");
    if (sinks.size() > kMaxSinks)
        fail_usage(std::to_string(sinks.size()) + " sinks: " + std::to_string(kMaxSinks) +
                   " are possible");
    std::vector<std::unique_ptr<detail::SinkWorker>> workers;
    for (std::size_t i = 0; i < sinks.size(); ++i)
        workers.push_back(make_worker(i < config.sinks.size() ? config.sinks[i] : "given",
                                  std::move(sinks[i]), convert));
    impl_->pipelines.push_back(Pipeline(std::make_unique<detail::Engine>(
        config, std::move(name), std::move(source), std::move(memory), std::move(workers))));
    return impl_->pipelines.size() - 1;
}

void Session::prepare()
{
    Impl& s = *impl_;
    if (s.running && !s.all_ended())
        fail_usage("prepare() of streams that run", "stop() ends them");
    s.prepared = 0;
    if (std::exchange(s.running, false)) { // another stream: the requests of the last are over
        s.stopping = false;
        s.stop.clear();
    }
    const Impl::Patient patient(s, Impl::Waiting::all);
    for (std::size_t i = 0; i < size(); ++i)
        s.engine(i).prepare();
    s.prepared = size();
}

void Session::start()
{
    if (std::exchange(impl_->prepared, 0) != size())
        fail_usage("start() of streams that are not prepared", "prepare() comes before each start()");
    enable();
}

void Session::enable()
try {
    Impl& s = *impl_;
    s.control.start();
    {
        const Impl::Patient patient(s, Impl::Waiting::sinks);
        for (std::size_t i = 0; i < size(); ++i)
            s.engine(i).start_sinks();
    }
    // Nothing but the enabling between the first source and the last: they start together.
    {
        const Impl::Patient patient(s, Impl::Waiting::sources);
        for (std::size_t i = 0; i < size(); ++i)
            s.engine(i).start_source();
    }
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
    if (!s.running && size() != 0)
        fail_usage("wait() for streams that do not run", "start() comes first");
    const std::int64_t deadline = sys::after(budget.count());
    for (;;) {
        s.over.clear(); // before the look, so that an end after it is not slept through
        if (s.all_ended())
            return true;
        bool failed = false;
        for (std::size_t i = 0; i < size(); ++i)
            failed = failed || s.engine(i).failed();
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

void Session::request_stop() noexcept
{
    impl_->stop.set();
    impl_->cancel_waiting();
}
std::size_t Session::size() const noexcept { return impl_->pipelines.size(); }
Pipeline& Session::operator[](std::size_t index) noexcept { return impl_->pipelines[index]; }

} // namespace iio_stream
