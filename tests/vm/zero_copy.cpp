// SPDX-License-Identifier: MIT
// Sends the samples of a source over TCP, in place:
//
//     lab-zero-copy ADDRESS PORT SAMPLES kept|early SOURCE
//
// kept: a block returns to the source when the kernel has finished with it, and the next block is
// sent only then. early: a block returns as soon as it is queued, which overwrites data that have
// not been sent. Prints "in place", or the reason for copying.
#include "sys/network/zero_copy.hpp"

#include "iio_stream/error.hpp"
#include "iio_stream/reader.hpp"
#include "sys/event.hpp"
#include "sys/network/tcp.hpp"

#include <cerrno>
#include <cstdio>
#include <string>

namespace {

using namespace iio_stream;

sys::UniqueFd connected(const std::string& address, const std::string& port)
{
    const sys::SocketAddress place =
        sys::resolve(sys::HostPort{address, address, port}, sys::Use::connect).at(0);
    sys::UniqueFd fd = sys::start_connecting(place);
    constexpr int kQueue = 4 << 20;
    ::setsockopt(fd.get(), SOL_SOCKET, SO_SNDBUFFORCE, &kQueue, sizeof kQueue);
    (void)sys::wait_for(fd.get(), POLLOUT, sys::after(10'000'000'000));
    if (const int error = sys::connect_error(fd.get()); error != 0)
        throw Error(Fault::device, error, "connect to", address);
    return fd;
}

template <typename Done>
void await(sys::ZeroCopy& socket, Done done)
{
    for (socket.read_completions(); !done(); socket.read_completions())
        (void)sys::wait_for(socket.fd(), POLLIN, INT64_MAX);
}

struct Kept {
    explicit Kept(const Block& of) : block(of.share()), view(block) {}
    Block block;
    CpuRead view;
};

} // namespace

int main(int argc, char** argv)
try {
    if (argc != 6)
        return 2;
    const bool early = std::string(argv[4]) == "early";
    const sys::UniqueFd fd = connected(argv[1], argv[2]);
    sys::ZeroCopy socket(fd.get(), true);
    if (!socket.is_on()) {
        std::puts(socket.why_not());
        return 1;
    }
    const auto done = [&] { return socket.held() == 0; };
    Reader reader(
        {.source = argv[5], .block_size = 65536, .blocks = 4, .samples = std::stoull(argv[3])});
    for (const Block& block : reader) {
        auto kept = std::make_shared<const Kept>(block);
        const sys::Lease lease = early ? std::make_shared<int>(0) : sys::Lease(kept);
        for (auto bytes = kept->view.bytes(); !bytes.empty();) {
            socket.start(bytes, {block.index(), kept->view.bytes()}, lease);
            await(socket, [&] { return socket.result().has_value(); });
            const int sent = *socket.result();
            if (sent < 0)
                throw Error(Fault::device, -sent, "send to", argv[1]);
            bytes = bytes.subspan(static_cast<std::size_t>(sent));
        }
        if (!early)
            await(socket, done);
    }
    await(socket, done);
    std::puts(socket.is_on() ? "in place" : socket.why_not());
    return 0;
} catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
