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

/// A source that follows its script, as fast as it is asked to: the ramp of its device's samples,
/// with the scripted losses. Set it up before the session; inspect it at any time.
class FakeSource final : public Source {
public:
    /// What happens at a sample of the device. What is lost there is passed on as `reported`, or
    /// exactly.
    struct Loss {
        std::uint64_t at = 0, samples = 0;
        std::optional<Gap> reported = {};
    };
    /// The first block that ends at or after `reported_at` reports it, or the end of the stream.
    struct Retuned {
        std::uint64_t reported_at = 0, begin = 0, end = 0;
        Settings settings;
    };
    struct Script {
        Format format_ = Format::parse("ci16_le");
        std::uint64_t total = kUnknown;     ///< samples of the device, then it ends
        std::uint64_t fail_at = kUnknown;   ///< there take() throws `error`
        std::uint64_t silent_at = kUnknown; ///< from there on nothing comes
        Error error{Fault::other, ENODEV, "read", "fake"};
        std::vector<Loss> losses = {}; ///< in order
        std::vector<Gap> trailing = {};
        std::optional<Settings> settings = {}; ///< it is a radio
        std::vector<Retuned> retunings = {};   ///< in order
        BlockNeeds needs = {};
        std::function<std::optional<Hop>(const MemoryTraits&, std::string&)> plan = {};
        std::function<bool(BlockPool&, std::string&)> prepare = {}; ///< besides its own
        std::function<void()> start = {}, check = {};
        bool unhurried = false;    ///< a plain timeout is not a failure: on_timeout() says false
        int attempts = 0;          ///< timeouts that are not failures
        bool undated = false;      ///< blocks carry no time
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
    std::chrono::nanoseconds check() override;
    SourceStats stats() const override
    {
        return {.evidence = {}, .trailing = script_.trailing, .retuning = tracker_.retuning()};
    }
    Tuning tuning() const override;

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
    std::uint64_t sample_ = 0; ///< of the device
    std::size_t next_loss_ = 0, next_retuning_ = 0;
    bool running_ = false;
};

/// By the CPU, whatever the memory.
Hop fake_hop();

/// A sink that follows its script and remembers what it was given.
class FakeSink final : public Sink {
public:
    struct Script {
        Fault fault = Fault::storage;
        bool may_block = false;
        bool drops_when_full = false;
        bool keeps = false; ///< it holds leases until the test calls let_go()
        bool records = true;
        bool repeats = false;                           ///< continues at the stream's end
        double plays_at = 0;                            ///< it is a device that plays, at this rate
        std::function<void()> flush = {}, service = {}; ///< on the driving thread
        std::uint64_t fail_at = kUnknown; ///< the submit() that takes this sample throws `error`
        Error error{Fault::other, EIO, "write", "fake"};
        std::function<void(const Block&, int cancel)> submit = {}; ///< on the driving thread
        std::function<std::optional<Hop>(const MemoryTraits&, std::string&)> plan = {};
        std::function<bool(BlockPool&, std::string&)> prepare = {};
        std::function<void(Stop)> stop = {};
        std::function<void()> start = {};
        std::function<bool()> has_receiver = {};      ///< the source thread
        std::function<std::uint64_t()> progress = {}; ///< any thread
        std::function<bool()> connected = {};         ///< its peer; any thread
    };
    /// Outlives the sink. The vectors are the driving thread's until the session has ended.
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
    bool may_block() const noexcept override { return script_.may_block; }
    std::optional<Hop> plan(const MemoryTraits& traits, std::string& why) const override;
    bool prepare(const StreamInfo& stream, BlockPool& pool, int cancel, std::string& why) override;
    void start() override;
    bool has_receiver() override { return !script_.has_receiver || script_.has_receiver(); }
    void submit(Block filled) override;
    void add_trailing_gaps(std::span<const Gap> gaps) override
    {
        log_->trailing.assign(gaps.begin(), gaps.end());
    }
    void service() override;
    Wait wait() override;
    std::size_t pending() const noexcept override { return kept_.size(); }
    bool repeats() const noexcept override { return script_.repeats; }
    void flush() override
    {
        if (script_.flush)
            script_.flush();
    }
    std::uint64_t progress() const noexcept override
    {
        return script_.progress ? script_.progress() : 0;
    }
    std::optional<PlaybackStats> playback() const noexcept override
    {
        return script_.plays_at == 0 ? std::nullopt
                                     : std::optional(PlaybackStats{.rate = script_.plays_at});
    }
    LinkState link() const noexcept override
    {
        return {!script_.connected || script_.connected(), 0};
    }
    void stop(Stop how) override;
    bool drops_when_full() const noexcept override { return script_.drops_when_full; }

private:
    Script script_;
    std::shared_ptr<Log> log_ = std::make_shared<Log>();
    std::deque<Block> kept_;
    std::size_t sample_bytes_ = 1;
    int cancel_ = -1;
};

/// Makes an endpoint reachable by an address, "fake:N", to which options can be added.
std::string offer(std::unique_ptr<Source> source);
std::string offer(std::unique_ptr<Sink> sink);

/// A fake at an address, and its log.
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

/// A pipeline of eight blocks of 1024 samples of four bytes.
inline constexpr std::size_t kBlock = 4096;
PipelineConfig config_of(const std::string& source, const std::vector<std::string>& sinks);

/// Prepares, starts and waits; a session that does not end within half a minute fails the test.
Summary run(const PipelineConfig& config);
void run(Session& session);
/// Sends samples to a sink.
Summary write_samples(const std::string& sink, std::uint64_t samples = 10'000);
/// Why a sink refuses to be prepared for a stream.
Error refused(const std::string& sink, FakeSource::Script script = {.total = 10});

/// The bytes of the ramp of samples [first, first + count).
std::vector<std::byte> ramp(std::uint64_t first, std::size_t count, std::size_t sample_bytes = 4);
/// The same with zeros.
std::vector<std::byte> zeros(std::size_t count, std::size_t sample_bytes = 4);
std::vector<std::byte> operator+(std::vector<std::byte> a, const std::vector<std::byte>& b);

} // namespace iio_stream::test
