// SPDX-License-Identifier: MIT
#pragma once

#include "sys/functionfs.hpp"
#include "sys/unique_fd.hpp"

#include <cstdint>
#include <functional>
#include <string>

namespace iio_stream::usb {

/// The board's end of the control endpoint: FunctionFS' ep0, its events and the host's requests.
/// Owns: ep0; while it is open the function exists, and its gadget is bound.
/// Thread: one at a time. Blocks: only where the host has asked and then keeps the answer waiting.
class Function {
public:
    /// What happened since the last look, the last of each pair.
    struct News {
        bool enabled = false, disabled = false, unbound = false;
        bool started = false, stopped = false; ///< by the host's requests
    };
    /// What the host may ask for.
    struct Answers {
        std::string info;                   ///< GET_INFO's JSON
        std::function<std::string()> stats; ///< GET_STATS'
    };

    explicit Function(std::string mount) : mount_(std::move(mount)), path_(mount_ + "/ep0") {}

    /// Writes the descriptors and binds the gadget; does nothing where it is open.
    void open();
    void close() noexcept { ep0_ = {}; }
    void answer(Answers answers) { answers_ = std::move(answers); }
    bool is_open() const noexcept { return ep0_.valid(); }
    int fd() const noexcept { return ep0_.get(); }
    const std::string& mount() const noexcept { return mount_; }

    /// Reads all events; to be called right before each ioctl of an endpoint.
    News listen();
    /// Of the stream that the host's last START began.
    std::uint32_t stream_id() const noexcept { return stream_id_; }

private:
    void serve(const sys::UsbSetup& setup, News& news);
    void reply_text(const std::string& text, const sys::UsbSetup& setup);
    void reply_start();

    std::string mount_, path_;
    sys::UniqueFd ep0_;
    Answers answers_;
    std::uint32_t stream_id_ = 0;
};

} // namespace iio_stream::usb
