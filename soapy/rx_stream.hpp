// SPDX-License-Identifier: MIT
#pragma once

#include "formats.hpp"
#include "iio_stream/reader.hpp"
#include "stream.hpp"
#include "stream_clock.hpp"

#include <optional>
#include <vector>

namespace iio_stream::soapy {

/// Receives from a port. Samples are delivered in runs. A run is a part of a block that contains no
/// loss.
class RxStream final : public Stream {
public:
    RxStream(Port& port, StreamRequest request); ///< prepares the stream

    std::size_t mtu() const override;
    int activate(int flags, long long time_ns, std::size_t elements) override;
    int deactivate(int flags, long long time_ns) override;
    int read(void* const* out, std::size_t elements, int& flags, long long& time_ns,
             long timeout_us) override;
    std::size_t buffers() const override;
    int acquire_read(std::size_t& handle, const void** out, int& flags, long long& time_ns,
                     long timeout_us) override;
    void release_read(std::size_t handle) override;

private:
    /// A part of a block that the program has acquired.
    struct Held {
        explicit Held(Block part) : block(std::move(part)), access(block) {}
        Block block;
        CpuRead access;
    };

    void open();
    int begin(int flags, long long time_ns, std::size_t elements);
    int end(int flags, long long time_ns);
    /// Returns the number of samples in the next run, or a code.
    int next_run(Lock& lock, long timeout_us, std::size_t most);
    int next_block(std::chrono::steady_clock::time_point deadline);
    Next<Block> take(std::chrono::steady_clock::time_point deadline);
    bool report_gaps();
    bool skip_to_start();
    std::size_t run_length(std::size_t most) const;
    void hand_over(std::size_t samples, int& flags, long long& time_ns);

    Port& port_;
    StreamRequest request_;
    std::optional<Reader> reader_;
    std::vector<ChannelConverter> converters_;
    bool direct_ = false;  ///< the blocks consist of the elements of the only channel
    double rate_ = 0;      ///< rate of the port when the reader was opened
    unsigned options_ = 0; ///< count of the port's option changes at that time
    bool active_ = false, failed_ = false;

    std::optional<Block> block_; ///< the current block
    std::size_t done_ = 0;       ///< number of its samples that were delivered
    std::size_t gaps_done_ = 0;  ///< number of its gaps that were reported
    StreamClock clock_;
    std::int64_t from_ns_ = 0, until_ns_ = 0; ///< time limits of the activation; 0: no limit
    std::size_t left_ = 0;                    ///< samples left of a limited activation
    bool limited_ = false;

    std::mutex held_mutex_; ///< guards held_: release_read() must not wait for acquire_read()
    std::vector<std::optional<Held>> held_; ///< by handle
};

} // namespace iio_stream::soapy
