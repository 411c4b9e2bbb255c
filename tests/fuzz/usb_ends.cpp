// SPDX-License-Identifier: MIT
// Either end of the cable, with a peer whose behavior the input determines.
#include "framing/crc32c.hpp"
#include "framing/info.hpp"
#include "fuzz/usb.hpp"
#include "support/fake.hpp"
#include "support/fake_usb.hpp"
#include "support/usb_sender.hpp"
#include "usb/board/function.hpp"

#include <linux/usb/functionfs.h>

#include <cstring>
#include <sys/socket.h>
#include <unistd.h>

namespace iio_stream::fuzz {

namespace {

using test::UsbSend;

constexpr std::size_t kMostSteps = 64; ///< per input, so that faults are found soon

framing::StreamShape ramp_shape()
{
    framing::StreamShape shape;
    shape.format = Format::parse("ci16_le");
    shape.format.sample_rate = 1e6;
    shape.wire_bytes = test::kBlock;
    return shape;
}

std::uint32_t zeros_checksum()
{
    static const std::uint32_t crc = framing::crc32c(std::vector<std::byte>(test::kBlock));
    return crc;
}

/// Returns a header with numbers from the input. encode() gives it a correct checksum.
framing::Header forged_header(Pieces& input)
{
    framing::Header h;
    const std::uint64_t kind = input.number(1);
    h.stream_id = test::kStream + (kind % 16 == 1 ? 1 : 0);
    h.flags = static_cast<std::uint32_t>(input.number(1)) & 15U;
    h.sequence = input.number(kind % 3 == 0 ? 8 : 1);
    h.sample_index = input.number(kind % 3 == 1 ? 8 : 2);
    h.time_ns = static_cast<std::int64_t>(input.number(8));
    h.wire_bytes = kind % 16 == 2 ? static_cast<std::uint32_t>(input.number(4)) : test::kBlock;
    h.valid_bytes = kind % 16 == 3 ? static_cast<std::uint32_t>(input.number(4)) : test::kBlock;
    if ((h.flags & framing::Header::end) != 0)
        h.wire_bytes = h.valid_bytes = 0;
    if (kind % 2 != 0)
        h.loss = {static_cast<std::int64_t>(input.number(8)),
                  static_cast<std::int64_t>(input.number(8)), input.number(8), input.number(8),
                  static_cast<Evidence>(kind % 4)};
    if (kind % 16 > 8) // the checksum of zeros, or of data that is never sent
        h.checksum =
            kind % 16 > 10 ? zeros_checksum() : static_cast<std::uint32_t>(input.number(4));
    return h;
}

std::vector<std::byte> copied(std::span<const std::byte> bytes)
{
    return {bytes.begin(), bytes.end()};
}

/// A board whose messages come from the input. After the last message, it sends the end whenever
/// the host requests more.
class HostileBoard {
public:
    explicit HostileBoard(Pieces input) : input_(input) {}

    std::optional<UsbSend> next()
    {
        if (!queue_.empty()) {
            UsbSend first = std::move(queue_.front());
            queue_.pop_front();
            return first;
        }
        if (input_.empty() || ++steps_ > kMostSteps)
            return UsbSend{.bytes = test::on_wire(end())};
        switch (input_.number(1) % 8) {
        case 0:
            return UsbSend{.bytes = copied(input_.sized_piece()), .zero_packet = true};
        case 1:
            return UsbSend{.stall = true};
        case 2:
            return UsbSend{.zero_packet = true};
        case 3:
            return UsbSend{.bytes = std::vector<std::byte>(test::kBlock)};
        case 4:
            return UsbSend{.bytes = test::on_wire(forged_header(input_))};
        case 5:
            return UsbSend{.zero_packet = true, .leave = input_.number(1) == 7};
        default:
            queue_.push_back({.bytes = std::vector<std::byte>(test::kBlock)});
            return UsbSend{.bytes = test::on_wire(forged_header(input_))};
        }
    }

private:
    static framing::Header end()
    {
        framing::Header h;
        h.stream_id = test::kStream;
        h.flags = framing::Header::end;
        h.sample_index = framing::kLastIndex;
        return h;
    }

    Pieces input_;
    std::deque<UsbSend> queue_;
    std::size_t steps_ = 0;
};

/// The board's side of a conversation without samples.
class QuietEnd final : public usb::FunctionEnd {
public:
    QuietEnd() { shape_.attributes = {"frequency", "attr.phy/gain"}; }
    void on_enable() override {}
    void on_disable() override {}
    void on_unbind() override {}
    void on_start(std::uint32_t, bool) override {}
    void on_stop() override {}
    void wake() noexcept override {}
    const framing::StreamShape& shape() const override { return shape_; }
    std::optional<std::string> attribute(std::size_t number) override
    {
        holds(number < shape_.attributes.size(), "only allowed attributes are read");
        if (++asked_ % 2 == 0)
            return std::nullopt;
        return "{\"value\":\"1\"}";
    }
    bool can_set_attribute() const override { return true; }
    void set_attribute(std::size_t number, const std::string& value) override
    {
        holds(number < shape_.attributes.size(), "only allowed attributes are set");
        holds(!value.empty() && value.size() <= usb::kLongestValue, "a value has a valid length");
    }
    std::string stats_json() const override { return "{}"; }

private:
    framing::StreamShape shape_ = ramp_shape();
    std::size_t asked_ = 0;
};

usb_functionfs_event forged_event(Pieces& input)
{
    usb_functionfs_event event{};
    event.type = static_cast<std::uint8_t>(input.number(1) % 9);
    const auto setup = input.piece(sizeof event.u.setup);
    std::memcpy(&event.u.setup, setup.data(), setup.size());
    if (input.number(1) % 4 != 0) // an event for this function
        event.u.setup.bRequestType =
            static_cast<std::uint8_t>((event.u.setup.bRequestType & 0x80U) | 0x41U);
    return event;
}

} // namespace

void usb_board(std::span<const std::byte> input)
{
    Pieces pieces(input);
    const std::uint64_t kind = pieces.number(1);
    framing::StreamShape shape = ramp_shape();
    if (kind >= 128)
        shape.check = framing::Check::crc32c;
    const std::string info = kind % 4 == 0 ? std::string(text_of(pieces.sized_piece()))
                                           : framing::info_json({shape, std::nullopt, "0"}, {});
    HostileBoard board(pieces);
    const test::FakeUsb cable(info, test::kStream, [&] { return board.next(); });
    unless_refused<Error>([&] {
        const test::SinkAt sink = test::fake_sink();
        PipelineConfig config = test::config_of("usb:", {sink.uri});
        config.timeout = std::chrono::seconds(1);
        const Summary summary = test::run(config);
        const GapTotals& gaps = summary.stats.gaps;
        holds(gaps.lost_min <= gaps.lost_max, "lost_min is not above lost_max");
        holds(gaps.lost_min < std::uint64_t{1} << 63, "the losses of a board have a limit");
        holds(summary.produced_samples() >= summary.stats.samples, "the sum does not overflow");
        std::uint64_t next = 0;
        for (const BlockInfo& block : sink.log->infos) {
            holds(block.sample_index >= next, "indices never go back");
            next = block.sample_index + block.bytes / 4;
        }
        (void)to_json(summary);
    });
}

void usb_host(std::span<const std::byte> input)
{
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) != 0)
        throw std::runtime_error("no socket is available");
    const sys::UniqueFd host(ends[0]);
    usb::Function function("/nowhere", sys::UniqueFd(ends[1]));
    QuietEnd to_host, to_board;
    function.expect(usb::Direction::to_host);
    function.expect(usb::Direction::to_board);
    Pieces pieces(input);
    const std::uint64_t joined = pieces.number(1);
    {
        usb::Turn turn = function.turn();
        if (joined % 2 == 0)
            function.join(usb::Direction::to_host, to_host, turn);
        if (joined % 3 == 0)
            function.join(usb::Direction::to_board, to_board, turn);
    }
    std::vector<char> answer(70'000);
    for (std::size_t i = 0; i < kMostSteps && !pieces.empty(); ++i) {
        const usb_functionfs_event event = forged_event(pieces);
        const auto stage = pieces.sized_piece();
        (void)::write(host.get(), &event, sizeof event);
        if (!stage.empty())
            (void)::write(host.get(), stage.data(), stage.size());
        function.listen();
        while (::read(host.get(), answer.data(), answer.size()) > 0)
            ;
    }
}

} // namespace iio_stream::fuzz
