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

/// Transmits to a port. Samples are converted into the blocks that the device plays. The last block
/// of a burst is sent even if it is not full.
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
    mutable std::mutex mutex_; ///< guards writer_ for status(), which does not take busy_
    std::shared_ptr<Writer> writer_;
    std::vector<ChannelConverter> converters_;
    bool direct_ = false;  ///< the blocks consist of the elements of the only channel
    unsigned options_ = 0; ///< changes of the port's options when the writer was opened
    double rate_ = 0;
    std::atomic<bool> active_{false};
    std::optional<EmptyBlock> block_;      ///< the block that is being filled
    std::size_t filled_ = 0;               ///< samples in it
    bool limited_ = false, ended_ = false; ///< a number of elements was given; a burst has ended
    std::size_t left_ = 0;
    std::atomic<std::uint64_t> pauses_{0};  ///< pauses between bursts, which look like underflows
    std::uint64_t reported_ = 0;            ///< underflows that status() has reported
    std::vector<std::optional<Held>> held_; ///< by handle
};

} // namespace iio_stream::soapy
