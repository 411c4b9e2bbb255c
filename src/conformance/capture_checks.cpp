// SPDX-License-Identifier: MIT
// 4xx: capture, start and stop, openers and lengths, by every path.
#include "conformance/streaming.hpp"
#include "core/base/text.hpp"
#include "iio_stream/reader.hpp"
#include "iio_stream/session.hpp"
#include "sys/event.hpp"
#include "sys/files.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <optional>

namespace iio_stream::conformance {

namespace {

using namespace std::chrono_literals;

constexpr int kCycles = 10;
constexpr std::size_t kCaptureBytes = 4 << 20;
constexpr double kCaptureSeconds = 0.25;
constexpr auto kUnplugDeadline = 10s;

void capture_by(Run& run, const Subject& subject, const Way& way)
{
    PipelineConfig config = capture_config(subject, way);
    config.samples = samples_of(subject, kCaptureSeconds, kCaptureBytes);
    const Summary summary = stream(run, config);
    if (run.stopped())
        return;
    Facts facts{{"samples", static_cast<std::int64_t>(summary.stats.samples)},
                {"blocks", static_cast<std::int64_t>(summary.stats.blocks)},
                {"block_bytes", static_cast<std::int64_t>(summary.block_size)},
                {"copies", static_cast<std::int64_t>(summary.copies())}};
    run.blame(summary.error);
    if (const std::string why = why_not_complete(summary, config.samples); !why.empty())
        run.fail(why, std::move(facts), way.text());
    else if (!summary.route.empty() && summary.route[0].mechanism != way.path)
        run.fail("the samples arrived by " + summary.route[0].mechanism +
                     " instead: " + summary.route[0].reason,
                 std::move(facts), way.text());
    else
        run.pass(std::to_string(config.samples) + " samples in " +
                     std::to_string(summary.stats.blocks) + " blocks",
                 std::move(facts), way.text());
}

// Starts and stops a stream kCycles times, after at least one block each time.
void cycle_by(Run& run, const Subject& subject, const Way& way)
{
    PipelineConfig config = capture_config(subject, way);
    config.sinks.clear();
    Reader reader(config);
    std::int64_t slowest_ns = 0;
    for (int cycle = 1; cycle <= kCycles && !run.stopped(); ++cycle) {
        const std::int64_t begin = sys::monotonic_ns();
        reader.start();
        const auto block = reader.next(3s);
        const bool came = block.has_value();
        const Summary summary = reader.close();
        run.blame(summary.error);
        if (!came || summary.error) {
            run.fail("start " + std::to_string(cycle) + " of " + std::to_string(kCycles) + ": " +
                         (summary.error ? summary.error->what() : "no block arrived within 3 s"),
                     {}, way.text());
            return;
        }
        slowest_ns = std::max(slowest_ns, sys::monotonic_ns() - begin);
    }
    const double slowest = static_cast<double>(slowest_ns) / 1e9;
    run.pass(std::to_string(kCycles) + " times; the slowest took " + seconds_text(slowest),
             {{"slowest_seconds", slowest}}, way.text());
}

// Streams, tries to open the device a second time, and continues to stream.
void open_twice(Run& run, const Subject& subject, const Way& way)
{
    PipelineConfig config = capture_config(subject, way);
    config.sinks.clear();
    Reader first(config);
    first.start();
    if (!first.next(3s)) {
        run.fail("no block arrived within 3 s", {}, way.text());
        return;
    }
    std::string refusal;
    try {
        config.timeout = 500ms;
        Reader second(config);
        second.start();
        (void)second.next(100ms);
        run.fail("a second program could open the device, too", {}, way.text());
        return;
    } catch (const Error& error) {
        if (error.code() != std::errc::device_or_resource_busy) {
            run.fail(std::string("a second program is refused with the wrong error: ") +
                         error.what(),
                     {}, way.text());
            return;
        }
        refusal = error.what();
    }
    for (int i = 0; i < 4; ++i)
        if (!first.next(3s)) {
            const Summary summary = first.close();
            run.fail("the second program ended the stream of the first one" +
                         (summary.error ? std::string(": ") + summary.error->what() : ""),
                     {}, way.text());
            return;
        }
    first.stop();
    if (const Summary summary = first.close(); summary.stats.gaps.certain != 0)
        run.fail("the first stream lost samples when a second program tried to open the device", {},
                 way.text());
    else
        run.pass("refused: " + refusal, {}, way.text());
}

// Streams numbers of samples that are not a multiple of a block: one sample, one more than a block,
// and one less than two blocks.
void odd_lengths_by(Run& run, const Subject& subject, const Way& way)
{
    PipelineConfig config = capture_config(subject, way);
    config.block_size = block_bytes(subject, 0.005, 64 * 1024);
    const std::uint64_t block = config.block_size / subject.sample_bytes();
    std::string lengths;
    for (const std::uint64_t samples : {std::uint64_t{1}, block + 1, 2 * block - 1}) {
        if (samples == 0 || run.stopped())
            continue;
        config.samples = samples;
        const Summary summary = stream(run, config);
        run.blame(summary.error);
        if (const std::string why = why_not_complete(summary, samples);
            !why.empty() && !run.stopped()) {
            run.fail("a stream of " + std::to_string(samples) + " samples: " + why, {}, way.text());
            return;
        }
        detail::add_item(lengths, std::to_string(samples));
    }
    run.pass("streams of " + lengths + " samples, in blocks of " + std::to_string(block), {},
             way.text());
}

void for_each_path(Run& run, const Subject& subject,
                   void (*check)(Run&, const Subject&, const Way&))
{
    run.each_way(subject.one_way_per_path(), [&](const Way& way) { check(run, subject, way); });
    for (const auto& [way, why] : subject.unusable)
        if (way == "fileio") // dangerous on this kernel
            run.skip(why, way);
}

} // namespace

void check_capture(Run& run, Subject* subject)
{
    run.each_way(subject->ways, [&](const Way& way) { capture_by(run, *subject, way); });
    for (const auto& [way, why] : subject->unusable)
        run.skip(why, way);
}

void check_start_stop(Run& run, Subject* subject)
{
    for_each_path(run, *subject, cycle_by);
}

void check_two_openers(Run& run, Subject* subject)
{
    for_each_path(run, *subject, open_twice);
}

void check_odd_lengths(Run& run, Subject* subject)
{
    for_each_path(run, *subject, odd_lengths_by);
}

namespace {

// The driver of a device in sysfs. Writing the device's name to its file unbind removes the device,
// and writing it to bind brings the device back.
struct Driver {
    std::string folder, name;
};

std::optional<Driver> driver_of(const Subject& subject)
{
    namespace fs = std::filesystem;
    std::error_code error;
    const fs::path parent = fs::canonical(subject.folder(), error).parent_path();
    const fs::path driver = error ? fs::path() : fs::canonical(parent / "driver", error);
    if (error || !sys::path_exists((driver / "unbind").string()))
        return std::nullopt;
    return Driver{driver.string(), parent.filename().string()};
}

// Unbinds the driver during a stream and waits until the stream ends or the deadline passes.
// Describes the fault; empty if there is none.
std::string unbind_while_streaming(Run& run, const Subject& subject, const Driver& driver)
{
    PipelineConfig config = capture_config(subject, subject.ways.front());
    config.duration = 0s;
    Session session;
    session.add(config);
    session.start();
    const std::int64_t deadline = sys::after(std::chrono::nanoseconds(kUnplugDeadline).count());
    while (session[0].stats().blocks < 2 && sys::monotonic_ns() < deadline && !session.wait(10ms))
        continue;
    sys::write_text(driver.folder + "/unbind", driver.name);
    const std::int64_t unbound = sys::monotonic_ns();
    const bool ended = session.wait(kUnplugDeadline);
    const double seconds = static_cast<double>(sys::monotonic_ns() - unbound) / 1e9;
    session.stop(Stop::abort);
    const Summary summary = session[0].summary();
    if (!ended)
        return "the stream did not end within 10 s of the unbinding";
    if (!summary.error)
        return "the stream ended without an error when its driver was unbound";
    if (!run.stopped() && summary.error->code() != std::errc::no_such_device)
        return std::string("the stream ended with an error other than ENODEV: ") +
               summary.error->what();
    return seconds > 5 ? "the stream ended only after " + seconds_text(seconds) : "";
}

} // namespace

void check_unplug(Run& run, Subject* subject)
{
    if (!run.options().destructive) {
        run.skip("only with --destructive: it unbinds the driver and binds it again");
        return;
    }
    const auto driver = driver_of(*subject);
    if (!driver) {
        run.skip("the device's driver cannot be unbound");
        return;
    }
    std::string wrong = unbind_while_streaming(run, *subject, *driver);
    sys::write_text(driver->folder + "/bind", driver->name);
    const std::int64_t deadline = sys::after(std::chrono::nanoseconds(kUnplugDeadline).count());
    while (!sys::path_exists(subject->folder()) && sys::monotonic_ns() < deadline)
        sys::wait_for(-1, 0, sys::after(20'000'000));
    if (!sys::path_exists(subject->folder()))
        detail::add_clause(wrong, subject->device.id() +
                                      " did not come back after its driver was bound again");
    if (!wrong.empty()) {
        run.fail(wrong);
        return;
    }
    PipelineConfig config = capture_config(*subject, subject->ways.front());
    config.samples = samples_of(*subject, kCaptureSeconds, kCaptureBytes);
    if (const std::string why = why_not_complete(stream(run, config), config.samples); !why.empty())
        run.fail("after its driver was bound again: " + why);
    else
        run.pass("the stream ended with ENODEV, and " + driver->name +
                 " works after it was bound again");
}

} // namespace iio_stream::conformance
