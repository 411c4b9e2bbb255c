// SPDX-License-Identifier: MIT
#include "usb/host/reconnect_timer.hpp"

#include "sys/event.hpp"

#include <cerrno>

namespace iio_stream::usb {

namespace {

constexpr std::int64_t kRetryNs = 100'000'000; ///< between two attempts

} // namespace

void ReconnectTimer::begin(const Error& error)
{
    if (reconnect_ns_ == 0 || error.code().value() != ENODEV)
        throw;
    note_attempt();
    give_up_ns_ = sys::after(reconnect_ns_);
}

bool ReconnectTimer::is_time() const noexcept
{
    return sys::monotonic_ns() >= retry_ns_;
}

void ReconnectTimer::note_attempt() noexcept
{
    retry_ns_ = sys::after(kRetryNs);
}

// Any failure can be temporary: udev may not have set the device's owner yet, or the board's
// program may still be starting.
void ReconnectTimer::failed(const Error& error, const std::string& choice) const
{
    if (error.fault() == Fault::usage)
        throw;
    if (error.code().value() == ECANCELED)
        return; // the caller that cancelled reports it
    if (sys::monotonic_ns() >= give_up_ns_)
        throw Error(Fault::device, error.code().value(), "wait for the return of", choice,
                    error.detail(), error.hint());
}

} // namespace iio_stream::usb
