// SPDX-License-Identifier: MIT
#include "usb/host.hpp"

#include "core/text.hpp"
#include "iio_stream/error.hpp"
#include "iio_stream/usb.hpp"
#include "sys/event.hpp"
#include "sys/files.hpp"
#include "sys/machine.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <poll.h>

namespace iio_stream::usb {

namespace {

int errno_of(int code)
{
    switch (code) {
    case LIBUSB_ERROR_NO_DEVICE:
    case LIBUSB_ERROR_NOT_FOUND:
        return ENODEV;
    case LIBUSB_ERROR_ACCESS:
        return EACCES;
    case LIBUSB_ERROR_BUSY:
        return EBUSY;
    case LIBUSB_ERROR_TIMEOUT:
        return ETIMEDOUT;
    case LIBUSB_ERROR_PIPE:
        return EPIPE;
    case LIBUSB_ERROR_NO_MEM:
        return ENOMEM;
    case LIBUSB_ERROR_OVERFLOW:
        return EOVERFLOW;
    case LIBUSB_ERROR_INTERRUPTED:
        return ECANCELED;
    default:
        return EIO;
    }
}

std::string hint_for(int code)
{
    switch (code) {
    case LIBUSB_ERROR_ACCESS:
        return sys::udev_hint();
    case LIBUSB_ERROR_BUSY:
        return "another program streams from it";
    case LIBUSB_ERROR_NO_MEM:
        return "transfers= takes fewer at a time; /sys/module/usbcore/parameters/usbfs_memory_mb "
               "limits all of them together";
    default:
        return "";
    }
}

struct Interface {
    unsigned char number = 0, in = 0, out = 0, news = 0;
};

// Finds our interface in the active configuration: its endpoints are known by their order.
std::optional<Interface> find_interface(libusb_device* device)
{
    libusb_config_descriptor* raw = nullptr;
    if (libusb_get_active_config_descriptor(device, &raw) != 0)
        return std::nullopt;
    const std::unique_ptr<libusb_config_descriptor, void (*)(libusb_config_descriptor*)> config{
        raw, &libusb_free_config_descriptor};
    for (unsigned i = 0; i < config->bNumInterfaces; ++i) {
        if (config->interface[i].num_altsetting < 1)
            continue;
        const libusb_interface_descriptor& d = config->interface[i].altsetting[0];
        if (d.bInterfaceClass != kInterfaceClass || d.bInterfaceSubClass != kInterfaceSubclass ||
            d.bInterfaceProtocol != kInterfaceProtocol || d.bNumEndpoints < 2)
            continue;
        Interface found{.number = d.bInterfaceNumber};
        for (unsigned e = 0; e < d.bNumEndpoints; ++e) {
            const unsigned char address = d.endpoint[e].bEndpointAddress;
            unsigned char& place = (address & LIBUSB_ENDPOINT_IN) != 0 ? found.in : found.out;
            if (place == 0)
                place = address;
            else if ((address & LIBUSB_ENDPOINT_IN) != 0 && found.news == 0)
                found.news = address;
        }
        if (found.in != 0 && found.out != 0)
            return found;
    }
    return std::nullopt;
}

std::string text_of(libusb_device_handle* handle, unsigned char index)
{
    std::array<unsigned char, 128> text{};
    const int got = index == 0 ? 0
                               : libusb_get_string_descriptor_ascii(handle, index, text.data(),
                                                                    static_cast<int>(text.size()));
    return got > 0 ? detail::printable({reinterpret_cast<const char*>(text.data()),
                                        static_cast<std::size_t>(got)})
                   : "";
}

using Context = std::unique_ptr<libusb_context, void (*)(libusb_context*)>;

Context new_context()
{
    libusb_context* raw = nullptr;
    if (const int code = libusb_init(&raw); code != 0)
        fail_usb(code, "use", "libusb");
    return {raw, &libusb_exit};
}

// True as soon as `found` is, for one of the devices there are now.
template <typename Found>
bool any_device(libusb_context* context, Found found)
{
    libusb_device** list = nullptr;
    const auto count = libusb_get_device_list(context, &list);
    if (count < 0)
        fail_usb(static_cast<int>(count), "list", "USB devices");
    const std::unique_ptr<libusb_device*, void (*)(libusb_device**)> devices{
        list, [](libusb_device** all) { libusb_free_device_list(all, 1); }};
    return std::any_of(list, list + count, found);
}

// Half of what usbfs gives all programs together; 0 there means no limit.
std::size_t usbfs_budget()
{
    std::size_t mebibytes = 16;
    const auto text = sys::read_text("/sys/module/usbcore/parameters/usbfs_memory_mb");
    if (text)
        (void)std::from_chars(text->data(), text->data() + text->size(), mebibytes);
    return mebibytes == 0 ? SIZE_MAX : mebibytes * 1024 * 1024 / 2;
}

} // namespace

std::size_t most_in_flight(std::size_t wanted, std::size_t wire_bytes)
{
    constexpr std::size_t kOverhead = 8192; // counted by usbfs in addition to a block's bytes
    return wanted != 0 ? wanted
                       : std::max<std::size_t>(usbfs_budget() / (wire_bytes + kOverhead), 1);
}

void fail_usb(int code, const char* operation, const std::string& object)
{
    throw Error(Fault::device, errno_of(code), operation, object, libusb_error_name(code),
                hint_for(code));
}

bool BoardChoice::means(const BoardChoice& board) const noexcept
{
    return (!id || id == board.id) && (serial.empty() || serial == board.serial);
}

BoardChoice BoardChoice::waiting(std::int64_t ns) const
{
    BoardChoice choice = *this;
    choice.wait_ns = ns;
    return choice;
}

std::string BoardChoice::text() const
{
    char text[16] = "usb:";
    if (id)
        std::snprintf(text, sizeof text, "usb:%04x:%04x", id->vendor, id->product);
    return serial.empty() ? text : std::string(text) + " serial=" + serial;
}

Board::Board(const BoardChoice& choice, int cancel)
{
    const std::int64_t deadline = sys::after(choice.wait_ns);
    while (!find(choice)) {
        if (sys::monotonic_ns() >= deadline)
            throw Error(Fault::device, ENODEV, "open", choice.text(),
                        "no streaming board was found",
                        "on the board: iio-stream stream SOURCE ffs:MOUNT; wait= waits for it");
        if (sys::wait_for(cancel, POLLIN, sys::after(50'000'000)))
            fail_usb(LIBUSB_ERROR_INTERRUPTED, "open", choice.text());
    }
    if (const int code = libusb_claim_interface(handle_.get(), interface_); code != 0)
        fail_usb(code, "claim the interface of", name_);
    group_.emplace();
    const libusb_pollfd** list = libusb_get_pollfds(context_.get());
    for (const libusb_pollfd** entry = list; entry != nullptr && *entry != nullptr; ++entry)
        group_->add((*entry)->fd, (*entry)->events);
    libusb_free_pollfds(list);
}

// In a context of its own, because without udev's daemon a context never sees new devices.
bool Board::find(const BoardChoice& choice)
{
    Context context = new_context();
    handle_.reset();
    context_ = std::move(context);
    return any_device(context_.get(),
                      [&](libusb_device* device) { return is_wanted(device, choice); });
}

bool Board::is_wanted(libusb_device* device, const BoardChoice& choice)
{
    libusb_device_descriptor d{};
    const auto interface = find_interface(device);
    if (!interface || libusb_get_device_descriptor(device, &d) != 0 ||
        (choice.id && (choice.id->vendor != d.idVendor || choice.id->product != d.idProduct)))
        return false;
    char id[16];
    std::snprintf(id, sizeof id, "%04x:%04x", d.idVendor, d.idProduct);
    libusb_device_handle* raw = nullptr;
    if (const int code = libusb_open(device, &raw); code == LIBUSB_ERROR_NO_DEVICE)
        return false; // it has just gone
    else if (code != 0)
        fail_usb(code, "open", id);
    handle_.reset(raw);
    const std::string serial = text_of(raw, d.iSerialNumber);
    if (!choice.serial.empty() && choice.serial != serial) {
        handle_.reset();
        return false;
    }
    name_ = std::string(id) + " serial " + serial;
    itself_ = {UsbId{d.idVendor, d.idProduct}, serial, 0};
    interface_ = interface->number;
    samples_in_ = interface->in;
    samples_out_ = interface->out;
    news_in_ = interface->news;
    return true;
}

// All that usbfs reports about an unplugged device is that it is gone, whatever is in its place
// now.
bool Board::is_gone() const noexcept
{
    return libusb_kernel_driver_active(handle_.get(), interface_) == LIBUSB_ERROR_NO_DEVICE;
}

void Board::clear_halt(unsigned char endpoint)
{
    if (const int code = libusb_clear_halt(handle_.get(), endpoint); code != 0)
        fail_usb(code, "clear the halt of", name_);
}

void Board::handle_events(std::int64_t wait_us)
{
    timeval wait{.tv_sec = 0, .tv_usec = static_cast<suseconds_t>(wait_us)};
    const int code = libusb_handle_events_timeout_completed(context_.get(), &wait, nullptr);
    if (code != 0 && code != LIBUSB_ERROR_INTERRUPTED)
        fail_usb(code, "hear from", name_);
}

} // namespace iio_stream::usb

namespace iio_stream {

std::vector<UsbBoard> usb_boards()
{
    std::vector<UsbBoard> boards;
    const usb::Context context = usb::new_context();
    (void)usb::any_device(context.get(), [&](libusb_device* device) {
        libusb_device_descriptor d{};
        if (!usb::find_interface(device) || libusb_get_device_descriptor(device, &d) != 0)
            return false;
        UsbBoard board{{d.idVendor, d.idProduct}, ""};
        libusb_device_handle* raw = nullptr;
        if (libusb_open(device, &raw) == 0) {
            board.serial = usb::text_of(raw, d.iSerialNumber);
            libusb_close(raw);
        }
        boards.push_back(std::move(board));
        return false; // the next one
    });
    return boards;
}

Uri UsbBoard::endpoint() const
{
    char text[16];
    std::snprintf(text, sizeof text, "usb:%04x:%04x", id.vendor, id.product);
    Uri uri(text);
    if (!serial.empty())
        uri.options.set("serial", serial);
    return uri;
}

} // namespace iio_stream
