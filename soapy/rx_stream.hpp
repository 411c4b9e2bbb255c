// SPDX-License-Identifier: MIT
#pragma once

#include "formats.hpp"
#include "iio_stream/reader.hpp"
#include "stream.hpp"
#include "stream_clock.hpp"

#include <optional>
#include <vector>

namespace iio_stream::soapy {

/// Receives from a port. Samples are handed over in runs: parts of a block without a loss in
/// between.
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
    /// A part of a block that the program has.
    struct Held {
        explicit Held(Block part) : block(std::move(part)), access(block) {}
        Block block;
        CpuRead access;
    };

    void open();
    int begin(int flags, long long time_ns, std::size_t elements);
    int end(int flags, long long time_ns);
    int next_run(Lock& lock, long timeout_us, std::size_t most); ///< samples of the run, or a code
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
    bool direct_ = false;  ///< the blocks hold the elements of the one channel
    double rate_ = 0;      ///< of the port, when the reader was opened
    unsigned options_ = 0; ///< changes of the port's options by then
    bool active_ = false, failed_ = false;

    std::optional<Block> block_; ///< the one that is being read
    std::size_t done_ = 0;       ///< its samples handed over
    std::size_t gaps_done_ = 0;  ///< its gaps reported
    StreamClock clock_;
    std::int64_t from_ns_ = 0, until_ns_ = 0; ///< of the activation; 0: no limit
    std::size_t left_ = 0;                    ///< samples of a limited activation
    bool limited_ = false;

    std::mutex held_mutex_; ///< of held_: buffers are released while another thread waits for one
    std::vector<std::optional<Held>> held_; ///< by handle
};

} // namespace iio_stream::soapy
