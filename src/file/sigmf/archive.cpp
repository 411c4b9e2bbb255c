// SPDX-License-Identifier: MIT
// The format of tar files: POSIX.1-2001, "pax Interchange Format", and GNU tar's manual, "Basic Tar
// Format".
#include "file/sigmf/archive.hpp"

#include "core/base/align.hpp"
#include "core/base/text.hpp"
#include "file/sigmf/metadata_reader.hpp"
#include "iio_stream/error.hpp"
#include "sys/files.hpp"
#include "sys/stream_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

namespace iio_stream::file {

namespace {

constexpr std::size_t kRecord = 512;             ///< headers and contents begin at multiples of it
constexpr std::size_t kMostMembers = 100'000;    ///< members of an archive
constexpr std::uint64_t kMostExtended = 1 << 20; ///< bytes of a header that extends another
constexpr std::string_view kMetaSuffix = ".sigmf-meta", kDataSuffix = ".sigmf-data";

using Record = std::array<char, kRecord>;

/// A file in the archive.
struct Member {
    std::string name;
    char type = '0';
    std::uint64_t begin = 0, bytes = 0; ///< place of its content in the archive
    bool sparse = false;                ///< GNU tar has left out its holes

    bool is_file() const { return type == '0' || type == '\0' || type == '7'; }
};

std::string text_field(const Record& record, std::size_t at, std::size_t size)
{
    const char* begin = record.data() + at;
    return {begin, std::find(begin, begin + size, '\0')};
}

// Reads octal digits or, if the highest bit of the first byte is set, a big-endian number.
std::optional<std::uint64_t> number_field(const Record& record, std::size_t at, std::size_t size)
{
    std::uint64_t value = 0;
    if ((static_cast<unsigned char>(record[at]) & 0x80) != 0) {
        for (std::size_t i = 0; i < size; ++i) {
            const unsigned char byte =
                static_cast<unsigned char>(record[at + i]) & (i == 0 ? 0x7f : 0xff);
            if (value >> 56 != 0)
                return std::nullopt;
            value = value << 8 | byte;
        }
        return value;
    }
    std::string text = text_field(record, at, size);
    text.erase(0, text.find_first_not_of(' '));
    text.erase(text.find_last_not_of(' ') + 1);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 8);
    if (text.empty() || error != std::errc{} || end != text.data() + text.size())
        return std::nullopt;
    return value;
}

bool is_end(const Record& record)
{
    return std::all_of(record.begin(), record.end(), [](char c) { return c == '\0'; });
}

// Whether the header's checksum is right: the sum of its bytes, with spaces in the checksum field.
bool has_right_sum(const Record& record)
{
    constexpr std::size_t kSum = 148, kSumBytes = 8;
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < kRecord; ++i)
        sum += i >= kSum && i < kSum + kSumBytes ? ' ' : static_cast<unsigned char>(record[i]);
    return number_field(record, kSum, kSumBytes) == sum;
}

/// Reads the headers of an archive, one after another.
class TarReader {
public:
    TarReader(int fd, std::string path)
        : fd_(fd), path_(std::move(path)), file_bytes_(sys::file_size(fd_, path_))
    {}

    std::optional<Member> next();

private:
    using Keywords = std::map<std::string, std::string>;

    [[noreturn]] void fail(const std::string& what) const
    {
        throw Error(Fault::storage, EBADMSG, "read", path_, what,
                    "a .sigmf archive is an uncompressed tar file");
    }
    std::optional<Member> header();
    std::string content(const Member& member) const;
    void add_keywords(const std::string& text, Keywords& keywords) const;
    void apply(const Keywords& keywords, Member& member) const;

    int fd_;
    std::string path_;
    std::uint64_t file_bytes_;
    std::uint64_t at_ = 0; ///< place of the next header
    std::size_t count_ = 0;
    Keywords global_; ///< apply to all members that follow
};

// Reads one header, without the headers that extend it.
std::optional<Member> TarReader::header()
{
    Record record{};
    const std::size_t got =
        sys::read_at(fd_, path_, at_, std::as_writable_bytes(std::span(record)));
    if (got == 0 && at_ != 0) // some writers leave out the end marker
        return std::nullopt;
    if (got < kRecord)
        fail("it ends at byte " + std::to_string(file_bytes_) +
             (at_ == 0 ? ", before the first header" : ", in the middle of a header: truncated"));
    if (is_end(record))
        return std::nullopt;
    const auto bytes = number_field(record, 124, 12);
    if (!has_right_sum(record) || !bytes)
        fail("the bytes from " + std::to_string(at_) + " on are not a valid header of a tar file");
    if (++count_ > kMostMembers)
        fail("it has more than " + std::to_string(kMostMembers) + " files");
    Member member;
    member.type = record[156];
    member.begin = at_ + kRecord;
    member.bytes = *bytes;
    member.sparse = member.type == 'S';
    member.name = text_field(record, 0, 100);
    const std::string prefix = text_field(record, 345, 155);
    if (std::memcmp(record.data() + 257, "ustar\0", 6) == 0 && !prefix.empty())
        member.name = prefix + "/" + member.name;
    return member;
}

std::string TarReader::content(const Member& member) const
{
    if (member.bytes > kMostExtended)
        fail("the header at byte " + std::to_string(member.begin - kRecord) + " has " +
             std::to_string(member.bytes) + " bytes");
    std::string text(static_cast<std::size_t>(member.bytes), '\0');
    const std::size_t got =
        sys::read_at(fd_, path_, member.begin, std::as_writable_bytes(std::span(text)));
    if (got < text.size())
        fail("it ends at byte " + std::to_string(file_bytes_) + ", in a header: it is truncated");
    return text;
}

// Parses lines of the form "LENGTH KEYWORD=VALUE". LENGTH counts the whole line.
void TarReader::add_keywords(const std::string& text, Keywords& keywords) const
{
    std::string_view rest = text;
    while (!rest.empty() && rest[0] != '\0') {
        std::size_t length = 0;
        const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), length);
        const auto digits = static_cast<std::size_t>(end - rest.data());
        if (error != std::errc{} || length > rest.size() || length < digits + 2)
            fail("it has a damaged extended header");
        const std::string_view line = rest.substr(digits + 1, length - digits - 2);
        const std::size_t equals = line.find('=');
        if (equals == std::string_view::npos)
            fail("it has a damaged extended header");
        keywords[std::string(line.substr(0, equals))] = line.substr(equals + 1);
        rest.remove_prefix(length);
    }
}

void TarReader::apply(const Keywords& keywords, Member& member) const
{
    for (const auto& [key, value] : keywords) {
        if (key == "path")
            member.name = value;
        else if (key.starts_with("GNU.sparse."))
            member.sparse = true;
        else if (key == "size") {
            const auto [end, error] =
                std::from_chars(value.data(), value.data() + value.size(), member.bytes);
            if (error != std::errc{} || end != value.data() + value.size())
                fail("it has a damaged extended header: size=" + detail::printable(value));
        }
    }
}

// The next member, with the values of the headers that extend it; nullopt at the end.
std::optional<Member> TarReader::next()
{
    Keywords keywords;
    std::optional<std::string> long_name;
    for (;;) {
        std::optional<Member> member = header();
        if (!member)
            return std::nullopt;
        const bool extends = member->type == 'x' || member->type == 'g' || member->type == 'L' ||
                             member->type == 'K';
        if (!extends) {
            apply(global_, *member);
            apply(keywords, *member);
            if (long_name)
                member->name = *long_name;
        }
        if (member->bytes > file_bytes_ - member->begin)
            fail(detail::printable(member->name) + " in it has " + std::to_string(member->bytes) +
                 " bytes, but the file ends after " + std::to_string(file_bytes_ - member->begin) +
                 ": it is truncated");
        at_ = std::min(member->begin + detail::round_up(member->bytes, kRecord), file_bytes_);
        if (!extends)
            return member;
        const std::string text = content(*member);
        if (member->type == 'x')
            add_keywords(text, keywords);
        else if (member->type == 'g')
            add_keywords(text, global_);
        else if (member->type == 'L')
            long_name = text.substr(0, text.find('\0'));
    }
}

// The file that tar creates for this member, in the folder where it unpacks the archive.
std::filesystem::path unpacked(const std::string& name)
{
    return std::filesystem::path(name).relative_path().lexically_normal();
}

std::string data_name_of(const Member& meta)
{
    return meta.name.substr(0, meta.name.size() - kMetaSuffix.size()).append(kDataSuffix);
}

} // namespace

bool is_archive(const std::string& path)
{
    return path.ends_with(".sigmf") && sys::path_exists(path) && !sys::is_special(path) &&
           !sys::is_directory(path);
}

SigmfArchive read_archive(const std::string& path)
{
    const sys::UniqueFd fd = sys::open_file(path, O_RDONLY | O_NONBLOCK);
    TarReader reader(fd.get(), path);
    // tar unpacks one member after another, so the last member of each name remains.
    std::map<std::filesystem::path, Member> metas, datas;
    while (const auto member = reader.next()) {
        const std::filesystem::path file = unpacked(member->name);
        metas.erase(file);
        datas.erase(file);
        if (member->is_file() && member->name.ends_with(kMetaSuffix))
            metas.emplace(file, *member);
        else if ((member->is_file() || member->sparse) && member->name.ends_with(kDataSuffix))
            datas.emplace(file, *member);
    }
    const std::string unpack = "tar -xf " + path + " unpacks it";
    if (metas.empty())
        throw Error(Fault::storage, EBADMSG, "read", path, "it contains no file NAME.sigmf-meta");
    const Member& meta = metas.begin()->second;
    if (metas.size() > 1)
        fail_usage(path + ": it has " + std::to_string(metas.size()) + " recordings, such as " +
                       detail::printable(meta.name) + " and " +
                       detail::printable(std::next(metas.begin())->second.name),
                   unpack);
    const auto found = datas.find(unpacked(data_name_of(meta)));
    if (found == datas.end())
        throw Error(Fault::storage, EBADMSG, "read", path,
                    "it contains " + detail::printable(meta.name) +
                        " without its .sigmf-data file");
    const Member& data = found->second;
    if (data.sparse || meta.sparse)
        throw Error(Fault::storage, EBADMSG, "read", path,
                    "the holes of " + detail::printable(data.name) +
                        " were left out (tar --sparse), so its samples are not in one piece",
                    unpack);
    refuse_long_metadata(meta.bytes, path + ": " + detail::printable(meta.name));
    return {meta.name,  meta.begin, meta.bytes, sys::file_size(fd.get(), path),
            data.begin, data.bytes};
}

std::string archived_metadata_text(const std::string& path, const SigmfArchive& archive)
{
    const sys::UniqueFd fd = sys::open_file(path, O_RDONLY);
    std::string text(static_cast<std::size_t>(archive.meta_bytes), '\0');
    const std::size_t got =
        sys::read_at(fd.get(), path, archive.meta_begin, std::as_writable_bytes(std::span(text)));
    text.resize(got);
    return text;
}

std::string archived_metadata_name(const std::string& path, const SigmfArchive& archive)
{
    return path + ": " + detail::printable(archive.meta);
}

} // namespace iio_stream::file
