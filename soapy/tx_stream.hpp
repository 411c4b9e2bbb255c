// SPDX-License-Identifier: MIT
#pragma once

#include "formats.hpp"
#include "iio_stream/writer.hpp"
#include "stream.hpp"

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace iio_stream::soapy {

/// Transmits to a port. Samples are converted into the blocks that the device plays; the last one
/// of a burst is sent as it is.
class TxStream final : public Stream {
public:
    TxStream(Port& port, StreamRequest request); ///< prepares the stream

    std::size_t mtu() const override;
    int activate(int flags, long long time_ns, std::size_t elements) override;
    int deactivate(int flags, long long time_ns) override;
    int write(const void* const* in, std::size_t elements, int& flags, long long time_ns,
              long timeout_us) override;
    int status(std::size_t& channels, int& flags, long long& time_ns, long timeout_us) override;
    std::size_t buffers() const override;
    int acquire_write(std::size_t& handle, void** out, long timeout_us) override;
    void release_write(std::size_t handle, std::size_t elements, int& flags,
                       long long time_ns) override;

private:
    /// A block that the program fills.
    struct Held {
        explicit Held(EmptyBlock empty) : block(std::move(empty)) { access.emplace(block); }
        EmptyBlock block;
        std::optional<CpuWrite> access;
    };

    void open();
    Format block_format() const;
    std::shared_ptr<Writer> writer() const;
    std::optional<EmptyBlock> take(std::chrono::steady_clock::time_point deadline);
    bool take_block(std::chrono::steady_clock::time_point deadline);
    std::size_t fill(const void* const* in, std::size_t from, std::size_t elements);
    void send();
    void begin_burst();
    void end_burst(int flags);
    bool new_underflow();

    Port& port_;
    StreamRequest request_;
    mutable std::mutex mutex_; ///< of writer_, for status(), which does not wait for other calls
    std::shared_ptr<Writer> writer_;
    std::vector<ChannelConverter> converters_;
    bool direct_ = false;  ///< the blocks hold the elements of the one channel
    unsigned options_ = 0; ///< changes of the port's options when the writer was opened
    double rate_ = 0;
    std::atomic<bool> active_{false};
    std::optional<EmptyBlock> block_;      ///< the one that is being filled
    std::size_t filled_ = 0;               ///< its samples
    bool limited_ = false, ended_ = false; ///< a number of elements was given; a burst has ended
    std::size_t left_ = 0;
    std::atomic<std::uint64_t> pauses_{0};  ///< between bursts, in which the device runs empty
    std::uint64_t reported_ = 0;            ///< underflows; used by status()
    std::vector<std::optional<Held>> held_; ///< by handle
};

} // namespace iio_stream::soapy
