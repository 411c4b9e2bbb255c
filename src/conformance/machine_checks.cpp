// SPDX-License-Identifier: MIT
// 1xx: the capabilities of the machine. A check is skipped if the machine lacks the capability. It
// fails if the machine has the capability but this user cannot use it.
#include "conformance/run.hpp"
#include "core/base/text.hpp"
#include "core/memory/memory_backend.hpp"
#include "iio_stream/memory.hpp"
#include "iio_stream/units.hpp"
#include "sys/disk/io_refusal.hpp"
#include "sys/event.hpp"
#include "sys/files.hpp"
#include "sys/machine.hpp"
#include "sys/memory/mapping.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <unistd.h>

namespace iio_stream::conformance {

namespace {

constexpr std::size_t kTriedBytes = 1 << 20;
constexpr std::size_t kFewestFiles = 256; ///< three for each block of the largest pool, plus some
constexpr std::size_t kLockedWanted = 64 << 20;

// Makes blocks and writes to their pages. Throws Error.
void try_memory(const Memory& memory)
{
    const BlockPool pool(memory, kTriedBytes, 2, CpuUse::mapped);
    for (std::size_t i = 0; i < pool.count(); ++i) {
        const std::span<std::byte> bytes = pool.mapping(i);
        std::fill(bytes.begin(), bytes.end(), std::byte{0x5a});
    }
}

void check_memories(Run& run, MemoryKind kind, const std::string& none)
{
    bool any = false;
    for (const MemoryChoice& choice : memory_choices()) {
        if (choice.memory.kind != kind)
            continue;
        const std::string name = choice.memory.name();
        const std::string node =
            kind == MemoryKind::heap ? "/dev/dma_heap/" + choice.memory.heap : "/dev/udmabuf";
        if (!sys::path_exists(node))
            continue;
        any = true;
        const auto largest = detail::backend_of(choice.memory).largest;
        try {
            if (!choice.unavailable.empty())
                run.fail(choice.unavailable + "; fix with: " + sys::udev_hint(), {}, name);
            else if (try_memory(choice.memory); largest != nullptr)
                run.pass("usable, blocks of up to " + format_size(largest()), {}, name);
            else
                run.pass("usable", {}, name);
        } catch (const Error& error) {
            run.fail(error, name);
        }
    }
    if (!any)
        run.skip(none);
}

std::string missing_access(const std::string& path, int mode)
{
    return ::access(path.c_str(), mode) == 0 ? "" : path + ": " + std::strerror(errno);
}

} // namespace

void check_kernel(Run& run, Subject*)
{
    std::string text = sys::kernel_release();
    for (const Subject& subject : run.subjects()) {
        const std::optional<bool>& dmabuf = subject.buffer.dmabuf;
        text += "; " + subject.name() + ": " +
                (!dmabuf   ? "unknown, " + subject.buffer.dmabuf_reason
                 : *dmabuf ? "DMABUF"
                           : "no DMABUF, " + subject.buffer.dmabuf_reason);
    }
    run.pass(text);
}

void check_heaps(Run& run, Subject*)
{
    check_memories(run, MemoryKind::heap, "this kernel has no dma-heap");
}

void check_udmabuf(Run& run, Subject*)
{
    check_memories(run, MemoryKind::udmabuf, "there is no /dev/udmabuf (sudo modprobe udmabuf)");
}

void check_huge_pages(Run& run, Subject*)
{
    const std::size_t reserved = sys::huge_page_bytes(), made = sys::transparent_huge_page_bytes();
    if (reserved != 0) {
        const Memory pages = Memory::parse("memory", "pages");
        const BlockPool pool(pages, reserved, 1, CpuUse::mapped);
        if (pool.traits().page_bytes < reserved)
            run.fail("the kernel reports free huge pages of " + format_size(reserved) +
                     " but gave pages of " + format_size(pool.traits().page_bytes));
        else
            run.pass("pages of " + format_size(reserved) + " are reserved and usable");
    } else if (made != 0)
        run.pass("none is reserved; the kernel creates pages of " + format_size(made) +
                 " on demand");
    else
        run.skip("none is reserved, and the kernel creates none (echo 128 | sudo tee "
                 "/proc/sys/vm/nr_hugepages)");
}

void check_io_uring(Run& run, Subject*)
{
    const sys::IoRefusal refusal = sys::io_uring_refusal();
    if (!refusal.refused())
        run.pass("usable");
    else
        run.skip(refusal.why + "; files are written by libaio instead" +
                 (refusal.fix.empty() ? "" : "; change it with: " + refusal.fix));
}

void check_permissions(Run& run, Subject*)
{
    if (run.subjects().empty()) {
        run.skip("there is no IIO device with a buffer");
        return;
    }
    for (const Subject& subject : run.subjects()) {
        std::string missing;
        for (const std::string& path :
             {std::string("/dev/") + subject.device.id(), subject.folder() + "/buffer/enable",
              subject.folder() + "/buffer/length"})
            if (const std::string why = missing_access(path, R_OK | W_OK); !why.empty())
                detail::add_item(missing, why);
        if (missing.empty())
            run.pass_for(subject.name(), "the device and its buffer can be opened and set");
        else
            run.fail_for(subject.name(), missing + "; fix with: " + sys::udev_hint());
    }
}

void check_debugfs(Run& run, Subject*)
{
    if (!sys::list_directory("/sys/kernel/debug").empty())
        run.pass("readable");
    else if (::geteuid() != 0)
        run.skip("only root can read it: run the check as root to test overflow registers and test "
                 "modes");
    else
        run.skip("not mounted (sudo mount -t debugfs none /sys/kernel/debug)");
}

void check_limits(Run& run, Subject*)
{
    const std::size_t files = sys::open_files_limit(), locked = sys::locked_memory_limit();
    if (files < kFewestFiles && sys::room_for_open_files(kFewestFiles) < kFewestFiles / 2)
        run.fail("only " + std::to_string(files) +
                 " files can be open (ulimit -n); each block needs three");
    else
        run.pass("open files: " + std::to_string(files) + "; locked memory: " +
                     (locked == SIZE_MAX
                          ? "unlimited"
                          : format_size(locked) + (locked < kLockedWanted && ::geteuid() != 0
                                                       ? ", so io_uring pins pages for each request"
                                                       : "")),
                 {{"open_files", static_cast<std::int64_t>(files)}});
}

void check_units(Run& run, Subject*)
{
    if (!sys::path_exists("/run/systemd/system")) {
        run.skip("systemd is not running");
        return;
    }
    std::string units;
    for (const char* folder :
         {"/sys/fs/cgroup/system.slice", "/sys/fs/cgroup/systemd/system.slice"})
        for (const std::string& name : sys::list_directory(folder))
            if (name.find("iio-stream") != std::string::npos)
                detail::add_item(units, name);
    run.pass(units.empty() ? "no unit of iio-stream is active" : "active: " + units);
}

} // namespace iio_stream::conformance
