// SPDX-License-Identifier: MIT
#include "file/wav/output_header.hpp"

#include "core/base/text.hpp"
#include "file/sigmf/datatype.hpp"
#include "file/wav/header.hpp"
#include "iio_stream/error.hpp"
#include "sys/stream_file.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <string_view>

namespace iio_stream::file {

namespace {

constexpr std::uint64_t kUnknownSize = 0xffffffff; ///< RF64: the size is in "ds64"; RIFF: unknown
constexpr std::uint64_t kChunkHeader = 8;

/// Writes a header's little-endian numbers, one after another.
class HeaderWriter {
public:
    HeaderWriter& text(std::string_view text)
    {
        for (const char c : text)
            bytes_[at_++] = static_cast<std::byte>(c);
        return *this;
    }
    HeaderWriter& number(std::uint64_t value, std::size_t size)
    {
        for (std::size_t i = 0; i < size; ++i)
            bytes_[at_++] = static_cast<std::byte>(value >> (8 * i));
        return *this;
    }
    HeaderWriter& chunk(std::string_view name, std::uint64_t size)
    {
        return text(name).number(size, 4);
    }
    HeaderWriter& zeros(std::size_t count)
    {
        at_ += count;
        return *this;
    }
    std::size_t size() const noexcept { return at_; }
    const std::array<std::byte, kWavHeaderBytes>& bytes() const noexcept { return bytes_; }

private:
    std::array<std::byte, kWavHeaderBytes> bytes_{};
    std::size_t at_ = 0;
};

// Writes a SYSTEMTIME: year, month, day of the week, day, hour, minute, second, millisecond.
void write_time(HeaderWriter& out, std::int64_t utc_ns)
{
    using namespace std::chrono;
    if (utc_ns == 0) {
        out.zeros(16);
        return;
    }
    const sys_time<nanoseconds> time{nanoseconds(utc_ns)};
    const auto day = floor<days>(time);
    const year_month_day date(day);
    const hh_mm_ss clock(floor<milliseconds>(time - day));
    const auto field = [&](auto value) { out.number(static_cast<std::uint64_t>(value), 2); };
    field(static_cast<int>(date.year()));
    field(static_cast<unsigned>(date.month()));
    field(weekday(day).c_encoding());
    field(static_cast<unsigned>(date.day()));
    field(clock.hours().count());
    field(clock.minutes().count());
    field(clock.seconds().count());
    field(clock.subseconds().count());
}

std::string hertz_text(double value)
{
    char text[40];
    std::snprintf(text, sizeof text, "%.15g", value);
    return text;
}

// The frequency as "auxi" holds it: up to 4.29 GHz in 32 bits; 0 = none.
std::uint64_t auxi_frequency(const WavFacts& facts)
{
    const double hertz = std::round(facts.frequency.value_or(0));
    return hertz > 0 && hertz <= 4294967295.0 ? static_cast<std::uint64_t>(hertz) : 0;
}

void write_auxi(HeaderWriter& out, const WavFacts& facts)
{
    constexpr std::size_t kBytes = 164,
                          kRest = 28 + 96; // unknown fields, and the name of the next file
    out.chunk("auxi", kBytes);
    write_time(out, facts.utc_ns);
    write_time(out, 0); // time of the end
    out.number(auxi_frequency(facts), 4);
    out.number(static_cast<std::uint64_t>(std::llround(facts.format.sample_rate)), 4);
    out.zeros(kRest);
}

void write_format(HeaderWriter& out, const Format& format, std::uint64_t samples)
{
    constexpr unsigned kTagInteger = 1, kTagFloat = 3;
    const ScanType& type = format.channels[0].type;
    const bool real = type.number == ScanType::Number::floating;
    const auto rate = static_cast<std::uint64_t>(std::llround(format.sample_rate));
    out.chunk("fmt ", real ? 18 : 16).number(real ? kTagFloat : kTagInteger, 2);
    out.number(format.channels.size(), 2).number(rate, 4);
    out.number(std::min(rate * format.sample_bytes, kUnknownSize), 4);
    out.number(format.sample_bytes, 2).number(type.storage_bits, 2);
    if (real) // the extension's size, and the chunk "fact", which formats other than PCM need
        out.number(0, 2).chunk("fact", 4).number(std::min(samples, kUnknownSize), 4);
}

} // namespace

Conversion conversion_to_wav(const Format& format, const std::string& path)
{
    if (format.channels.size() > 2)
        fail_usage(path + ": a WAV file holds one or two channels, not " +
                       std::to_string(format.channels.size()),
                   "channels= chooses channels; NAME.sigmf-meta holds any number");
    const Conversion first = conversion_to_datatype(format);
    const std::string name = first.to.empty() ? datatype_of(format, path).name : first.to;
    std::string word = name.substr(1);
    if (word == "i8")
        word = "u8";
    else if (word[0] == 'u' && word != "u8")
        word[0] = 'i';
    if (word.ends_with("_be"))
        word.replace(word.size() - 3, 3, "_le");
    if (first.to.empty() && word == name.substr(1))
        return {};
    return {name[0] + word, "WAV files hold u8, i16_le, i32_le, f32_le and f64_le"};
}

void require_wav_rate(const Format& format, const std::string& path)
{
    if (format.sample_rate > 0 && std::llround(format.sample_rate) < 1)
        fail_usage(path + ": the header of a WAV file has whole samples per second, and " +
                       hertz_text(format.sample_rate) + " would become 0",
                   "NAME.sigmf-meta holds any rate");
    if (format.sample_rate <= 0)
        fail_usage(path + ": a WAV file has a sample rate, and this stream has none",
                   "rate= of the source states it");
    if (format.sample_rate > 4294967295.0)
        fail_usage(path +
                       ": the header of a WAV file has no room for a sample rate above 4.29 GS/s",
                   "NAME.sigmf-meta holds any rate");
}

std::string not_kept_in_wav(const WavFacts& facts)
{
    std::string text;
    const double rate = facts.format.sample_rate, hertz = facts.frequency.value_or(0);
    if (rate != std::round(rate))
        detail::add_clause(text, "the header of a WAV file has whole samples per second: " +
                                     hertz_text(rate) + " become " + hertz_text(std::round(rate)));
    const auto kept = static_cast<double>(auxi_frequency(facts));
    if (hertz != 0 && kept == 0)
        detail::add_clause(text, "the header of a WAV file holds frequencies up to 4.29 GHz: " +
                                     hertz_text(hertz) + " Hz is left out");
    else if (hertz != kept)
        detail::add_clause(text, "the header of a WAV file holds whole hertz: a frequency of " +
                                     hertz_text(hertz) + " Hz becomes " + hertz_text(kept));
    return text;
}

std::array<std::byte, kWavHeaderBytes> wav_header(const WavFacts& facts,
                                                  std::optional<std::uint64_t> data_bytes)
{
    const std::uint64_t bytes = data_bytes.value_or(0);
    const std::uint64_t riff = kWavHeaderBytes - kChunkHeader + bytes + bytes % 2;
    const std::uint64_t samples = data_bytes ? bytes / facts.format.sample_bytes : kUnknownSize;
    const bool longer = riff >= kUnknownSize;
    const bool no_sizes = longer || !data_bytes;
    HeaderWriter out;
    out.chunk(longer ? "RF64" : "RIFF", no_sizes ? kUnknownSize : riff).text("WAVE");
    if (longer)
        out.chunk("ds64", 28).number(riff, 8).number(bytes, 8).number(samples, 8).zeros(4);
    write_format(out, facts.format, samples);
    write_auxi(out, facts);
    const std::size_t rest = kWavHeaderBytes - kChunkHeader - out.size() - kChunkHeader;
    out.chunk("JUNK", rest).zeros(rest).chunk("data", no_sizes ? kUnknownSize : bytes);
    return out.bytes();
}

void set_wav_length(int fd, const std::string& path, std::uint64_t bytes)
{
    const WavHeader there = read_wav_header(path);
    if (there.begin != kWavHeaderBytes || bytes < kWavHeaderBytes)
        throw Error(Fault::storage, EINVAL, "recover", path,
                    "its header was not written by iio-stream");
    const WavFacts facts{there.format, there.frequency, there.utc_ns.value_or(0)};
    sys::write_at(fd, path, 0, wav_header(facts, bytes - kWavHeaderBytes));
}

} // namespace iio_stream::file
