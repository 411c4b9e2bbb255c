// SPDX-License-Identifier: MIT
#pragma once

#include "core/user_queue.hpp"
#include "iio_stream/pipeline.hpp"

#include <atomic>
#include <cerrno>
#include <utility>

namespace iio_stream::detail {

/// What Reader and Writer have in common: a session of one pipeline whose one end is the caller.
/// Thread: the caller's.
struct UserStream {
    explicit UserStream(const char* what) : verb(what) {}

    void prepare()
    {
        session.prepare();
        prepared = true;
        running = false;
        done = false;
        error.reset();
    }
    void start()
    {
        if (running)
            (void)finish();
        if (!std::exchange(prepared, false))
            prepare();
        prepared = false;
        session.start();
        running = true;
    }
    /// `end` is the caller's end of the pipeline, a ReaderSink or WriterSource.
    template <typename End>
    auto take(End& end, std::chrono::nanoseconds budget) -> decltype(end.queue.pop())
    {
        const std::int64_t deadline = sys::after(budget.count());
        for (;;) {
            const bool over = end.queue.over(); // before the look: nothing comes behind it
            if (!over || End::kOutlastsTheStream)
                if (auto item = end.queue.pop())
                    return item;
            if (over) {
                settle(deadline);
                return {};
            }
            if (!running)
                return {}; // nothing comes before start()
            const std::int64_t patience = sys::after(end.timeout_ns);
            if (end.queue.wait(std::min(deadline, patience)))
                continue;
            if (end.held() == end.count())
                throw Error(Fault::usage, ENOBUFS, verb, name,
                            "all " + std::to_string(end.count()) +
                                " blocks are in the caller's hands",
                            "let some go, copy what is to be kept, or ask for more blocks");
            if (sys::monotonic_ns() >= deadline)
                return {};
        }
    }
    /// The stream is over for the caller: once all is closed, throws what ended it.
    void settle(std::int64_t deadline_ns)
    {
        if (!done && running) {
            const std::int64_t left = std::max<std::int64_t>(deadline_ns - sys::monotonic_ns(), 0);
            if (!session.wait(std::chrono::nanoseconds(left)))
                return;
            error = session[0].summary().error;
        }
        done = true;
        if (error)
            throw *error;
    }
    Summary finish()
    {
        session.stop();
        prepared = running = false;
        done = true;
        Summary summary = session[0].summary();
        error = summary.error;
        return summary;
    }

    Session session;
    const char* verb;  ///< what the caller does, for error messages
    std::string name;  ///< of the other end
    bool prepared = false, running = false;
    std::atomic<bool> done{false}; ///< the caller knows of the end; read by any thread
    std::optional<Error> error; ///< that ended it
};

} // namespace iio_stream::detail
