// SPDX-License-Identifier: MIT
#include "usb/board/attribute_worker.hpp"

#include "iio_stream/error.hpp"
#include "sys/event.hpp"
#include "sys/named_thread.hpp"
#include "sys/stream_file.hpp"

#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

namespace iio_stream::usb {

namespace {

constexpr std::int64_t kDeadlineNs = 8'000'000'000; ///< shorter than the time that a host waits
/// How long to wait for a request at the end of the stream.
constexpr std::chrono::seconds kGrace{2};

std::string overdue_answer()
{
    return error_answer(Error(Fault::device, ETIMEDOUT, "wait for", "the attribute",
                              "the device has not answered yet"));
}

} // namespace

struct AttributeWorker::State {
    struct Request {
        std::size_t number = 0;
        std::optional<std::string> value; ///< value to set; empty: read it
        std::int64_t since_ns = 0;
    };

    std::mutex mutex;
    std::condition_variable changed;
    std::optional<Request> request;
    std::vector<std::optional<std::string>> answers;
    Tuning tuning;
    bool over = false, ended = false;
    AttributeAllowlist attributes; ///< used by the thread only
};

AttributeWorker::AttributeWorker(AttributeAllowlist attributes) : state_(std::make_shared<State>())
{
    state_->answers.resize(attributes.names().size());
    state_->tuning = attributes.tuning();
    state_->attributes = std::move(attributes);
    std::thread([state = state_] {
        const sys::NamedThread name("iios-attributes");
        run(state);
    }).detach();
}

AttributeWorker::~AttributeWorker()
{
    std::unique_lock lock(state_->mutex);
    state_->over = true;
    state_->changed.notify_all();
    state_->changed.wait_for(lock, kGrace, [this] { return state_->ended; });
}

void AttributeWorker::run(const std::shared_ptr<State>& state) noexcept
{
    sys::block_write_signals();
    State& s = *state;
    std::unique_lock lock(s.mutex);
    for (;;) {
        s.changed.wait(lock, [&] { return s.over || s.request; });
        if (s.over)
            break;
        const State::Request request = *s.request;
        lock.unlock();
        if (request.value)
            s.attributes.set(request.number, *request.value);
        std::string answer = s.attributes.answer(request.number);
        lock.lock();
        s.answers[request.number] = std::move(answer);
        s.tuning = s.attributes.tuning();
        s.request.reset();
    }
    s.ended = true;
    s.changed.notify_all();
}

bool AttributeWorker::is_free() const
{
    const std::lock_guard lock(state_->mutex);
    return !state_->request;
}

void AttributeWorker::set(std::size_t number, const std::string& value)
{
    const std::lock_guard lock(state_->mutex);
    state_->answers[number].reset();
    state_->request.emplace(State::Request{number, value, sys::monotonic_ns()});
    state_->changed.notify_all();
}

std::optional<std::string> AttributeWorker::answer(std::size_t number)
{
    const std::lock_guard lock(state_->mutex);
    if (state_->request) {
        const bool late = sys::monotonic_ns() >= state_->request->since_ns + kDeadlineNs;
        return late ? std::optional(overdue_answer()) : std::nullopt;
    }
    if (auto answer = std::exchange(state_->answers[number], std::nullopt))
        return answer;
    state_->request.emplace(State::Request{number, std::nullopt, sys::monotonic_ns()});
    state_->changed.notify_all();
    return std::nullopt;
}

Tuning AttributeWorker::tuning() const
{
    const std::lock_guard lock(state_->mutex);
    return state_->tuning;
}

} // namespace iio_stream::usb
