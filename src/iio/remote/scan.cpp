// SPDX-License-Identifier: MIT
#include "iio_stream/scan.hpp"

#include "core/base/text.hpp"
#include "iio/context/context.hpp"
#include "iio/remote/libiio.hpp"
#include "iio/remote/remote.hpp"
#include "iio_stream/error.hpp"
#include "sys/captured_stderr.hpp"
#include "sys/event.hpp"
#include "sys/network/tcp.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <functional>
#include <future>
#include <optional>
#include <poll.h>
#include <string_view>
#include <sys/socket.h>
#include <thread>

namespace iio_stream::iio {

namespace {

using Contexts = std::vector<ScannedContext>;

constexpr const char* kIiodPort = "30431";
constexpr std::chrono::milliseconds kAnswer{1000};
/// libiio's scan asks one device after the other.
constexpr std::chrono::milliseconds kEnumeration{2000};

/// A place where a board may be.
struct Place {
    std::string name;
    std::chrono::milliseconds deadline;
    std::function<Contexts()> look; ///< throws an Error if there is no board
};

// Asks libiio for the contexts of a backend, "usb" or "ip".
Contexts scan_backend(const char* backend)
{
    const Libiio& libiio = Libiio::get();
    errno = 0;
    iio_scan_context* scan = libiio.create_scan_context(backend, 0);
    if (scan == nullptr)
        throw Error(Fault::device, errno == 0 ? EIO : errno, "scan", backend);
    iio_context_info** list = nullptr;
    const ssize_t count = libiio.scan_context_get_info_list(scan, &list);
    Contexts found;
    for (ssize_t i = 0; i < count; ++i)
        found.push_back({detail::printable(libiio.context_info_get_uri(list[i])),
                         detail::printable(libiio.context_info_get_description(list[i]))});
    if (count >= 0)
        libiio.context_info_list_free(list);
    libiio.scan_context_destroy(scan);
    if (count < 0)
        throw Error(Fault::device, static_cast<int>(-count), "scan", backend);
    return found;
}

[[noreturn]] void no_board(int error)
{
    throw Error(Fault::device, error, "ask", "iiod");
}

// Throws if no iiod answers at this address, with the reason.
void require_iiod(const sys::SocketAddress& address, std::int64_t deadline_ns)
{
    const sys::UniqueFd fd = sys::start_connecting(address);
    if (!fd.valid())
        no_board(errno);
    if (!sys::wait_for(fd.get(), POLLOUT, deadline_ns))
        no_board(ETIMEDOUT);
    if (const int error = sys::connect_error(fd.get()); error != 0)
        no_board(error);
    constexpr std::string_view kQuestion = "VERSION\r\n"; // iiod answers "0.24.v0.24  "
    if (::send(fd.get(), kQuestion.data(), kQuestion.size(), MSG_NOSIGNAL) < 0)
        no_board(errno);
    if (!sys::wait_for(fd.get(), POLLIN, deadline_ns))
        no_board(ETIMEDOUT);
    char first = 0;
    if (::recv(fd.get(), &first, 1, 0) != 1 || first < '0' || first > '9')
        throw Error(Fault::device, EPROTO, "ask", "iiod", "what answers is not iiod");
}

Contexts look_at_address(const std::string& uri)
{
    const auto where = sys::HostPort::parse(uri, uri.substr(3), kIiodPort);
    const std::int64_t deadline_ns =
        sys::after(std::chrono::nanoseconds(kAnswer).count() * 9 / 10); // before the abandonment
    std::optional<Error> refusal;
    for (const sys::SocketAddress& address : sys::resolve(where, sys::Use::connect))
        try {
            require_iiod(address, deadline_ns);
            return {{uri}};
        } catch (const Error& error) {
            refusal = error;
        }
    throw *refusal;
}

std::vector<Place> places_to_look(const std::string& uri)
{
    std::vector<Place> places{{"USB", kEnumeration, [] { return scan_backend("usb"); }},
                              {"DNS-SD", kEnumeration, [] {
                                   try {
                                       return scan_backend("ip");
                                   } catch (const Error&) {
                                       throw Error(Fault::device, ENOENT, "scan", "DNS-SD",
                                                   "avahi-daemon does not run");
                                   }
                               }}};
    // The addresses of ADI's images: board/pluto/S40network of its buildroot (Pluto, ADALM-2000),
    // and the defaults of pyadi-iio.
    std::vector<std::string> uris{"ip:192.168.2.1", "ip:pluto.local", "ip:analog.local"};
    if (!uri.empty() && std::ranges::find(uris, uri) == uris.end())
        uris.push_back(uri);
    for (const std::string& one : uris)
        places.push_back({one, kAnswer, [one] {
                              return one.starts_with("ip:") ? look_at_address(one)
                                                            : Contexts{{one}};
                          }});
    return places;
}

std::string reason_of(const Error& error)
{
    return error.detail().empty() ? std::strerror(error.code().value()) : error.detail();
}

// Adds the devices with buffers. A name that several devices have is replaced by their ids.
void add_devices(ScannedContext& found)
try {
    const auto all = devices(open_remote(found.uri));
    for (const Device& device : all) {
        const bool unique =
            std::ranges::count(all, device.name(), &Device::name) == 1 && !device.name().empty();
        const std::string name = detail::printable(
            unique ? device.name() : device.id().substr(device.id().find(':') + 1));
        std::vector<std::string> remarks;
        if (!device.scan_elements(false, remarks).empty())
            found.sources.push_back(name);
        if (!device.scan_elements(true, remarks).empty())
            found.sinks.push_back(name);
    }
} catch (const Error& error) {
    found.error = error.what();
}

} // namespace

} // namespace iio_stream::iio

namespace iio_stream {

void hide_libiio_messages() noexcept
{
    sys::CapturedStderr::enable();
}

ContextScan scan_contexts(const std::string& uri)
{
    (void)iio::Libiio::get(); // throws if it is missing
    const sys::CapturedStderr captured;
    const auto begin = std::chrono::steady_clock::now();
    const std::vector<iio::Place> places = iio::places_to_look(uri);
    std::vector<std::future<iio::Contexts>> answers;
    for (const iio::Place& place : places) {
        std::packaged_task<iio::Contexts()> look(place.look);
        answers.push_back(look.get_future());
        std::thread(std::move(look)).detach(); // libiio and the resolver cannot be cancelled
    }
    ContextScan scan;
    for (std::size_t i = 0; i < places.size(); ++i)
        try {
            if (answers[i].wait_until(begin + places[i].deadline) != std::future_status::ready) {
                scan.not_found.push_back(places[i].name + ": no answer");
                continue;
            }
            const iio::Contexts found = answers[i].get();
            if (found.empty())
                scan.not_found.push_back(places[i].name + ": no board");
            for (const ScannedContext& one : found)
                if (std::ranges::find(scan.found, one.uri, &ScannedContext::uri) ==
                    scan.found.end())
                    scan.found.push_back(one);
        } catch (const Error& error) {
            scan.not_found.push_back(places[i].name + ": " + iio::reason_of(error));
        }
    for (ScannedContext& one : scan.found)
        iio::add_devices(one);
    return scan;
}

} // namespace iio_stream
