// SPDX-License-Identifier: MIT
#pragma once

#include "core/base/fifo.hpp"
#include "core/loss/sample_tracker.hpp"
#include "iio_stream/endpoint.hpp"
#include "iio_stream/session.hpp"
#include "sys/event.hpp"

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace iio_stream::test {

/// A source that follows its script as fast as the stream requests blocks. It delivers the ramp of
/// its device's samples, with the scripted losses. Configure it before the session; inspect it at
/// any time.
class FakeSource final : public Source, private SlowCheck {
public:
    /// A loss before a sample of the device. It is reported as `reported` if that is set, and
    /// exactly otherwise.
    struct Loss {
        std::uint64_t at = 0, samples = 0;
        std::optional<Gap> reported = {};
    };
    /// A retuning. The first block that ends at or after `reported_at` reports it; otherwise, the
    /// end of the stream does.
    struct Retuned {
        std::uint64_t reported_at = 0, begin = 0, end = 0;
        Settings settings;
    };
    struct Script {
        Format format_ = Format::parse("ci16_le");
        std::uint64_t total = kUnknown;     ///< samples of the device, after which it ends
        std::uint64_t fail_at = kUnknown;   ///< at this sample, take() throws `error`
        std::uint64_t silent_at = kUnknown; ///< from this sample on, no block arrives
        Error error{Fault::other, ENODEV, "read", "fake"};
        std::vector<Loss> losses = {}; ///< in order
        std::vector<Gap> trailing = {};
        std::optional<Settings> settings = {}; ///< set if the source is a radio
        std::vector<Retuned> retunings = {};   ///< in order
        BlockNeeds needs = {};
        std::function<std::optional<Hop>(const MemoryTraits&, std::string&)> plan = {};
        std::function<bool(BlockPool&, std::string&)> prepare = {}; ///< in addition to its own
                                                                    ///< preparation
        std::function<void()> start = {}, check = {};
        bool unhurried = false;    ///< a plain timeout is not a failure: on_timeout() returns false
        int attempts = 0;          ///< timeouts that are not failures
        bool undated = false;      ///< blocks have no time
        bool undetectable = false; ///< a device whose losses cannot be detected
    };
    /// Outlives the source.
    struct Log {
        std::atomic<int> prepared{0}, started{0}, stopped{0}, timeouts{0}, checked{0};
        std::atomic<std::uint64_t> submitted{0}, submitted_bytes{0};
    };

    explicit FakeSource(Script script) : script_(std::move(script)) {}
    std::shared_ptr<Log> log() const { return log_; }

    Fault fault() const noexcept override { return Fault::device; }
    const Format& format() const noexcept override { return script_.format_; }
    bool live() const noexcept override { return script_.undetectable; }
    BlockNeeds needs() const override { return script_.needs; }
    std::optional<Hop> plan(const MemoryTraits& traits, std::string& why) const override;
    bool prepare(BlockPool& pool, std::string& why) override;
    void start() override;
    void stop() noexcept override;
    void submit(EmptyBlock block, std::size_t bytes) override;
    Taken take() override;
    Wait wait() override;
    std::size_t pending() const noexcept override { return queue_.size(); }
    bool on_timeout(std::optional<std::chrono::nanoseconds>) override
    {
        return ++log_->timeouts > script_.attempts && !script_.unhurried;
    }
    SlowCheck* slow_check() noexcept override { return this; }
    std::chrono::nanoseconds check() override;
    SourceStats stats() const override
    {
        return {.evidence = {}, .trailing = script_.trailing, .retuning = tracker_.retuning()};
    }
    SourceInfo info() const override;

private:
    struct Empty {
        EmptyBlock block;
        std::size_t bytes;
    };

    std::size_t fill(std::span<std::byte> out);
    void retune(std::uint64_t position);

    Script script_;
    std::shared_ptr<Log> log_ = std::make_shared<Log>();
    detail::Fifo<Empty> queue_;
    detail::SampleTracker tracker_;
    std::uint64_t sample_ = 0; ///< number of the device's next sample
    std::size_t next_loss_ = 0, next_retuning_ = 0;
    bool running_ = false;
};

/// A hop by the CPU, whatever the memory.
Hop fake_hop();

/// A sink that follows its script and records the blocks that it gets.
class FakeSink final : public Sink {
public:
    struct Script {
        Fault fault = Fault::storage;
        bool may_block = false;
        bool drops_when_full = false;
        bool keeps = false; ///< holds leases until the test calls let_go()
        bool records = true;
        bool repeats = false;                           ///< continues at the end of the source
        double plays_at = 0;                            ///< rate of a playing device; 0 = none
        std::function<void()> flush = {}, service = {}; ///< on the driving thread
        std::uint64_t fail_at = kUnknown; ///< the submit() of this sample throws `error`
        Error error{Fault::other, EIO, "write", "fake"};
        std::function<void(const Block&, int cancel)> submit = {}; ///< on the driving thread
        std::function<std::optional<Hop>(const MemoryTraits&, std::string&)> plan = {};
        std::function<bool(BlockPool&, std::string&)> prepare = {};
        std::function<void(Stop)> stop = {};
        std::function<void()> start = {};
        std::function<bool()> has_receiver = {};      ///< called on the source thread
        std::function<std::uint64_t()> progress = {}; ///< called on any thread
        std::function<bool()> connected = {};         ///< whether its peer is connected; called on
                                                      ///< any thread
    };
    /// Outlives the sink. The vectors belong to the driving thread until the session has ended.
    struct Log {
        std::atomic<std::uint64_t> samples{0}, blocks{0};
        std::atomic<int> prepared{0}, started{0}, drained{0}, aborted{0}, destroyed{0};
        std::vector<std::byte> bytes;
        std::vector<BlockInfo> infos;
        std::vector<Gap> trailing;

        void let_go(int leases);
        sys::Event news;
        std::atomic<int> allowed{0};
    };

    explicit FakeSink(Script script) : script_(std::move(script)) {}
    ~FakeSink() override { ++log_->destroyed; }
    std::shared_ptr<Log> log() const { return log_; }

    Fault fault() const noexcept override { return script_.fault; }
    SinkTraits traits() const noexcept override
    {
        return {.may_block = script_.may_block,
                .drops_when_full = script_.drops_when_full,
                .repeats = script_.repeats};
    }
    std::optional<Hop> plan(const MemoryTraits& traits, std::string& why) const override;
    bool prepare(const StreamInfo& stream, BlockPool& pool, int cancel, std::string& why) override;
    void start() override;
    bool has_receiver() override { return !script_.has_receiver || script_.has_receiver(); }
    void submit(Block filled) override;
    void service() override;
    Wait wait() override;
    std::size_t pending() const noexcept override { return kept_.size(); }
    void flush() override
    {
        if (script_.flush)
            script_.flush();
    }
    std::uint64_t progress() const noexcept override
    {
        return script_.progress ? script_.progress() : 0;
    }
    SinkCounters counters() const noexcept override
    {
        SinkCounters counters;
        if (script_.plays_at != 0)
            counters.playback = PlaybackStats{.rate = script_.plays_at};
        return counters;
    }
    LinkState link() const noexcept override
    {
        return {!script_.connected || script_.connected(), 0};
    }
    void stop(Stop how, const StreamEnd& end) override;

private:
    Script script_;
    std::shared_ptr<Log> log_ = std::make_shared<Log>();
    std::deque<Block> kept_;
    std::size_t sample_bytes_ = 1;
    int cancel_ = -1;
};

/// Makes an endpoint available as "fake:N", to which options can be added.
std::string offer(std::unique_ptr<Source> source);
std::string offer(std::unique_ptr<Sink> sink);

/// The URI of a fake, and its log.
struct SourceAt {
    std::string uri;
    std::shared_ptr<FakeSource::Log> log;
};
struct SinkAt {
    std::string uri;
    std::shared_ptr<FakeSink::Log> log;
};
SourceAt fake_source(FakeSource::Script script);
SinkAt fake_sink(FakeSink::Script script = {});

inline constexpr std::size_t kBlock = 4096;
/// Returns the configuration of a pipeline with eight blocks of 1024 samples of four bytes.
PipelineConfig config_of(const std::string& source, const std::vector<std::string>& sinks);

/// Prepares, starts and waits. The test fails if the session does not end within half a minute.
Summary run(const PipelineConfig& config);
void run(Session& session);
/// Sends samples to a sink.
Summary write_samples(const std::string& sink, std::uint64_t samples = 10'000);
/// Returns the error with which a sink refuses to be prepared for a stream.
Error refused(const std::string& sink, FakeSource::Script script = {.total = 10});

/// Returns the bytes of the ramp of samples [first, first + count).
std::vector<std::byte> ramp(std::uint64_t first, std::size_t count, std::size_t sample_bytes = 4);
/// Returns the zeros of `count` samples.
std::vector<std::byte> zeros(std::size_t count, std::size_t sample_bytes = 4);
std::vector<std::byte> operator+(std::vector<std::byte> a, const std::vector<std::byte>& b);

} // namespace iio_stream::test
