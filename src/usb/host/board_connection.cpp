// SPDX-License-Identifier: MIT
#include "usb/host/board_connection.hpp"

#include "core/base/text.hpp"
#include "framing/bytes.hpp"
#include "framing/header.hpp"
#include "iio_stream/error.hpp"
#include "iio_stream/usb.hpp"
#include "sys/event.hpp"
#include "sys/files.hpp"
#include "sys/machine.hpp"
#include "usb/attribute_allowlist.hpp"

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
        return "another program is streaming from it";
    case LIBUSB_ERROR_NO_MEM:
        return "a smaller transfers= needs less memory; "
               "/sys/module/usbcore/parameters/usbfs_memory_mb is the limit for all programs";
    default:
        return "";
    }
}

struct Interface {
    unsigned char number = 0, in = 0, out = 0, events = 0;
};

// Finds our interface in the active configuration. The order of its endpoints identifies them.
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
            else if ((address & LIBUSB_ENDPOINT_IN) != 0 && found.events == 0)
                found.events = address;
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

// Returns true as soon as `found` returns true for one of the connected devices.
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

// Returns half of the memory that usbfs grants to all programs together. If the kernel's parameter
// is 0, there is no limit.
std::size_t usbfs_budget()
{
    std::size_t mebibytes = 16;
    const auto text = sys::read_text("/sys/module/usbcore/parameters/usbfs_memory_mb");
    if (text)
        (void)std::from_chars(text->data(), text->data() + text->size(), mebibytes);
    return mebibytes == 0 ? SIZE_MAX : mebibytes * 1024 * 1024 / 2;
}

// What to do if no board was found. Boards of Analog Devices, such as the Pluto, run iiod.
std::string way_to_board(const BoardChoice& choice)
{
    constexpr unsigned kAnalogDevices = 0x0456;
    const std::string start =
        "on the board: iio-stream stream SOURCE ffs:MOUNT; wait= waits for it";
    return choice.id && choice.id->vendor == kAnalogDevices
               ? "if the board runs iiod: iio:DEVICE uri=usb:…, which iio-stream info --scan "
                 "lists; " +
                     start
               : start;
}

constexpr std::int64_t kAnswerNs = 10'000'000'000; ///< how long to repeat a request to a busy board
constexpr std::int64_t kStopNs = 3'000'000'000;    ///< the same, for a host that is about to end
constexpr std::int64_t kRepeatNs = 20'000'000;
constexpr unsigned kControlMs = 1000;
constexpr suseconds_t kSliceUs = 50'000; ///< between two checks for cancelling
constexpr std::size_t kTextPiece = 1024, kLongestText = 65536;
constexpr std::size_t kLongestAnswer = 4096; ///< usbfs carries no more in one request

// Returns the result of `ask`. Repeats the call if the board does not answer in time, because it
// may be busy with its sink or its radio.
template <typename Ask>
int repeat_until_answered(Ask ask, std::int64_t patience_ns = kAnswerNs)
{
    const std::int64_t deadline = sys::after(patience_ns);
    int got;
    do
        got = ask();
    while (got == LIBUSB_ERROR_TIMEOUT && sys::monotonic_ns() < deadline);
    return got;
}

/// Like repeat_until_answered(), but also repeats the call if the board answers STALL because it is
/// busy.
template <typename Ask>
int repeat_while_busy(Ask ask, int cancel)
{
    const std::int64_t deadline = sys::after(kAnswerNs);
    for (;;) {
        const int got = ask();
        if ((got != LIBUSB_ERROR_PIPE && got != LIBUSB_ERROR_TIMEOUT) ||
            sys::monotonic_ns() >= deadline)
            return got;
        if (sys::wait_for(cancel, POLLIN, sys::after(kRepeatNs)))
            return LIBUSB_ERROR_INTERRUPTED;
    }
}

int code_of(libusb_transfer_status status)
{
    switch (status) {
    case LIBUSB_TRANSFER_TIMED_OUT:
        return LIBUSB_ERROR_TIMEOUT;
    case LIBUSB_TRANSFER_STALL:
        return LIBUSB_ERROR_PIPE;
    case LIBUSB_TRANSFER_NO_DEVICE:
        return LIBUSB_ERROR_NO_DEVICE;
    case LIBUSB_TRANSFER_OVERFLOW:
        return LIBUSB_ERROR_OVERFLOW;
    default:
        return LIBUSB_ERROR_IO;
    }
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

BoardConnection::BoardConnection(const BoardChoice& choice, int cancel)
{
    const std::int64_t deadline = sys::after(choice.wait_ns);
    while (!find(choice)) {
        if (sys::monotonic_ns() >= deadline)
            throw Error(Fault::device, ENODEV, "open", choice.text(),
                        "no streaming board was found", way_to_board(choice));
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

// usbfs reports an unplugged device as missing, even if another one has taken its place.
bool BoardConnection::is_unplugged() const noexcept
{
    return libusb_kernel_driver_active(handle_.get(), interface_) == LIBUSB_ERROR_NO_DEVICE;
}

framing::PeerInfo BoardConnection::info(std::int64_t patience_ns, int cancel)
{
    const std::int64_t deadline = sys::after(patience_ns);
    for (;;) {
        const std::string text = get_text(static_cast<unsigned char>(Request::get_info), cancel);
        if (!text.empty())
            return framing::parse_info(text, "GET_INFO's answer");
        if (sys::monotonic_ns() >= deadline)
            fail_usb(LIBUSB_ERROR_PIPE, "query", name_);
        if (sys::wait_for(cancel, POLLIN, sys::after(50'000'000)))
            fail_usb(LIBUSB_ERROR_INTERRUPTED, "query", name_);
    }
}

Started BoardConnection::start(unsigned value, int cancel)
{
    std::array<unsigned char, kStartBytes> reply;
    std::int64_t before = 0, after = 0; // times before and after the answered request
    const int got = repeat_until_answered([&] {
        before = sys::monotonic_ns();
        const int bytes = control(LIBUSB_ENDPOINT_IN, static_cast<unsigned char>(Request::start),
                                  value, reply.data(), kStartBytes, cancel);
        after = sys::monotonic_ns();
        return bytes;
    });
    if (got == LIBUSB_ERROR_INTERRUPTED) // the board may have received START anyway
        (void)send_stop(value == kStartAgain ? static_cast<unsigned>(Direction::to_board) : value);
    if (got < 0)
        fail_usb(got, "start the stream of", name_);
    if (static_cast<std::size_t>(got) != kStartBytes)
        throw Error(Fault::device, EPROTO, "start the stream of", name_, "a short answer");
    const auto* bytes = reinterpret_cast<const std::byte*>(reply.data());
    const auto board_ns = static_cast<std::int64_t>(framing::get_number(bytes + 4, 8));
    if (board_ns < 0 || board_ns >= framing::kClockEndNs)
        throw Error(Fault::device, EPROTO, "start the stream of", name_,
                    "its clock is at " + std::to_string(board_ns) + " ns");
    return {static_cast<std::uint32_t>(framing::get_number(bytes, 4)),
            before + (after - before) / 2 - board_ns,
            static_cast<std::uint64_t>((after - before) / 2)};
}

// A failure does no harm: without STOP, the board only continues a stream that nobody receives.
void BoardConnection::stop(Direction direction) noexcept
{
    (void)repeat_until_answered([&] { return send_stop(static_cast<unsigned>(direction)); },
                                kStopNs);
}

bool BoardConnection::has_ended() noexcept
{
    const int code = send_stop(kStopEnded);
    return code != LIBUSB_ERROR_PIPE && code != LIBUSB_ERROR_TIMEOUT;
}

void BoardConnection::clear_halt(unsigned char endpoint)
{
    if (const int code = libusb_clear_halt(handle_.get(), endpoint); code != 0)
        fail_usb(code, "clear the halt of", name_);
}

std::string BoardConnection::set_attribute(std::size_t number, const std::string& name,
                                           const std::string& value, int cancel)
{
    const std::string what = name + "=" + value + " of " + name_;
    std::string text = value;
    if (text.empty() || text.size() > kLongestValue)
        fail_usage(what + ": 1 to " + std::to_string(kLongestValue) +
                   " characters can be sent to the board");
    const auto set = [&] {
        return control(LIBUSB_ENDPOINT_OUT, static_cast<unsigned char>(Request::set_attr),
                       static_cast<unsigned>(number), reinterpret_cast<unsigned char*>(text.data()),
                       static_cast<unsigned>(text.size()), cancel);
    };
    const int sent = repeat_while_busy(set, cancel);
    if (sent < 0)
        fail_usb(sent, "set", what);
    std::array<unsigned char, kLongestAnswer> answer;
    const auto ask = [&] {
        return control(LIBUSB_ENDPOINT_IN, static_cast<unsigned char>(Request::get_attr),
                       static_cast<unsigned>(number), answer.data(), kLongestAnswer, cancel);
    };
    const int got = repeat_while_busy(ask, cancel);
    if (got < 0)
        fail_usb(got, "set", what);
    return value_of({answer.begin(), answer.begin() + got}, what);
}

void BoardConnection::handle_events(std::int64_t wait_us)
{
    timeval wait{.tv_sec = 0, .tv_usec = static_cast<suseconds_t>(wait_us)};
    const int code = libusb_handle_events_timeout_completed(context_.get(), &wait, nullptr);
    if (code != 0 && code != LIBUSB_ERROR_INTERRUPTED)
        fail_usb(code, "handle events of", name_);
}

// Uses a new context each time, because without udev's daemon a context never sees new devices.
bool BoardConnection::find(const BoardChoice& choice)
{
    Context context = new_context();
    handle_.reset();
    context_ = std::move(context);
    return any_device(context_.get(),
                      [&](libusb_device* device) { return is_wanted(device, choice); });
}

bool BoardConnection::is_wanted(libusb_device* device, const BoardChoice& choice)
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
        return false; // the device has just disappeared
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
    events_in_ = interface->events;
    return true;
}

// Returns an empty string if the board answers STALL or is too busy.
std::string BoardConnection::get_text(unsigned char request, int cancel)
{
    std::string text;
    std::array<unsigned char, kTextPiece> piece;
    while (text.size() < kLongestText - kTextPiece) {
        const int got = control(LIBUSB_ENDPOINT_IN, request, static_cast<unsigned>(text.size()),
                                piece.data(), kTextPiece, cancel);
        if (got == LIBUSB_ERROR_PIPE || got == LIBUSB_ERROR_TIMEOUT)
            return "";
        if (got < 0)
            fail_usb(got, "query", name_);
        text.append(piece.begin(), piece.begin() + got);
        if (static_cast<std::size_t>(got) < piece.size())
            return text;
    }
    throw Error(Fault::device, EPROTO, "query", name_, "its answer is too long");
}

int BoardConnection::send_stop(unsigned value) noexcept
{
    return control(LIBUSB_ENDPOINT_OUT, static_cast<unsigned char>(Request::stop), value, nullptr,
                   0);
}

// Like libusb_control_transfer(), but can be cancelled.
int BoardConnection::control(unsigned char type, unsigned char request, unsigned value,
                             unsigned char* data, unsigned length, int cancel)
{
    std::array<unsigned char, LIBUSB_CONTROL_SETUP_SIZE + kLongestAnswer> bytes;
    libusb_fill_control_setup(
        bytes.data(),
        static_cast<std::uint8_t>(type | LIBUSB_REQUEST_TYPE_VENDOR | LIBUSB_RECIPIENT_INTERFACE),
        request, static_cast<std::uint16_t>(value), interface_, static_cast<std::uint16_t>(length));
    unsigned char* const payload = bytes.data() + LIBUSB_CONTROL_SETUP_SIZE;
    if (type == LIBUSB_ENDPOINT_OUT)
        std::copy_n(data, length, payload);
    const std::unique_ptr<libusb_transfer, void (*)(libusb_transfer*)> transfer{
        libusb_alloc_transfer(0), &libusb_free_transfer};
    if (!transfer)
        return LIBUSB_ERROR_NO_MEM;
    int done = 0;
    libusb_fill_control_transfer(
        transfer.get(), handle_.get(), bytes.data(),
        [](libusb_transfer* t) { *static_cast<int*>(t->user_data) = 1; }, &done, kControlMs);
    if (const int code = libusb_submit_transfer(transfer.get()); code != 0)
        return code;
    bool failed = false, cancelled = false;
    while (done == 0) {
        timeval slice{.tv_sec = 0, .tv_usec = kSliceUs};
        const int code = libusb_handle_events_timeout_completed(context_.get(), &slice, &done);
        if (done != 0 || failed || cancelled)
            continue;
        pollfd stop{cancel, POLLIN, 0};
        failed = code != 0 && code != LIBUSB_ERROR_INTERRUPTED;
        cancelled = !failed && ::poll(&stop, 1, 0) > 0;
        if (failed || cancelled)
            (void)libusb_cancel_transfer(transfer.get());
    }
    if (cancelled && transfer->status == LIBUSB_TRANSFER_CANCELLED)
        return LIBUSB_ERROR_INTERRUPTED;
    if (transfer->status != LIBUSB_TRANSFER_COMPLETED)
        return code_of(transfer->status);
    if (type == LIBUSB_ENDPOINT_IN)
        std::copy_n(payload, transfer->actual_length, data);
    return transfer->actual_length;
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
