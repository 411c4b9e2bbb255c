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

/// What setupStream() was asked for.
struct StreamRequest {
    std::string format;
    std::vector<std::size_t> channels;
    SoapySDR::Kwargs args;
};

/// A stream as SoapySDR's functions see it; what a direction does not have returns
/// SOAPY_SDR_NOT_SUPPORTED. Throws: Error, from everything; the device turns it into a code.
/// Thread: any. SoapySDR promises one at a time, but its programs deactivate while another thread
/// waits: calls wait for each other, and deactivate() ends those that wait.
class Stream {
public:
    virtual ~Stream() = default;

    virtual std::size_t mtu() const = 0; ///< elements
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

    virtual std::size_t buffers() const { return 0; } ///< for direct access
    virtual int acquire_read(std::size_t&, const void**, int&, long long&, long)
    {
        return SOAPY_SDR_NOT_SUPPORTED;
    }
    virtual void release_read(std::size_t) {}
    virtual int acquire_write(std::size_t&, void**, long) { return SOAPY_SDR_NOT_SUPPORTED; }
    virtual void release_write(std::size_t, std::size_t, int&, long long) {}

protected:
    using Lock = std::unique_lock<std::mutex>;

    /// What a call does while the stream is not active, or has no more to give.
    int wait_inactive(Lock& lock, long timeout_us, int code = SOAPY_SDR_TIMEOUT);
    /// The lock for a call that others need not wait for.
    Lock interrupt();

    std::mutex busy_;                      ///< of everything but what says otherwise
    std::atomic<bool> interrupted_{false}; ///< a call that waits is to return soon

private:
    std::condition_variable never_; ///< waited for with a timeout alone
};

/// The longest wait between two looks at Stream::interrupted_.
inline constexpr std::chrono::nanoseconds kSlice = std::chrono::milliseconds(20);

/// The arguments of a stream in that direction: ours, then the endpoint's options.
SoapySDR::ArgInfoList stream_args(const Port& port);
/// An option of an endpoint, as SoapySDR shows it.
SoapySDR::ArgInfo describe(const Option& option);
/// The option of that name, or null.
const Option* option_named(const std::vector<Option>& options, const std::string& key);
/// Throws a usage Error for a value that is none of the argument's, if those are listed.
void check_choice(const SoapySDR::ArgInfo& info, const std::string& value);

/// The pipeline that the arguments ask for, without its ends. Options of the endpoint go into
/// `endpoint`. Throws a usage Error for an argument that stream_args() does not name.
PipelineConfig pipeline_of(const StreamRequest& request, const Port& port, Uri& endpoint);

/// A wait of SoapySDR's, in microseconds.
inline std::chrono::nanoseconds wait_of(long timeout_us)
{
    return std::chrono::microseconds(timeout_us < 0 ? 0 : timeout_us);
}
/// What is left of it at a deadline; 0 afterwards.
inline std::chrono::nanoseconds left_until(std::chrono::steady_clock::time_point deadline)
{
    return std::max<std::chrono::nanoseconds>(deadline - std::chrono::steady_clock::now(),
                                              std::chrono::nanoseconds(0));
}
/// CLOCK_MONOTONIC, the clock of all times here.
inline std::int64_t now_ns()
{
    return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

} // namespace iio_stream::soapy
