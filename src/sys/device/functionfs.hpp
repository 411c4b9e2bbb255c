// SPDX-License-Identifier: MIT
#pragma once

#include "sys/unique_fd.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace iio_stream::sys {

/// FUNCTIONFS_DMABUF_ATTACH. Call it only after ENABLE, never after UNBIND. Returns 0 or the errno:
/// EPERM means a controller without scatter-gather, and ENOTTY means a kernel before 6.9.
int ffs_attach(int endpoint_fd, int dmabuf_fd) noexcept;

/// FUNCTIONFS_DMABUF_TRANSFER. After UNBIND, it crashes the kernel. Returns 0 or the errno: EAGAIN
/// or ESHUTDOWN if the endpoint is disabled.
int ffs_transfer(int endpoint_fd, int dmabuf_fd, std::size_t bytes) noexcept;

/// The first eight bytes of a control request.
struct UsbSetup {
    std::uint8_t type, request;
    std::uint16_t value, index, length;
    bool to_host() const noexcept { return (type & 0x80) != 0; }
};

struct FfsEvent {
    enum class Kind { bind, unbind, enable, disable, setup, suspend, resume };
    Kind kind;
    UsbSetup setup; ///< valid for Kind::setup
};

/// Returns the next event of a non-blocking ep0; nullopt if there is none.
std::optional<FfsEvent> ffs_event(int ep0_fd, const std::string& path);

/// Answer the host's request with data, with an empty status stage, or with STALL. It is not an
/// error if the host has cancelled the request. A host that does not complete the request within a
/// second gets STALL.
void ffs_reply(int ep0_fd, std::span<const std::byte> data) noexcept;
void ffs_accept(int ep0_fd) noexcept;
/// Accepts a request and receives the data that the host sends. Returns false if the host has given
/// up.
bool ffs_receive(int ep0_fd, std::span<std::byte> data) noexcept;
void ffs_stall(int ep0_fd, bool to_host) noexcept;

/// Opens an endpoint, non-blocking; waits while another thread answers a request.
UniqueFd ffs_open_endpoint(const std::string& path);

/// Halts an OUT endpoint without pending requests: the host gets STALL until it clears the halt.
void ffs_halt_out(int endpoint_fd) noexcept;

/// Writes descriptors or strings to ep0; throws "write PATH: …".
void ffs_describe(int ep0_fd, const std::string& path, std::span<const std::byte> data);

} // namespace iio_stream::sys
