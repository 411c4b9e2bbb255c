// SPDX-License-Identifier: MIT
#include "iio_stream/doctor.hpp"

#include "core/base/text.hpp"
#include "core/memory/memory_backend.hpp"
#include "iio/remote/remote.hpp"
#include "iio_stream/device.hpp"
#include "iio_stream/endpoint.hpp"
#include "iio_stream/error.hpp"
#include "iio_stream/units.hpp"
#include "sys/disk/io_queue.hpp"
#include "sys/disk/io_refusal.hpp"
#include "sys/files.hpp"
#include "sys/machine.hpp"
#include "sys/memory/dmabuf.hpp"
#include "sys/memory/mapping.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <span>
#include <unistd.h>

namespace iio_stream {

namespace {

constexpr const char* kHugePages = "/proc/sys/vm/nr_hugepages";

std::string kernel_fix()
{
    return sys::machine_type() == "x86_64" ? "sudo apt install linux-image-amd64   (6.11 or newer: "
                                             "on Debian 12 from its backports)"
                                           : "a kernel of 6.11 or newer for this board, with "
                                             "DMABUFs: docs/kernels.md has the recipe";
}

// The features of a kernel depend on its configuration: Analog Devices' 6.12 does not support
// DMABUFs by default. So the result comes from the devices if there are any.
Check check_kernel(const std::vector<DeviceInfo>& found)
{
    const std::string release = sys::kernel_release();
    std::string mapped, copied, unknown;
    for (const DeviceInfo& device : found)
        for (const BufferInfo& buffer : device.buffers) {
            const std::string name = device.name.empty() ? device.id : device.name;
            if (buffer.path == "dmabuf")
                return {"kernel", Check::State::ok,
                        release + ": takes DMABUFs (tested on " + name + ")", ""};
            if (buffer.path == "mmap")
                mapped = name;
            else if (buffer.path == "fileio")
                copied = name + ": " + buffer.dmabuf_reason;
            else
                unknown = name + ": " + buffer.dmabuf_reason;
        }
    if (!mapped.empty())
        return {"kernel", Check::State::ok,
                release +
                    ": takes no DMABUFs but offers its own blocks instead (path=mmap, "
                    "tested on " +
                    mapped +
                    "): 0 copies to programs, 1 to files and USB. Do not use path=fileio here. A "
                    "kernel without "
                    "CONFIG_IIO_DMA_BUF_MMAP_LEGACY would avoid that copy: docs/kernels.md",
                ""};
    if (!copied.empty())
        return {"kernel", Check::State::lacking,
                release + ": streams use read() and write() (tested on " + copied + ")",
                kernel_fix()};
    if (!unknown.empty())
        return {
            "kernel", Check::State::lacking,
            release + ": whether it takes DMABUFs is unknown, because no device could be tested (" +
                unknown + ")",
            unknown.find("Permission denied") == std::string::npos ? "" : "sudo iio-stream doctor"};
    int major = 0, minor = 0;
    std::sscanf(release.c_str(), "%d.%d", &major, &minor);
    if (major > 6 || (major == 6 && minor >= 11))
        return {"kernel", Check::State::ok,
                release + ": can have IIO DMABUFs (since 6.11); there is no device to test", ""};
    return {"kernel", Check::State::lacking,
            release + ": no IIO DMABUFs (since 6.11), and there is no device to test other paths",
            kernel_fix()};
}

std::string fix_if_denied(const std::string& why)
{
    return why.find("Permission denied") == std::string::npos ? "" : sys::udev_hint();
}

// Kernels for boards, including Debian's armmp, are often built without the module.
std::string module_fix(const std::string& module)
{
    if (module.empty())
        return "";
    if (sys::has_kernel_module(module))
        return "sudo modprobe " + module;
    return "a kernel with " + module + ": docs/kernels.md has the recipe";
}

Check check_memory(const MemoryChoice& choice)
{
    const std::string name = choice.memory.name();
    const detail::MemoryBackend& backend = detail::backend_of(choice.memory);
    if (choice.unavailable.empty()) {
        std::string detail = "usable";
        if (backend.largest != nullptr)
            detail += ", blocks of up to " + format_size(backend.largest());
        return {name, Check::State::ok, detail, ""};
    }
    std::string fix = fix_if_denied(choice.unavailable);
    if (fix.empty())
        fix = module_fix(backend.module);
    const std::string unneeded = fix.empty() ? "; not needed for sim:" : "";
    return {name, Check::State::lacking, choice.unavailable + unneeded, fix};
}

// Tests with one huge page whether the kernel forms huge pages on request. Block memory depends on
// this if no huge pages are reserved.
bool kernel_makes_huge_pages()
{
    const std::size_t bytes = sys::transparent_huge_page_bytes();
    if (bytes == 0)
        return false;
    try {
        const sys::UniqueFd memfd = sys::sealed_memfd(bytes, 0);
        return sys::Mapping::of_file(memfd.get(), bytes, 0, sys::Access::read_write, "memfd", bytes)
            .make_huge();
    } catch (const Error&) {
        return false;
    }
}

Check check_huge_pages()
{
    const std::size_t bytes = sys::huge_page_bytes();
    if (bytes != 0)
        return {"huge pages", Check::State::ok, "pages of " + format_size(bytes) + " are free", ""};
    if (kernel_makes_huge_pages())
        return {"huge pages", Check::State::ok,
                "none reserved; the kernel makes pages of " +
                    format_size(sys::transparent_huge_page_bytes()) + " on demand",
                ""};
    const std::string cost = ": files are written from 4 KiB pages, at several times the CPU cost";
    if (!sys::path_exists(kHugePages)) // 32-bit ARM without LPAE
        return {"huge pages", Check::State::lacking, "the kernel was built without them" + cost,
                ""};
    return {"huge pages", Check::State::lacking, "none free, and the kernel makes none" + cost,
            std::string("echo 128 | sudo tee ") + kHugePages};
}

Check check_io_uring()
{
    const sys::IoRefusal refusal = sys::io_uring_refusal();
    if (!refusal.refused())
        return {"io_uring", Check::State::ok, "usable", ""};
    return {"io_uring", Check::State::lacking, refusal.why, refusal.fix};
}

Check check_limit(const char* name, std::size_t limit, std::size_t wanted, const char* why,
                  const char* fix)
{
    const std::string detail = limit == SIZE_MAX ? "unlimited" : format_size(limit);
    if (limit >= wanted)
        return {name, Check::State::ok, detail, ""};
    return {name, Check::State::lacking, detail + ", less than " + format_size(wanted) + ": " + why,
            fix};
}

// The limit does not apply to a process with CAP_IPC_LOCK. The test registers one page more than
// the limit.
bool limit_is_lifted(std::size_t limit)
try {
    const sys::Mapping memory = sys::Mapping::of_pages(limit + 4096);
    const std::span<std::byte> buffers[] = {{memory.data(), memory.bytes()}};
    return sys::make_uring_queue(-1, "no file", 1, buffers)->register_error() == 0;
} catch (const Error&) {
    return false;
}

// Only io_uring's registered buffers count as locked memory; udmabuf and DMA heaps do not.
Check check_locked_memory()
{
    const std::size_t limit = sys::locked_memory_limit();
    Check check = check_limit("locked memory", limit, 64 << 20,
                              "io_uring must pin the pages of further blocks for each request",
                              "sudo prlimit --pid $$ --memlock=unlimited   (this shell; for good: "
                              "memlock in /etc/security/limits.conf)");
    if (check.state != Check::State::ok && limit_is_lifted(limit))
        return {check.name, Check::State::ok,
                format_size(limit) + ", not applied to this process (CAP_IPC_LOCK)", ""};
    return check;
}

Check check_debugfs()
{
    if (!sys::list_directory("/sys/kernel/debug").empty())
        return {"debugfs", Check::State::ok, "readable, and so are overflow registers", ""};
    const std::string without =
        ": without a converter's overflow register, losses are only possible, not certain";
    // Only root can read it, with good reason: debugfs exposes kernel internals.
    if (::access("/sys/kernel/debug", R_OK) != 0 && errno == EACCES)
        return {"debugfs", Check::State::lacking, "only root can read it" + without,
                "run the stream as root, or from a systemd unit like iio-stream@.service"};
    return {"debugfs", Check::State::lacking, "not mounted" + without,
            "sudo mount -t debugfs none /sys/kernel/debug"};
}

void add_device(std::string& names, const DeviceInfo& device)
{
    const std::string name = device.name.empty() ? device.id : device.name;
    for (const BufferInfo& buffer : device.buffers) {
        std::string what = buffer.output ? "output, " : "input, ";
        if (buffer.path.empty())
            what += "unknown whether it takes DMABUFs: " + buffer.dmabuf_reason;
        else
            what += buffer.path == "dmabuf" ? "DMABUF" : buffer.path + ": " + buffer.dmabuf_reason;
        for (const std::string& remark : buffer.remarks)
            what += "; not understood: " + remark;
        detail::add_item(names, name + " (" + what + ")");
    }
    for (const std::string& remark : device.remarks)
        detail::add_item(names, name + " (not understood: " + remark + ")");
}

Check check_devices(const std::vector<DeviceInfo>& found)
{
    std::string names;
    for (const DeviceInfo& device : found)
        add_device(names, device);
    if (names.empty())
        return {"IIO devices", Check::State::lacking,
                "no device with a buffer; not needed for sim:", ""};
    const std::string fix = fix_if_denied(names);
    return {"IIO devices", fix.empty() ? Check::State::ok : Check::State::lacking, names, fix};
}

Check lacking(const std::string& name, const Missing& missing)
{
    return {name, Check::State::lacking, missing.why, missing.fix};
}

Check check_libiio()
{
    if (const auto missing = iio::missing_libiio())
        return lacking("libiio", *missing);
    return {"libiio", Check::State::ok, "can open devices of other machines (uri=)", ""};
}

} // namespace

std::vector<Check> doctor()
{
    std::vector<DeviceInfo> found;
    std::optional<Check> no_devices;
    try {
        found = devices();
    } catch (const Error& error) {
        no_devices = Check{"IIO devices", Check::State::lacking, error.what(), ""};
    }
    std::vector<Check> checks{check_kernel(found)};
    for (const MemoryChoice& choice : memory_choices())
        if (detail::backend_of(choice.memory).attachable)
            checks.push_back(check_memory(choice));
    checks.push_back(check_huge_pages());
    checks.push_back(check_io_uring());
    checks.push_back(check_locked_memory());
    checks.push_back(check_limit("open files", sys::open_files_limit(), 1024,
                                 "each block needs three", "ulimit -n 4096"));
    checks.push_back(check_debugfs());
    checks.push_back(no_devices ? *no_devices : check_devices(found));
    checks.push_back(check_libiio());
    for (const Scheme& scheme : schemes())
        if (scheme.missing)
            checks.push_back(lacking(scheme.name + ":", *scheme.missing));
    return checks;
}

} // namespace iio_stream
