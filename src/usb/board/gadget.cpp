// SPDX-License-Identifier: MIT
// Implements `iio-stream gadget` with the plain files of ConfigFS.
#include "iio_stream/gadget.hpp"

#include "core/base/text.hpp"
#include "iio_stream/error.hpp"
#include "sys/device/mounts.hpp"
#include "sys/event.hpp"
#include "sys/files.hpp"
#include "usb/board/gadget_dir.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <functional>
#include <poll.h>

namespace iio_stream {

namespace {

using usb::GadgetDir;
using usb::GadgetNote;

constexpr const char* kDefaultMount = "/run/iio-stream/ffs";
constexpr std::int64_t kTimeoutNs = 10'000'000'000; ///< how long a streaming program has to end
constexpr const char* kWindowsCode = "0xcd"; ///< the vendor request of Microsoft's descriptors

/// Undoes the steps taken so far, in reverse order, if a later step fails.
class Undo {
public:
    Undo() = default;
    Undo(const Undo&) = delete;
    void add(std::function<void()> step) { steps_.push_back(std::move(step)); }
    void forget() noexcept { steps_.clear(); }
    ~Undo()
    {
        for (auto step = steps_.rbegin(); step != steps_.rend(); ++step)
            try {
                (*step)();
            } catch (const Error&) { // only the first failure is reported
            }
    }

private:
    std::vector<std::function<void()>> steps_;
};

void make_folder(Undo& undo, const std::string& path)
{
    sys::make_directory(path);
    undo.add([path] { sys::remove_directory(path); });
}

void make_link(Undo& undo, const std::string& target, const std::string& path)
{
    sys::make_link(target, path);
    undo.add([path] { sys::remove_file(path); });
}

std::string hex(unsigned value)
{
    char text[16];
    std::snprintf(text, sizeof text, "0x%04x", value);
    return text;
}

void check_configfs()
{
    if (sys::path_exists("/sys/kernel/config/usb_gadget"))
        return;
    throw Error(Fault::device, ENODEV, "make a gadget in", "/sys/kernel/config/usb_gadget",
                "the folder does not exist",
                "sudo modprobe libcomposite; sudo mount -t configfs configfs /sys/kernel/config");
}

// Returns the requested controller, or the first free one.
std::string choose_controller(const std::string& wanted)
{
    const auto all = usb::controllers();
    if (all.empty())
        throw Error(Fault::device, ENODEV, "find", "a USB device controller",
                    "this machine has none (/sys/class/udc is empty)",
                    "a board's port must be in peripheral mode; its driver may be a module");
    std::string known, holders;
    for (const std::string& udc : all) {
        detail::add_item(known, udc);
        if (!wanted.empty() && udc != wanted)
            continue;
        const std::string holder = usb::holder_of_controller(udc);
        if (holder.empty())
            return udc;
        detail::add_item(holders, udc + " is held by gadget " + holder);
    }
    if (holders.empty())
        throw Error(Fault::device, ENODEV, "find", wanted, "there is no such controller",
                    "available: " + known);
    throw Error(Fault::device, EBUSY, "take", wanted.empty() ? "a controller" : wanted, holders,
                "--into GADGET adds the function to that gadget");
}

void make_own(Undo& undo, const GadgetDir& gadget, const GadgetSettings& s)
{
    const std::string& path = gadget.path();
    make_folder(undo, path);
    sys::write_text(path + "/idVendor", hex(s.id.vendor));
    sys::write_text(path + "/idProduct", hex(s.id.product));
    make_folder(undo, path + "/strings/0x409");
    sys::write_text(path + "/strings/0x409/serialnumber", s.serial);
    sys::write_text(path + "/strings/0x409/manufacturer", s.manufacturer);
    sys::write_text(path + "/strings/0x409/product", s.description);
    make_folder(undo, path + "/configs/c.1");
    sys::write_text(path + "/os_desc/b_vendor_code", kWindowsCode);
    sys::write_text(path + "/os_desc/qw_sign", "MSFT100");
    sys::write_text(path + "/os_desc/use", "1");
    make_link(undo, path + "/configs/c.1", path + "/os_desc/c.1");
}

void add_function(Undo& undo, const GadgetDir& gadget, const std::string& function,
                  const std::string& mount)
{
    make_folder(undo, gadget.function_path(function));
    make_link(undo, gadget.function_path(function), gadget.first_config() + "/ffs." + function);
    sys::make_directories(mount);
    sys::mount_functionfs(function, mount);
    undo.add([mount] { sys::unmount(mount); });
}

// Ends the processes that have ep0 open, by SIGTERM and, after kTimeoutNs, by SIGKILL.
void end_streamers(const std::string& mount)
{
    const std::string ep0 = mount + "/ep0";
    const std::int64_t deadline = sys::after(kTimeoutNs);
    for (int round = 0;; ++round) {
        const auto holders = sys::holders_of(ep0);
        if (holders.empty())
            return;
        const bool late = sys::monotonic_ns() >= deadline;
        for (const std::string& holder : holders) {
            int pid = 0;
            (void)std::from_chars(holder.data(), holder.data() + holder.size(), pid);
            if (pid > 0 && (round == 0 || late))
                (void)sys::signal_process(pid, late ? SIGKILL : SIGTERM);
        }
        if (late && sys::monotonic_ns() >= deadline + kTimeoutNs)
            throw Error(Fault::device, EBUSY, "end", holders.front(),
                        "it still has " + ep0 + " open");
        (void)::poll(nullptr, 0, 50);
    }
}

void remove_function(const GadgetDir& gadget, const std::string& function)
{
    for (const std::string& config : sys::list_directory(gadget.path() + "/configs"))
        sys::remove_file(gadget.path() + "/configs/" + config + "/ffs." + function);
    sys::remove_directory(gadget.function_path(function));
}

void remove_own(const GadgetDir& gadget)
{
    sys::remove_file(gadget.path() + "/os_desc/c.1");
    sys::remove_directory(gadget.path() + "/configs/c.1");
    sys::remove_directory(gadget.path() + "/strings/0x409");
    sys::remove_directory(gadget.path());
}

void check_name(const std::string& name)
{
    if (name.empty() || name.find('/') != std::string::npos || name.starts_with('.'))
        fail_usage("'" + name + "' is not a valid gadget name");
}

bool make_gadget(const GadgetSettings& settings)
{
    check_configfs();
    const bool own = settings.into.empty();
    const GadgetDir gadget(own ? settings.name : settings.into);
    check_name(gadget.name());
    if (gadget.function())
        return false;
    if (own && gadget.exists())
        throw Error(Fault::device, EEXIST, "make", "gadget " + gadget.name(),
                    "another gadget has that name",
                    "--into " + gadget.name() +
                        " adds the function to it, --name sets another name");
    if (!own && !gadget.exists())
        throw Error(Fault::device, ENOENT, "add a function to", "gadget " + gadget.name(),
                    "there is no such gadget");
    GadgetNote note{own ? "" : gadget.udc(), !own, !own && !gadget.udc().empty(),
                    settings.mount.empty() ? kDefaultMount : settings.mount};
    if (!note.was_bound)
        note.udc = choose_controller(settings.udc);
    if (const auto taken = sys::functionfs_at(note.mount))
        throw Error(Fault::device, EBUSY, "mount functionfs", note.mount,
                    "the FunctionFS of " + *taken + " is mounted there",
                    "--mount sets another place");
    const std::string function =
        std::string(usb::kFunctionPrefix) +
        (own && gadget.name() == "iio-stream" ? std::string() : "-" + gadget.name());
    Undo undo;
    if (own) {
        make_own(undo, gadget, settings);
    } else if (note.was_bound) {
        gadget.unbind();
        undo.add([gadget, udc = note.udc] { gadget.bind(udc); });
    }
    add_function(undo, gadget, function, note.mount);
    note.save(gadget.name());
    undo.forget();
    return true;
}

bool remove_gadget(const std::string& name)
{
    const GadgetDir gadget(name);
    const auto function = gadget.function();
    const auto note = GadgetNote::load(name);
    if (!gadget.exists() || (!function && !note)) {
        GadgetNote::remove(name);
        return false;
    }
    if (function) {
        const auto mount = sys::functionfs_mount(*function);
        if (mount)
            end_streamers(*mount);
        gadget.unbind();
        if (mount)
            sys::unmount(*mount);
        remove_function(gadget, *function);
    }
    if (!note || !note->added)
        remove_own(gadget);
    else if (note->was_bound)
        gadget.bind(note->udc);
    GadgetNote::remove(name);
    return true;
}

template <typename Step>
auto on_device(Step step)
{
    try {
        return step();
    } catch (const Error& error) {
        throw error.blamed_on(Fault::device);
    }
}

} // namespace

bool gadget_up(const GadgetSettings& settings)
{
    return on_device([&] { return make_gadget(settings); });
}

bool gadget_down(const std::string& name)
{
    return on_device([&] { return remove_gadget(name); });
}

GadgetStatus gadget_status()
{
    GadgetStatus status;
    for (const std::string& udc : usb::controllers()) {
        const std::string path = "/sys/class/udc/" + udc;
        status.controllers.push_back({udc, sys::read_text(path + "/state").value_or(""),
                                      sys::read_text(path + "/current_speed").value_or(""),
                                      usb::holder_of_controller(udc)});
    }
    for (const GadgetDir& gadget : GadgetDir::all()) {
        const auto function = gadget.function();
        if (!function)
            continue;
        GadgetInfo info{gadget.name(), sys::functionfs_mount(*function).value_or(""), gadget.udc(),
                        !gadget.udc().empty(), ""};
        if (!info.bound)
            if (const auto note = GadgetNote::load(gadget.name()))
                info.udc = note->udc;
        if (!info.mount.empty())
            if (const auto holders = sys::holders_of(info.mount + "/ep0"); !holders.empty())
                info.streamer = detail::printable(holders.front());
        status.gadgets.push_back(std::move(info));
    }
    return status;
}

} // namespace iio_stream
