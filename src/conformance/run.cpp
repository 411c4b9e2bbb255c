// SPDX-License-Identifier: MIT
#include "conformance/run.hpp"

#include "conformance/buffer_settings.hpp"
#include "core/base/text.hpp"
#include "iio/context/local_context.hpp"
#include "iio_stream/units.hpp"
#include "sys/event.hpp"
#include "sys/files.hpp"

#include <algorithm>
#include <exception>

namespace iio_stream::conformance {

namespace {

constexpr double kNsPerSecond = 1e9;

bool is_selected(const Item& item, const std::vector<std::string>& only)
{
    return only.empty() || std::any_of(only.begin(), only.end(), [&](const std::string& name) {
               return name == item.name || name == std::to_string(item.number);
           });
}

void require_known(const std::vector<std::string>& only)
{
    std::vector<std::string> known;
    for (const Item& item : items())
        known.emplace_back(item.name);
    for (const std::string& name : only)
        if (std::none_of(items().begin(), items().end(),
                         [&](const Item& item) { return is_selected(item, {name}); }))
            fail_usage("there is no check '" + name + "'", suggest(name, known));
}

std::string described(const BufferInfo& buffer)
{
    std::string text;
    for (const Channel& channel : buffer.channels)
        detail::add_item(text, channel.id + " " + channel.type.text());
    return (buffer.output ? "output: " : "input: ") + text;
}

std::size_t count_open_files()
{
    return sys::list_directory("/proc/self/fd").size();
}

} // namespace

Run::Run(const ConformanceOptions& options,
         const std::function<void(const ConformanceResult&)>& seen, const std::atomic<bool>& stop)
    : options_(options), seen_(seen), stop_(stop)
{
    require_known(options.only);
    find_devices();
}

void Run::find_devices()
{
    devices_ = options_.device.empty() ? iio_stream::devices()
                                       : std::vector{iio_stream::device(options_.device)};
    report_.emulated = sys::path_exists("/sys/module/iios_sim");
    if (devices_.empty())
        return;
    const iio::ContextPtr context = iio::open_local();
    for (const DeviceInfo& info : devices_) {
        CheckedDevice checked{info.id, info.name, info.label, {}};
        for (const BufferInfo& buffer : info.buffers) {
            checked.buffers.push_back(described(buffer));
            subjects_.push_back(
                {iio::find_device(context, "local:", info.id), info, buffer, {}, {}, {}, false});
            find_ways(subjects_.back());
        }
        report_.devices.push_back(std::move(checked));
    }
    if (!options_.device.empty() && subjects_.empty())
        fail_usage(options_.device +
                       " has no buffer, so that nothing can be streamed from it or to it",
                   "iio-stream info lists the devices that have one");
}

void Run::add(CheckOutcome outcome, const std::string& device, const std::string& text, Facts facts,
              const std::string& variant)
{
    const std::int64_t now = sys::monotonic_ns();
    if (outcome == CheckOutcome::fail && item_->scope != Scope::machine &&
        item_->scope != Scope::buffer && !variant.starts_with("fileio"))
        dmabuf_failed_.insert(device);
    if (outcome != CheckOutcome::fail)
        fault_.reset();
    report_.results.push_back({item_->number, item_->name, device, variant, outcome,
                               detail::printable(text), std::move(facts),
                               static_cast<double>(now - since_ns_) / kNsPerSecond, fault_});
    since_ns_ = now;
    fault_.reset();
    seen_(report_.results.back());
}

void Run::pass(const std::string& text, Facts facts, const std::string& variant)
{
    add(CheckOutcome::pass, device_, text, std::move(facts), variant);
}

void Run::fail(const std::string& text, Facts facts, const std::string& variant)
{
    add(CheckOutcome::fail, device_, text, std::move(facts), variant);
}

void Run::fail(const Error& error, const std::string& variant)
{
    // An Error from sys/ has Fault::other. In a check of a device, the device is to blame.
    fault_ =
        item_->scope == Scope::machine ? error.fault() : error.blamed_on(Fault::device).fault();
    add(CheckOutcome::fail, device_, error.what(), {}, variant);
}

void Run::blame(const std::optional<Error>& error) noexcept
{
    if (error)
        fault_ = error->fault();
}

void Run::each_way(const std::vector<Way>& ways, const std::function<void(const Way&)>& check)
{
    for (const Way& way : ways) {
        if (stopped())
            return;
        if (way.path == "fileio" && dmabuf_failed_.count(device_) != 0) {
            skip("not tried after a failure with DMABUFs: blocks that stay in the kernel's queue "
                 "make read() crash",
                 way.text());
            continue;
        }
        try {
            check(way);
        } catch (const Error& error) {
            fail(error, way.text());
        }
    }
}

void Run::skip(const std::string& text, const std::string& variant)
{
    add(CheckOutcome::skip, device_, text, {}, variant);
}

void Run::pass_for(const std::string& device, const std::string& text, Facts facts)
{
    add(CheckOutcome::pass, device, text, std::move(facts), {});
}

void Run::fail_for(const std::string& device, const std::string& text)
{
    add(CheckOutcome::fail, device, text, {}, {});
}

void Run::remember(const std::string& path, const std::string& value)
{
    remembered_.emplace(path, value); // the first value counts
}

void Run::not_restored(const std::string& text)
{
    unrestored_.push_back(text);
}

void Run::run_for(const Item& item, Subject* subject)
{
    device_ = subject == nullptr ? "" : subject->name();
    const std::size_t before = report_.results.size();
    try {
        if (stopped())
            skip("the run was stopped before this check");
        else if (subject != nullptr && item.scope != Scope::buffer && !subject->blocked.empty())
            skip(subject->blocked);
        else if (subject != nullptr && item.scope != Scope::buffer) {
            const BufferSettingsGuard guard(*this,
                                            *subject); // the stream changes channels and lengths
            item.check(*this, subject);
        } else
            item.check(*this, subject);
    } catch (const Error& error) {
        fail(error);
    } catch (const std::exception& error) {
        fail(error.what());
    }
    if (report_.results.size() == before)
        skip(stopped() ? "the run was stopped during this check" : "there is nothing to check");
}

void Run::run_item(const Item& item)
{
    item_ = &item;
    since_ns_ = sys::monotonic_ns();
    if (item.scope == Scope::machine) {
        run_for(item, nullptr);
        return;
    }
    bool any = false;
    for (Subject& subject : subjects_)
        if (item.scope == Scope::buffer || subject.buffer.output == (item.scope == Scope::output)) {
            run_for(item, &subject);
            any = true;
        }
    device_.clear();
    if (!any)
        skip(item.scope == Scope::output  ? "there is no output buffer"
             : item.scope == Scope::input ? "there is no input buffer"
                                          : "there is no IIO device with a buffer");
}

ConformanceReport Run::all()
{
    begin_ns_ = sys::monotonic_ns();
    open_files_ = count_open_files();
    for (const Item& item : items())
        if (is_selected(item, options_.only))
            run_item(item);
    report_.complete = !stopped();
    report_.seconds = static_cast<double>(sys::monotonic_ns() - begin_ns_) / kNsPerSecond;
    return std::move(report_);
}

} // namespace iio_stream::conformance

namespace iio_stream {

const char* name_of(CheckOutcome outcome) noexcept
{
    return outcome == CheckOutcome::pass ? "pass" : outcome == CheckOutcome::fail ? "fail" : "skip";
}

std::size_t ConformanceReport::count(CheckOutcome outcome) const noexcept
{
    return static_cast<std::size_t>(std::count_if(
        results.begin(), results.end(), [&](const auto& r) { return r.outcome == outcome; }));
}

std::vector<ConformanceCheck> conformance_checks()
{
    std::vector<ConformanceCheck> checks;
    for (const conformance::Item& item : conformance::items())
        checks.push_back({item.number, item.name, item.explains});
    return checks;
}

ConformanceReport check_conformance(const ConformanceOptions& options,
                                    const std::function<void(const ConformanceResult&)>& seen,
                                    const std::atomic<bool>& stop)
{
    return conformance::Run(options, seen, stop).all();
}

} // namespace iio_stream
