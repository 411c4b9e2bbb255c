// SPDX-License-Identifier: MIT
#include "iio_stream/session.hpp"

#include "core/options/common_options.hpp"
#include "core/options/registry.hpp"
#include "core/stream/engine.hpp"
#include "core/user/user_stream.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <poll.h>
#include <string>
#include <thread>
#include <utility>

namespace iio_stream {

namespace {

constexpr std::size_t kMaxSinks = 12;

std::optional<Memory> take_memory_option(Options& options)
{
    const auto text = options.take(detail::kCommon["memory"]);
    if (!text || *text == "auto")
        return std::nullopt;
    return Memory::parse("memory", *text);
}

std::unique_ptr<detail::SinkLink> make_sink_link(Uri uri, std::unique_ptr<Sink> sink,
                                                 const std::string& convert,
                                                 const std::string& channels)
{
    std::string name = uri.text();
    detail::SinkLinkOptions options;
    if (!sink) {
        options = detail::SinkLinkOptions::from(uri.options);
        sink = detail::make_sink(uri);
    }
    if (options.convert.empty())
        options.convert = convert;
    options.channels = channels;
    return std::make_unique<detail::SinkLink>(std::move(sink), std::move(name), options);
}

// Opens the endpoints of `config` and creates the engine of their pipeline. If `source` or `sinks`
// are given, they replace the endpoints of `config`, whose addresses are then only names. Throws
// the Errors of the endpoints, and a usage Error if the pipeline has no sink or too many sinks.
std::unique_ptr<detail::Engine> make_engine(const PipelineConfig& config,
                                            std::unique_ptr<Source> source,
                                            std::vector<std::unique_ptr<Sink>> sinks)
{
    Uri uri = config.source;
    const std::string name = uri.empty() ? "given" : uri.text();
    std::optional<Memory> memory;
    std::string convert, channels;
    if (!source && uri.empty())
        fail_usage("there is no source", "such as sim: or iio:DEVICE");
    if (!source) {
        memory = take_memory_option(uri.options);
        convert = uri.options.take(detail::kCommon["convert"]).value_or("");
        if (!detail::has_own_option(uri.scheme, detail::kCommon["channels"]))
            channels = uri.options.take(detail::kCommon["channels"]).value_or("");
        source = detail::make_source(uri);
    }
    sinks.resize(std::max(sinks.size(), config.sinks.size()));
    if (sinks.empty())
        fail_usage(name + " has no sink", "null: counts samples and discards them");
    if (sinks.size() > kMaxSinks)
        fail_usage(std::to_string(sinks.size()) + " sinks: at most " + std::to_string(kMaxSinks) +
                   " are possible");
    std::vector<std::unique_ptr<detail::SinkLink>> links;
    for (std::size_t i = 0; i < sinks.size(); ++i)
        links.push_back(
            make_sink_link(i < config.sinks.size() ? config.sinks[i] : Uri::named("given"),
                           std::move(sinks[i]), convert, channels));
    return std::make_unique<detail::Engine>(config, std::move(source), std::move(memory),
                                            std::move(links));
}

} // namespace

Pipeline::Pipeline(std::unique_ptr<detail::Engine> engine) : engine_(std::move(engine)) {}
Pipeline::Pipeline(Pipeline&&) noexcept = default;
Pipeline::~Pipeline() = default;

const Format& Pipeline::format() const noexcept
{
    return engine_->format();
}
const std::vector<Hop>& Pipeline::route() const noexcept
{
    return engine_->route();
}
Stats Pipeline::stats() const
{
    return engine_->stats();
}
std::vector<Event> Pipeline::take_events()
{
    return engine_->take_events();
}
Summary Pipeline::summary() const
{
    return engine_->summary();
}
std::vector<std::uint64_t> Pipeline::free_space_left() const
{
    return engine_->free_space_left();
}
bool Pipeline::ended() const noexcept
{
    return engine_->ended();
}
bool Pipeline::repeats() const noexcept
{
    return engine_->repeats();
}
void Pipeline::request_stop(Stop how) noexcept
{
    engine_->request_stop(how);
}

struct Session::Impl {
    // Objects that the engines' threads use until they end are declared before the engines.
    detail::ControlThread control;
    sys::Event over; // set when a pipeline has ended
    sys::Event stop; // set by request_stop()
    std::vector<Pipeline> pipelines;
    std::vector<bool> prepared; ///< per pipeline: whether it was prepared and not started since
    std::vector<std::unique_ptr<Reader>> readers;
    std::vector<std::unique_ptr<Writer>> writers;
    /// Serializes the threads of readers and writers that change this object.
    std::mutex turn;
    std::atomic<unsigned> runs{0}; ///< number of starts
    bool stopping = false, running = false;
    /// The endpoints that can be waiting for a peer. They give up when request_stop() is called.
    enum class Waiting { none, all, sinks, sources };
    std::atomic<Waiting> waiting{Waiting::none};

    void cancel_waiting() noexcept;

    /// While this object exists, request_stop() cancels the wait of the endpoints in `who`. An
    /// earlier request_stop() cancels it as well.
    struct Patient {
        Patient(Impl& s, Waiting who) : impl(s)
        {
            impl.waiting = who;
            if (impl.stop.is_set())
                impl.cancel_waiting();
        }
        Patient(const Patient&) = delete;
        ~Patient() { impl.waiting = Waiting::none; }

        Impl& impl;
    };

    detail::Engine& engine(std::size_t i) { return *pipelines[i].engine_; }
    bool all_ended() noexcept
    {
        return std::all_of(pipelines.begin(), pipelines.end(),
                           [](const Pipeline& p) { return p.ended(); });
    }
    void prepare(std::size_t first = 0);
    void start();
};

// Can be called on any thread or in a signal handler.
void Session::Impl::cancel_waiting() noexcept
{
    const Waiting who = waiting;
    for (std::size_t i = 0; i < pipelines.size() && who != Waiting::none; ++i) {
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
    const std::lock_guard turn(impl_->turn);
    if (impl_->running && !impl_->all_ended())
        fail_usage("cannot add a stream to a running session",
                   "add it before start(), or stop() the session");
    impl_->pipelines.push_back(Pipeline(make_engine(config, std::move(source), std::move(sinks))));
    impl_->prepared.push_back(false);
    return impl_->pipelines.size() - 1;
}

Reader& Session::add_reader(PipelineConfig config)
{
    impl_->readers.push_back(std::unique_ptr<Reader>(new Reader(std::move(config), this)));
    return *impl_->readers.back();
}

Writer& Session::add_writer(PipelineConfig config, Format format)
{
    impl_->writers.push_back(
        std::unique_ptr<Writer>(new Writer(std::move(config), std::move(format), this)));
    return *impl_->writers.back();
}

void Session::prepare()
{
    const std::lock_guard turn(impl_->turn);
    impl_->prepare();
}

// Prepares the pipelines from `first` on that are not prepared yet.
void Session::Impl::prepare(std::size_t first)
{
    if (running && !all_ended())
        fail_usage("prepare() while streams run", "stop() them first");
    if (std::exchange(running, false)) { // requests to stop the previous stream no longer apply
        stopping = false;
        stop.clear();
    }
    const Patient patient(*this, Waiting::all);
    for (std::size_t i = first; i < pipelines.size(); ++i)
        if (!prepared[i]) {
            engine(i).prepare();
            prepared[i] = true;
        }
}

void Session::start()
{
    const std::lock_guard turn(impl_->turn);
    if (!impl_->running || impl_->all_ended())
        impl_->start();
}

void Session::Impl::start()
try {
    prepare();
    prepared.assign(pipelines.size(), false);
    control.start();
    {
        const Patient patient(*this, Waiting::sinks);
        for (std::size_t i = 0; i < pipelines.size(); ++i)
            engine(i).start_sinks();
        for (std::size_t i = 0; i < pipelines.size(); ++i)
            engine(i).start_storage();
    }
    // Between the first source and the last, this loop only enables devices, so that they start
    // together.
    {
        const Patient patient(*this, Waiting::sources);
        for (std::size_t i = 0; i < pipelines.size(); ++i)
            engine(i).start_source();
    }
    running = true;
    for (std::size_t i = 0; i < pipelines.size(); ++i)
        engine(i).launch(control, over);
    ++runs;
} catch (...) {
    for (std::size_t i = 0; i < pipelines.size(); ++i)
        engine(i).abandon();
    prepared.assign(pipelines.size(), false);
    throw;
}

bool Session::wait(std::chrono::nanoseconds budget)
{
    Impl& s = *impl_;
    if (!s.running && size() != 0)
        fail_usage("wait() before start()", "call start() first");
    const std::int64_t deadline = sys::after(budget.count());
    for (;;) {
        s.over.clear(); // cleared before the check, so that a later end is noticed
        if (s.all_ended())
            return true;
        bool failed = false;
        for (std::size_t i = 0; i < size(); ++i)
            failed = failed || s.engine(i).failed();
        if (!s.stopping && (failed || s.stop.is_set())) {
            s.stopping = true;
            for (std::size_t i = 0; i < size(); ++i)
                s.engine(i).request_stop(Stop::drain, s.stop.is_set() ? detail::EndReason::signal
                                                                      : detail::EndReason::stopped);
        }
        const std::int64_t left = deadline - sys::monotonic_ns();
        if (left <= 0)
            return false;
        pollfd fds[] = {{s.over.fd(), POLLIN, 0}, {s.stopping ? -1 : s.stop.fd(), POLLIN, 0}};
        const auto ms = std::min<std::int64_t>(left / 1'000'000 + 1, 60'000);
        (void)::poll(fds, 2, static_cast<int>(ms));
    }
}

void Session::stop(Stop how)
{
    Impl& s = *impl_;
    const std::lock_guard turn(s.turn);
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
std::size_t Session::size() const noexcept
{
    return impl_->pipelines.size();
}
Pipeline& Session::operator[](std::size_t index) noexcept
{
    return impl_->pipelines[index];
}

namespace detail {

void UserStream::add(const PipelineConfig& config, std::unique_ptr<Source> source,
                     std::vector<std::unique_ptr<Sink>> sinks)
{
    index = session.add(config, std::move(source), std::move(sinks));
    Session::Impl& s = *session.impl_;
    const std::lock_guard turn(s.turn);
    try {
        s.prepare(index);
    } catch (...) { // a stream that cannot be prepared does not become part of the session
        s.pipelines.pop_back();
        s.prepared.pop_back();
        throw;
    }
    run = s.runs;
}

unsigned UserStream::runs() const noexcept
{
    return session.impl_->runs;
}

bool UserStream::wait_until(std::int64_t deadline_ns) const
{
    while (!pipeline().ended()) {
        const std::int64_t left = deadline_ns - sys::monotonic_ns();
        if (left <= 0)
            return false;
        std::this_thread::sleep_for(
            std::chrono::nanoseconds(std::min<std::int64_t>(left, 1'000'000)));
    }
    return true;
}

void UserStream::stop_and_join()
{
    Session::Impl& s = *session.impl_;
    const std::lock_guard turn(s.turn);
    if (!s.running)
        return;
    s.engine(index).request_stop(Stop::drain);
    s.engine(index).join();
}

} // namespace detail

} // namespace iio_stream
