// SPDX-License-Identifier: MIT
#include "file/wav/header.hpp"

#include "core/base/text.hpp"
#include "iio_stream/error.hpp"
#include "sys/files.hpp"
#include "sys/stream_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <span>
#include <unistd.h>
#include <utility>

namespace iio_stream::file {

namespace {

constexpr std::uint32_t kNoSize = 0xffffffff;    ///< RF64: the size is in the chunk "ds64"
constexpr std::uint32_t kSoxNoSize = 0x7ffff000; ///< size that sox writes if it cannot seek back
constexpr std::size_t kMostChunks = 4096;        ///< limit on chunks before the samples
constexpr std::size_t kMostChannels = 64;
constexpr std::size_t kKnownBytes = 64; ///< bytes kept of each chunk, enough for those read here

constexpr unsigned kPcm = 1, kFloat = 3, kExtensible = 0xfffe;

std::uint64_t number_at(std::span<const std::byte> bytes, std::size_t at, std::size_t size)
{
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size; ++i)
        value |= std::uint64_t{static_cast<std::uint8_t>(bytes[at + i])} << (8 * i);
    return value;
}

std::string name_at(std::span<const std::byte> bytes, std::size_t at)
{
    return {reinterpret_cast<const char*>(bytes.data()) + at, 4};
}

bool is_riff(const std::string& name)
{
    return name == "RIFF" || name == "RF64" || name == "BW64" || name == "RIFX";
}

// Reads a SYSTEMTIME: eight 16-bit numbers, year, month, day of the week, day, hour, minute, second
// and millisecond. nullopt if it is not a valid time; some recorders write zeros.
std::optional<std::int64_t> system_time(std::span<const std::byte> bytes)
{
    using namespace std::chrono;
    const auto field = [&](std::size_t n) { return static_cast<int>(number_at(bytes, 2 * n, 2)); };
    const year_month_day date{year(field(0)), month(static_cast<unsigned>(field(1))),
                              day(static_cast<unsigned>(field(3)))};
    constexpr int kFirstYear = 1678, kLastYear = 2261; // range of 64-bit nanoseconds
    if (field(0) < kFirstYear || field(0) > kLastYear || !date.ok() || field(4) > 23 ||
        field(5) > 59 || field(6) > 60 || field(7) > 999)
        return std::nullopt;
    const auto time = sys_days(date) + hours(field(4)) + minutes(field(5)) + seconds(field(6)) +
                      milliseconds(field(7));
    return nanoseconds(time.time_since_epoch()).count();
}

/// The header of a chunk, and the part of its content that is read here.
struct Chunk {
    std::string name;
    std::uint64_t begin = 0; ///< place of its content in the file
    std::uint64_t size = 0;  ///< size of its content, as stated
    std::array<std::byte, kKnownBytes> bytes{};
    std::size_t known = 0; ///< how many of `bytes` are set
};

/// Reads the chunks of a WAV file, one after another, up to the samples.
class HeaderReader {
public:
    HeaderReader(int fd, std::string path)
        : fd_(fd), path_(std::move(path)), file_bytes_(sys::file_size(fd_, path_))
    {}

    WavHeader read();

private:
    [[noreturn]] void fail(const std::string& what, const std::string& hint = {}) const
    {
        throw Error(Fault::storage, EBADMSG, "read", path_, "its WAV header: " + what, hint);
    }
    std::string raw_hint(const WavHeader& header) const;
    void read_start();
    Chunk chunk_at(std::uint64_t at) const;
    void take(const Chunk& chunk, WavHeader& header);
    void take_format(const Chunk& chunk, WavHeader& header);
    void take_auxi(const Chunk& chunk, WavHeader& header) const;
    void find_samples(const Chunk& data, WavHeader& header) const;
    std::optional<std::uint64_t> length_of(const Chunk& data) const;
    bool are_chunks(std::uint64_t at) const;

    int fd_;
    std::string path_;
    std::uint64_t file_bytes_;
    bool long_sizes_ = false;           ///< RF64, BW64
    std::uint64_t riff_bytes_ = 0;      ///< as stated
    std::optional<std::uint64_t> ds64_; ///< bytes of samples, from the chunk "ds64"
    std::uint64_t frame_ = 0;           ///< bytes of a sample in the file; 0 = no "fmt " yet
};

void HeaderReader::read_start()
{
    std::array<std::byte, 12> start{};
    const std::size_t got = sys::read_at(fd_, path_, 0, start);
    const std::string name = got < 4 ? "" : name_at(start, 0);
    if (!is_riff(name))
        fail("the file does not begin with RIFF or RF64",
             "a file of raw samples has another suffix, such as .ci16, or .bin with format=");
    if (name == "RIFX")
        fail("its values are big-endian (RIFX), which is not supported",
             "sox " + path_ + " -L little.wav converts it");
    if (got < start.size())
        fail("the file ends after " + std::to_string(got) + " bytes: it is truncated");
    if (const std::string kind = name_at(start, 8); kind != "WAVE")
        fail("it is a RIFF file of the kind '" + detail::printable(kind) + "', not WAVE");
    long_sizes_ = name != "RIFF";
    riff_bytes_ = number_at(start, 4, 4);
}

Chunk HeaderReader::chunk_at(std::uint64_t at) const
{
    std::array<std::byte, 8 + kKnownBytes> bytes{};
    const std::size_t got = sys::read_at(fd_, path_, at, bytes);
    if (got < 8)
        fail("the file ends at byte " + std::to_string(file_bytes_) +
             ", before any samples (chunk 'data'): it is truncated");
    Chunk chunk;
    chunk.name = name_at(bytes, 0);
    chunk.begin = at + 8;
    chunk.size = number_at(bytes, 4, 4);
    chunk.known = static_cast<std::size_t>(std::min<std::uint64_t>(got - 8, chunk.size));
    std::copy_n(bytes.begin() + 8, chunk.known, chunk.bytes.begin());
    return chunk;
}

void HeaderReader::take_format(const Chunk& chunk, WavHeader& header)
{
    if (chunk.size < 16)
        fail("its chunk 'fmt ' has " + std::to_string(chunk.size) + " bytes instead of 16 or more");
    const std::span<const std::byte> bytes(chunk.bytes);
    unsigned tag = static_cast<unsigned>(number_at(bytes, 0, 2));
    const auto channels = static_cast<std::size_t>(number_at(bytes, 2, 2));
    const auto rate = static_cast<double>(number_at(bytes, 4, 4));
    const std::uint64_t frame = number_at(bytes, 12, 2), bits = number_at(bytes, 14, 2);
    if (tag == kExtensible && chunk.size >= 40) {
        // The rest of the GUID of KSDATAFORMAT_SUBTYPE_PCM and _IEEE_FLOAT.
        static constexpr std::array<unsigned char, 14> kGuid{0, 0, 0,    0, 0x10, 0,    0x80,
                                                             0, 0, 0xaa, 0, 0x38, 0x9b, 0x71};
        if (std::memcmp(chunk.bytes.data() + 26, kGuid.data(), kGuid.size()) == 0)
            tag = static_cast<unsigned>(number_at(bytes, 24, 2));
    }
    std::string word;
    if (tag == kPcm && bits == 8)
        word = "u8";
    else if (tag == kPcm && (bits == 16 || bits == 32))
        word = "i" + std::to_string(bits) + "_le";
    else if (tag == kPcm && bits == 24)
        word = "i32_le";
    else if (tag == kFloat && (bits == 32 || bits == 64))
        word = "f" + std::to_string(bits) + "_le";
    if (word.empty()) {
        char kind[32];
        std::snprintf(kind, sizeof kind, "0x%04x", tag);
        fail("values of " + std::to_string(bits) + " bits and of the kind " + kind +
                 " are not supported: only integers (1) of 8, 16, 24 or 32 bits, floats (3) of 32 "
                 "or 64",
             "sox " + path_ + " -e signed -b 16 other.wav converts it");
    }
    if (channels < 1 || channels > kMostChannels)
        fail("it has " + std::to_string(channels) + " channels, but only 1 to 64 are supported");
    if (frame != channels * bits / 8)
        fail("a sample of " + std::to_string(channels) + " values of " + std::to_string(bits) +
             " bits cannot have " + std::to_string(frame) + " bytes");
    if (rate == 0)
        fail("its sample rate is 0");
    header.packed24 = bits == 24;
    header.format = Format::parse((channels == 2 ? "c" : "r") + word, std::to_string(channels));
    header.format.sample_rate = rate;
    frame_ = frame;
}

// SDR Console writes XML into its chunk "auxi". Such a chunk is ignored.
void HeaderReader::take_auxi(const Chunk& chunk, WavHeader& header) const
{
    constexpr std::size_t kFrequency = 32; // after the times of the start and the stop
    if (chunk.known < kFrequency + 4 || chunk.bytes[0] == std::byte{'<'})
        return;
    header.utc_ns = system_time(chunk.bytes);
    if (const std::uint64_t hertz = number_at(chunk.bytes, kFrequency, 4); hertz != 0)
        header.frequency = static_cast<double>(hertz);
}

void HeaderReader::take(const Chunk& chunk, WavHeader& header)
{
    if (chunk.size > file_bytes_ - chunk.begin)
        fail("its chunk '" + detail::printable(chunk.name) + "' at byte " +
             std::to_string(chunk.begin - 8) + " has " + std::to_string(chunk.size) +
             " bytes, which is beyond the file's end: it is truncated, or damaged");
    if (chunk.name == "ds64" && long_sizes_ && chunk.size >= 24)
        ds64_ = number_at(chunk.bytes, 8, 8);
    else if (chunk.name == "fmt ")
        take_format(chunk, header);
    else if (chunk.name == "auxi")
        take_auxi(chunk, header);
}

// Whether the rest of the file consists of chunks, or is empty.
bool HeaderReader::are_chunks(std::uint64_t at) const
{
    const auto is_text = [](char c) { return c >= ' ' && c <= '~'; };
    for (std::size_t count = 0; at < file_bytes_; ++count) {
        if (count == kMostChunks || file_bytes_ - at < 8)
            return false;
        const Chunk chunk = chunk_at(at);
        if (!std::ranges::all_of(chunk.name, is_text) || chunk.size > file_bytes_ - chunk.begin)
            return false;
        at = chunk.begin + chunk.size + chunk.size % 2;
    }
    return true;
}

// The stated size of the samples; nullopt if the recorder did not finish the file. In this case,
// the samples extend to the end of the file.
std::optional<std::uint64_t> HeaderReader::length_of(const Chunk& data) const
{
    const std::uint64_t there = file_bytes_ - data.begin;
    if (long_sizes_ && data.size == kNoSize) {
        if (!ds64_)
            fail("it is RF64, but has no chunk 'ds64' with the number of bytes");
        return *ds64_ == 0 || *ds64_ == kUnknown ? std::nullopt : ds64_;
    }
    // In a finished file without samples, the stated sizes are right, and only chunks follow.
    if (data.size == kNoSize ||
        (data.size == 0 && (riff_bytes_ + 8 != file_bytes_ || !are_chunks(data.begin))))
        return std::nullopt;
    if (data.size == kSoxNoSize && data.size > there)
        return std::nullopt;
    // Beyond 4 GiB, some programs write only the lower 32 bits of the size.
    if (!long_sizes_ && there > kNoSize && (there & kNoSize) == data.size)
        return std::nullopt;
    return data.size;
}

std::string HeaderReader::raw_hint(const WavHeader& header) const
{
    if (header.packed24)
        return "";
    char rate[32];
    std::snprintf(rate, sizeof rate, "%.0f", header.format.sample_rate);
    return "skip=" + std::to_string(header.begin) + " format=" + header.format.name() +
           " rate=" + rate + " reads the samples that are there";
}

void HeaderReader::find_samples(const Chunk& data, WavHeader& header) const
{
    if (frame_ == 0)
        fail("its samples begin before their format (chunk 'fmt ')");
    header.begin = data.begin;
    header.file_bytes = file_bytes_;
    const std::uint64_t there = file_bytes_ - data.begin;
    if (const auto length = length_of(data); !length) {
        header.end = header.begin + there / frame_ * frame_;
        header.has_length = false;
        header.remark = "the WAV header states no length, as if its recorder had been "
                        "killed: the samples are read to the end of the file";
        if (there % frame_ != 0)
            header.remark += ", except for the last " + std::to_string(there % frame_) +
                             " bytes, which are part of a sample";
    } else if (*length > there) {
        fail("it states " + std::to_string(*length) + " bytes of samples, but the file has " +
                 std::to_string(there) + ": it is truncated",
             raw_hint(header));
    } else if (*length % frame_ != 0) {
        fail("its " + std::to_string(*length) +
             " bytes of samples are not a whole number of samples of " + std::to_string(frame_) +
             " bytes");
    } else {
        header.end = header.begin + *length;
    }
}

WavHeader HeaderReader::read()
{
    read_start();
    WavHeader header;
    std::uint64_t at = 12;
    for (std::size_t count = 0; count < kMostChunks; ++count) {
        const Chunk chunk = chunk_at(at);
        if (chunk.name == "data") {
            find_samples(chunk, header);
            return header;
        }
        take(chunk, header);
        at = chunk.begin + chunk.size + chunk.size % 2; // padded to an even number of bytes
    }
    fail("no samples (chunk 'data') among its first " + std::to_string(kMostChunks) + " chunks");
}

} // namespace

std::uint64_t WavHeader::samples() const noexcept
{
    const std::size_t stored = packed24 ? format.sample_bytes / 4 * 3 : format.sample_bytes;
    return stored == 0 ? 0 : (end - begin) / stored;
}

bool begins_with_riff(int fd) noexcept
{
    std::array<std::byte, 4> name{};
    const off_t at = ::lseek(fd, 0, SEEK_CUR);
    return at >= 0 && ::pread(fd, name.data(), name.size(), at) == 4 && is_riff(name_at(name, 0));
}

bool begins_with_riff(const std::string& path) noexcept
{
    const sys::UniqueFd fd{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    return fd.valid() && begins_with_riff(fd.get());
}

WavHeader read_wav_header(const std::string& path)
{
    const sys::UniqueFd fd = sys::open_file(path, O_RDONLY | O_NONBLOCK);
    if (!sys::is_regular(fd.get()))
        throw Error(Fault::storage, EINVAL, "read", path, "it is not a regular file",
                    "a WAV file can be read only from a disk");
    return HeaderReader(fd.get(), path).read();
}

} // namespace iio_stream::file
