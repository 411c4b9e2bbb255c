// SPDX-License-Identifier: MIT
#include "iio/buffer/buffer_file.hpp"

#include "core/base/text.hpp"
#include "iio_stream/error.hpp"
#include "sys/device/iio_blocks.hpp"
#include "sys/device/iio_buffer.hpp"
#include "sys/event.hpp"
#include "sys/files.hpp"
#include "sys/machine.hpp"

#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <thread>

namespace iio_stream::iio {

namespace {

[[noreturn]] void fail_busy(const std::string& path)
{
    throw Error(Fault::device, EBUSY, "open", path, "it is " + in_use_text(path));
}

// Before Linux 5.11 GET_FD fails like any unknown ioctl: with ENOTTY, EINVAL or, on the first
// kernels with a list of handlers, ENODEV. On later kernels ENODEV means that there is no such
// buffer.
bool has_no_buffer_files(int error, const std::string& device_id, int index)
{
    if (index != 0)
        return false;
    if (error == ENODEV)
        return !sys::path_exists("/sys/bus/iio/devices/" + device_id + "/buffer0") &&
               sys::path_exists("/sys/bus/iio/devices/" + device_id + "/buffer");
    return error == ENOTTY || error == EINVAL;
}

// FREE and ALLOC act on the buffer's blocks no matter which program uses them, so this process must
// hold the buffer, and the buffer must be off. A kernel without blocks refuses ALLOC. FREE alone
// proves nothing, because a buffer without DMA (kfifo) accepts it. A kernel with blocks but no
// memory for them makes 0 blocks without an error, or returns ENOMEM.
BufferFile::Blocks probe_blocks(int fd)
{
    constexpr std::size_t kPage = 4096;
    if (sys::iio_blocks_free(fd) != 0)
        return BufferFile::Blocks::none;
    int error = 0;
    std::size_t bytes = kPage;
    (void)sys::iio_blocks_alloc(fd, bytes, 1, error);
    (void)sys::iio_blocks_free(fd);
    if (error == EBUSY)
        return BufferFile::Blocks::busy;
    return error == 0 || error == ENOMEM ? BufferFile::Blocks::usable : BufferFile::Blocks::none;
}

// Only kernels with legacy blocks have this parameter. It belongs to the first module on ADI's
// kernels, and to the second module in the lab's model of them.
bool kernel_may_have_blocks()
{
    for (const char* module : {"industrialio_buffer_dma", "industrialio_buffer_dmaengine"})
        if (sys::path_exists(std::string("/sys/module/") + module + "/parameters/max_block_size"))
            return true;
    return false;
}

bool shows_enabled(const std::string& file)
{
    return sys::read_sysfs(file).value_or("0") == "1";
}

std::string enable_file(const std::string& device_id, int index)
{
    const std::string device = "/sys/bus/iio/devices/" + device_id;
    const std::string buffer = device + "/buffer" + std::to_string(index);
    return (sys::path_exists(buffer) ? buffer : device + "/buffer") + "/enable";
}

} // namespace

std::string in_use_text(const std::string& path)
{
    std::string who;
    for (const std::string& holder : sys::holders_of(path))
        detail::add_clause(who, "process " + holder);
    for (const std::string& holder :
         who.empty() ? sys::iio_buffer_holders() : std::vector<std::string>())
        detail::add_clause(who, "process " + holder);
    return "in use" + (who.empty() ? "" : " by " + who);
}

bool is_enabled(const std::string& device_id, int index)
{
    return shows_enabled(enable_file(device_id, index));
}

BufferFile::BufferFile(const std::string& device_id, int index, std::int64_t wait_ns)
    : path_("/dev/" + device_id), enable_(enable_file(device_id, index))
{
    const std::int64_t deadline = sys::after(wait_ns);
    for (;;)
        try {
            open(index);
            return;
        } catch (const Error& error) {
            const int code = error.code().value();
            if (device_.valid() && has_no_buffer_files(code, device_id, index)) {
                dmabuf_refusal_ = ENOTTY;
                find_blocks();
                return;
            }
            if (code == EACCES)
                throw Error(
                    Fault::device, EACCES, "open", path_, {},
                    "run as root, or let udev give it to your group: iio-stream doctor shows how");
            if (code != EBUSY || !error.hint().empty())
                throw error.blamed_on(Fault::device);
            if (sys::monotonic_ns() >= deadline) {
                device_.reset(); // so that this process is not reported as a holder
                fail_busy(path_);
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
}

void BufferFile::open(int index)
{
    if (!device_.valid()) {
        if (shows_enabled(enable_))
            spare_other_stream();
        device_ = sys::open_file(path_, O_RDWR | O_NONBLOCK);
    }
    buffer_ = sys::iio_buffer_fd(device_.get(), path_, index);
    dmabuf_refusal_ = sys::iio_dmabuf_unsupported(buffer_.get());
    find_blocks();
}

// Opening and closing the device's file can free the blocks of a program that streams through the
// buffer's file alone. Only root can see such a program. Without root, an enabled buffer is
// therefore left alone on every kernel that might have such blocks.
void BufferFile::spare_other_stream() const
{
    if (!sys::iio_buffer_holders().empty())
        throw Error(Fault::device, EBUSY, "open", path_);
    if (!sys::is_root() && kernel_may_have_blocks())
        throw Error(
            Fault::device, EBUSY, "open", path_,
            "its buffer is enabled, by a program that only root can see or that was killed",
            "as root, iio-stream finds out which; after a killed program: echo 0 | sudo tee " +
                enable_);
}

void BufferFile::find_blocks()
{
    if (dmabuf_refusal_ == 0)
        return;
    if (shows_enabled(enable_))
        sys::write_text(enable_, "0");
    blocks_ = probe_blocks(fd());
}

void BufferFile::require_blocks() const
{
    if (blocks_ == Blocks::busy)
        throw Error(Fault::device, EBUSY, "allocate blocks of", path_,
                    "the kernel keeps a block of an earlier read() or write() and makes no others",
                    "load the driver again, or reboot");
}

std::string why_no_dmabufs(const BufferFile& file)
{
    return file.blocks() == BufferFile::Blocks::none ? dmabuf_refusal_text(file.dmabuf_refusal())
                                                     : kHasBlocks;
}

std::string dmabuf_refusal_text(int error)
{
    const std::string name = " (" + errno_name(error) + " from IIO_BUFFER_DMABUF_ATTACH)";
    switch (error) {
    case 0:
        return "";
    case EPERM:
        return "the driver's buffer takes no DMABUFs" + name;
    case ENOTTY:
    case EINVAL:
    case ENODEV:
    case ENOSYS:
        return "the kernel has no IIO DMABUF interface, which came with 6.11" + name;
    case EIO:
    case ENOMEM:
        return "the kernel cannot map this memory for the DMA" + name;
    default:
        return "the kernel refuses DMABUFs" + name;
    }
}

} // namespace iio_stream::iio
