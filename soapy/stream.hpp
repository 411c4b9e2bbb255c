// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/error.hpp"
#include "iio_stream/pipeline.hpp"
#include "port.hpp"

#include <SoapySDR/Constants.h>
#include <SoapySDR/Errors.h>
#include <SoapySDR/Types.hpp>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace iio_stream::soapy {

/// The arguments of setupStream().
struct StreamRequest {
    std::string format;
    std::vector<std::size_t> channels;
    SoapySDR::Kwargs args;
};

/// A stream with the functions of SoapySDR. Functions that a direction does not have return
/// SOAPY_SDR_NOT_SUPPORTED. Throws: Error, from every function; the device converts it to a code.
/// Thread: any. SoapySDR specifies one thread at a time, but programs deactivate a stream while
/// another thread waits in it. Therefore calls wait for each other, and deactivate() interrupts a
/// waiting call.
class Stream {
public:
    virtual ~Stream() = default;

    virtual std::size_t mtu() const = 0; ///< the largest number of elements in one call
    virtual int activate(int flags, long long time_ns, std::size_t elements) = 0;
    virtual int deactivate(int flags, long long time_ns) = 0;
    virtual int read(void* const*, std::size_t, int&, long long&, long)
    {
        return SOAPY_SDR_NOT_SUPPORTED;
    }
    virtual int write(const void* const*, std::size_t, int&, long long, long)
    {
        return SOAPY_SDR_NOT_SUPPORTED;
    }
    virtual int status(std::size_t&, int&, long long&, long) { return SOAPY_SDR_NOT_SUPPORTED; }

    virtual std::size_t buffers() const { return 0; } ///< number of buffers for direct access
    virtual int acquire_read(std::size_t&, const void**, int&, long long&, long)
    {
        return SOAPY_SDR_NOT_SUPPORTED;
    }
    virtual void release_read(std::size_t) {}
    virtual int acquire_write(std::size_t&, void**, long) { return SOAPY_SDR_NOT_SUPPORTED; }
    virtual void release_write(std::size_t, std::size_t, int&, long long) {}

protected:
    using Lock = std::unique_lock<std::mutex>;

    /// Waits for the timeout and returns `code`, for a call while the stream is not active or has
    /// no more samples.
    int wait_inactive(Lock& lock, long timeout_us, int code = SOAPY_SDR_TIMEOUT);
    /// Interrupts a waiting call and returns the lock.
    Lock interrupt();

    std::mutex busy_;                      ///< guards all members unless stated otherwise
    std::atomic<bool> interrupted_{false}; ///< a waiting call must return soon

private:
    std::condition_variable never_; ///< never notified; used to wait for a timeout
};

/// The longest time between two checks of Stream::interrupted_.
inline constexpr std::chrono::nanoseconds kSlice = std::chrono::milliseconds(20);

/// Returns the arguments of a stream in the port's direction: the general ones, then the endpoint's
/// options.
SoapySDR::ArgInfoList stream_args(const Port& port);
/// Converts an option of an endpoint to SoapySDR's description.
SoapySDR::ArgInfo describe(const Option& option);
/// Returns the option with that name, or null.
const Option* option_named(const std::vector<Option>& options, const std::string& key);
/// Throws a usage Error if the argument has a list of values and `value` is not one of them.
void check_choice(const SoapySDR::ArgInfo& info, const std::string& value);

/// Returns the pipeline for the arguments, without source and sinks. Adds options of the endpoint
/// to `endpoint`. Throws a usage Error for an argument that is not in stream_args().
PipelineConfig pipeline_of(const StreamRequest& request, const Port& port, Uri& endpoint);

/// Converts a timeout of SoapySDR, in microseconds. A negative timeout counts as 0.
inline std::chrono::nanoseconds wait_of(long timeout_us)
{
    return std::chrono::microseconds(timeout_us < 0 ? 0 : timeout_us);
}
/// Returns the time left until a deadline; 0 after it.
inline std::chrono::nanoseconds left_until(std::chrono::steady_clock::time_point deadline)
{
    return std::max<std::chrono::nanoseconds>(deadline - std::chrono::steady_clock::now(),
                                              std::chrono::nanoseconds(0));
}
/// Returns the CLOCK_MONOTONIC time; all times in this module are on that clock.
inline std::int64_t now_ns()
{
    return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

} // namespace iio_stream::soapy
