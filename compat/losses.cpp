// SPDX-License-Identifier: MIT
#include "losses.hpp"

#include "settings.hpp"
#include <iio_stream/units.hpp>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <mutex>
#include <poll.h>
#include <set>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

namespace iio_stream::compat {

namespace {

constexpr int kPeriodMs = 100;
constexpr std::chrono::seconds kMetricsPeriod{1};
constexpr int kLongestExitMs = 1000; ///< longest time that an exit waits for the last report

/// Reports the losses of this process's streams, on its own thread.
class Reporter {
public:
    /// Never destroyed: programs also call libiio from atexit().
    static Reporter& get()
    {
        static auto* const reporter = new Reporter;
        return *reporter;
    }

    void add(Losses& losses)
    {
        const std::lock_guard lock(mutex_);
        streams_.insert(&losses);
        if (process_ != ::getpid()) // a forked child does not have the parent's thread
            start_thread();
        wake();
    }
    void remove(Losses& losses)
    {
        const std::lock_guard lock(mutex_);
        streams_.erase(&losses);
    }
    /// Waits until all losses are reported. Safe in a signal handler: it takes no lock.
    void report_rest() noexcept
    {
        if (process_ != ::getpid()) // for example in a child between fork() and exec()
            return;
        const unsigned wanted = ++asked_;
        wake();
        for (int ms = 0; static_cast<int>(done_ - wanted) < 0 && ms < kLongestExitMs; ++ms) {
            const timespec millisecond{0, 1'000'000};
            ::nanosleep(&millisecond, nullptr);
        }
    }

private:
    void wake() noexcept
    {
        const std::uint64_t one = 1;
        (void)!::write(event_, &one, sizeof one);
    }
    // Blocks all signals on the thread, so that the program's handlers do not run on it.
    void start_thread()
    {
        sigset_t all, before;
        ::sigfillset(&all);
        ::pthread_sigmask(SIG_SETMASK, &all, &before);
        std::thread([this] { run(); }).detach();
        ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
        process_ = ::getpid();
    }
    void run() noexcept
    {
        bool idle = false;
        for (;;) {
            pollfd wait{event_, POLLIN, 0};
            std::uint64_t count;
            if (::poll(&wait, 1, idle ? -1 : kPeriodMs) > 0)
                (void)!::read(event_, &count, sizeof count);
            const unsigned asked = asked_;
            const std::lock_guard lock(mutex_);
            for (Losses* losses : streams_)
                try {
                    losses->report_now(asked != done_);
                } catch (const std::exception&) { // out of memory: try again next time
                }
            idle = streams_.empty();
            done_ = asked;
        }
    }

    std::mutex mutex_;
    std::set<Losses*> streams_;
    const int event_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    std::atomic<unsigned> asked_{0}, done_{0}; ///< numbers of requested and finished reports
    std::atomic<pid_t> process_{0};            ///< the process that has the thread
};

std::atomic<bool> g_reports{false}; ///< whether a stream has started

void report_rest() noexcept
{
    if (g_reports)
        Reporter::get().report_rest();
}

[[gnu::destructor]] void at_exit()
{
    report_rest();
}

} // namespace

Losses::~Losses()
{
    end();
}

void Losses::begin(const std::vector<Hop>& route)
{
    static std::mutex mutex;
    static auto* const told =
        new std::set<std::string>; // never destroyed: programs also call libiio from atexit()
    g_reports = true;
    Reporter::get().add(*this);
    const std::lock_guard lock(mutex);
    for (const Hop& hop : route)
        if (!hop.warning.empty() && !Settings::get().quiet)
            std::fprintf(stderr, "iio-stream: %s: warning: %s\n", device_.c_str(),
                         hop.warning.c_str());
    if (Settings::get().quiet || !Settings::get().path.empty() || !told->insert(device_).second)
        return;
    for (const Hop& hop : route)
        if (hop.mechanism == "fileio" && !hop.reason.empty())
            std::fprintf(stderr, "iio-stream: %s: %s, %u cop%s: %s\n", device_.c_str(),
                         hop.mechanism.c_str(), hop.copies, hop.copies == 1 ? "y" : "ies",
                         hop.reason.c_str());
}

void Losses::end()
{
    Reporter::get().remove(*this);
}

void Losses::report_now(bool all)
{
    const Stats stats = stats_();
    const auto now = std::chrono::steady_clock::now();
    if (!tell(stats) && !all && now < next_metrics_)
        return;
    next_metrics_ = now + kMetricsPeriod;
    metrics_.update(stats);
}

void Losses::report(const Stats& stats)
{
    tell(stats);
    metrics_.update(stats);
}

bool Losses::tell(const Stats& stats)
{
    const std::uint64_t underflows = stats.underflows();
    const bool more = stats.gaps.certain != told_.certain ||
                      stats.gaps.possible != told_.possible ||
                      stats.gaps.lost_min != told_.lost_min;
    if (!Settings::get().quiet && more)
        std::fprintf(stderr, "iio-stream: %s: %llu gap%s, %llu possible; %s samples lost so far\n",
                     device_.c_str(), static_cast<unsigned long long>(stats.gaps.certain),
                     stats.gaps.certain == 1 ? "" : "s",
                     static_cast<unsigned long long>(stats.gaps.possible),
                     format_bounds(stats.gaps.lost_min, stats.gaps.lost_max).c_str());
    const bool more_underflows = underflows != underflows_told_;
    if (!Settings::get().quiet && more_underflows)
        std::fprintf(stderr, "iio-stream: %s: %llu underflows so far\n", device_.c_str(),
                     static_cast<unsigned long long>(underflows));
    told_ = stats.gaps;
    underflows_told_ = underflows;
    return more || more_underflows;
}

} // namespace iio_stream::compat

// The C library's versions do not run destructors, so they would skip the last report.
extern "C" {

[[noreturn, gnu::visibility("default")]] void _exit(int status)
{
    iio_stream::compat::report_rest();
    for (;;)
        ::syscall(SYS_exit_group, status);
}

[[noreturn, gnu::visibility("default")]] void _Exit(int status)
{
    _exit(status);
}

} // extern "C"
