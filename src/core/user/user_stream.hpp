// SPDX-License-Identifier: MIT
#pragma once

#include "core/user/user_queue.hpp"
#include "iio_stream/session.hpp"

#include <atomic>
#include <cerrno>
#include <utility>

namespace iio_stream::detail {

/// The common part of Reader and Writer: a pipeline with the caller at one end, in a session of its
/// own or in a session with other pipelines.
/// Thread: the caller's.
struct UserStream {
    /// `what`: see `verb`. `with`: the session that the stream is part of, which must outlive it;
    /// null: the stream has a session of its own.
    UserStream(const char* what, Session* with)
        : own(with == nullptr ? std::make_unique<Session>() : nullptr),
          session(with == nullptr ? *own : *with),
          verb(what)
    {}

    Pipeline& pipeline() const noexcept { return session[index]; }

    /// Returns whether another stream has begun since the last call, because the session was
    /// restarted.
    bool renewed()
    {
        if (std::exchange(run, runs()) == runs())
            return false;
        running = true;
        done = false;
        error.reset();
        return true;
    }
    void start()
    {
        if (own && running)
            (void)close();
        session.start();
    }
    /// `end` is the caller's end of the pipeline, a ReaderSink or WriterSource.
    template <typename End>
    auto take(End& end, std::chrono::nanoseconds budget) -> Next<typename End::Given>
    {
        if (!running)
            return Next<typename End::Given>(Outcome::ended); // the stream was closed
        const std::int64_t deadline = sys::after(budget.count());
        for (;;) {
            const bool over = end.queue.over(); // read before pop(): no item follows the end
            if (!over || End::kOutlastsTheStream)
                if (auto item = end.queue.pop())
                    return std::move(*item);
            if (over) {
                wait_for_end(deadline);
                return Next<typename End::Given>(done ? Outcome::ended : Outcome::timeout);
            }
            const std::int64_t patience = sys::after(end.timeout_ns);
            if (end.queue.wait(std::min(deadline, patience)))
                continue;
            if (end.held() == end.count())
                throw Error(Fault::usage, ENOBUFS, verb, name,
                            "the caller holds all " + std::to_string(end.count()) + " blocks",
                            "release some, copy what you keep, or ask for more blocks");
            if (sys::monotonic_ns() >= deadline)
                return Next<typename End::Given>(Outcome::timeout);
        }
    }
    /// Call when the stream is over for the caller. Waits until the pipeline has ended, then throws
    /// the error that ended it, if there is one. Returns without effect if `deadline_ns` passes
    /// first.
    void wait_for_end(std::int64_t deadline_ns)
    {
        if (!done && running) {
            if (!wait_until(deadline_ns))
                return;
            error = pipeline().summary().error;
        }
        done = true;
        if (error)
            throw *error;
    }
    Summary close()
    {
        stop_and_join();
        running = false;
        done = true;
        Summary summary = pipeline().summary();
        error = summary.error;
        return summary;
    }

    // Access to the session; defined in session.cpp.
    void add(const PipelineConfig& config, std::unique_ptr<Source> source,
             std::vector<std::unique_ptr<Sink>> sinks); ///< also prepares it
    unsigned runs() const noexcept;                     ///< number of starts of the session
    bool wait_until(std::int64_t deadline_ns) const;
    void stop_and_join();

    std::unique_ptr<Session> own;
    Session& session;
    std::size_t index = 0; ///< of the pipeline in the session
    const char* verb;      ///< "read" or "write", for error messages
    std::string name;      ///< name of the other endpoint
    unsigned run = 0;      ///< run of the session to which the following members belong
    bool running = false;
    std::atomic<bool> done{false}; ///< the end was reported to the caller; read on any thread
    std::optional<Error> error;    ///< the error that ended the stream
};

} // namespace iio_stream::detail
