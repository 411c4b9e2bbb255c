// SPDX-License-Identifier: MIT
// The format of tar files: POSIX.1-2001, "pax Interchange Format". The content of a SigMF archive:
// the SigMF specification, "SigMF Archives".
#include "core/base/align.hpp"
#include "core/base/text.hpp"
#include "file/file_names.hpp"
#include "file/recording_files.hpp"
#include "file/sha512/sha512.hpp"
#include "file/sigmf/archive.hpp"
#include "file/sigmf/file_pair.hpp"
#include "iio_stream/archive_pack.hpp"
#include "iio_stream/error.hpp"
#include "sys/disk/whole_file.hpp"
#include "sys/files.hpp"
#include "sys/stream_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <set>
#include <sys/stat.h>

namespace iio_stream {

namespace file {

namespace {

constexpr std::size_t kTarRecord = 512;
constexpr std::uint64_t kMostOctal = 077777777777; ///< the largest number of 11 octal digits

/// A header without the headers that extend it.
std::string plain_tar_header(const std::string& name, char type, std::uint64_t bytes,
                             std::int64_t modified)
{
    std::string header(kTarRecord, '\0');
    const auto put = [&header](std::size_t at, const std::string& text) {
        header.replace(at, text.size(), text);
    };
    const auto octal = [](std::uint64_t value, int digits) {
        char text[24];
        std::snprintf(text, sizeof text, "%0*llo", digits, static_cast<unsigned long long>(value));
        return std::string(text);
    };
    put(0, name.substr(0, 100));
    put(100, octal(type == '5' ? 0755 : 0644, 7));
    put(108, octal(0, 7)); // user and group: the files belong to whoever unpacks them
    put(116, octal(0, 7));
    put(124, octal(bytes > kMostOctal ? 0 : bytes, 11));
    put(136, octal(static_cast<std::uint64_t>(std::max<std::int64_t>(modified, 0)), 11));
    put(148, "        "); // the checksum counts its own field as spaces
    put(156, std::string(1, type));
    put(257, std::string("ustar\0", 6) + "00");
    std::uint64_t sum = 0;
    for (const char byte : header)
        sum += static_cast<unsigned char>(byte);
    put(148, octal(sum, 6) + '\0');
    return header;
}

/// Returns "LENGTH KEYWORD=VALUE\n". LENGTH counts the whole line.
std::string pax_line(const std::string& keyword, const std::string& value)
{
    const std::string rest = " " + keyword + "=" + value + "\n";
    std::size_t length = rest.size() + 1;
    while (std::to_string(length).size() + rest.size() != length)
        length = std::to_string(length).size() + rest.size();
    return std::to_string(length) + rest;
}

std::string padding_of(std::uint64_t bytes)
{
    return std::string(static_cast<std::size_t>(detail::round_up(bytes, kTarRecord) - bytes), '\0');
}

/// A recording that can be packed: it is complete, and its two files share one name.
struct PackedPair {
    std::string name; ///< name in the archive
    Pair files;
    std::string text, sha512; ///< text of the metadata; the hash that they state
    std::uint64_t bytes = 0;  ///< bytes of samples
};

PackedPair packed_pair(const std::string& path)
{
    if (!FileTarget(path).is_recording() || is_archive(path))
        fail_usage("pack " + detail::printable(path) + ": it is not a SigMF recording",
                   "`iio-stream stream " + detail::printable(path) +
                       " NAME.sigmf-meta` makes one from it");
    PackedPair made;
    made.files = pair_of(path);
    made.name = std::filesystem::path(made.files.meta).stem().string();
    made.text = sys::read_whole(made.files.meta).value_or("");
    const RecordingFiles recording(made.files.meta, "");
    if (const Recording checked = check_all_but_hash(recording); !checked.problems.empty())
        throw Error(Fault::storage, EBADMSG, "pack", made.files.meta,
                    detail::printable(checked.problems[0]),
                    checked.needs_recover ? "`iio-stream recover` makes it complete" : "");
    if (recording.data != made.files.data || !recording.contents.layout.is_plain())
        throw Error(Fault::storage, EBADMSG, "pack", made.files.meta,
                    "its samples are in " + detail::printable(recording.data) +
                        ", in a Non-Conforming Dataset",
                    "`iio-stream stream` copies it into a recording of SigMF's format");
    made.sha512 = recording.contents.sha512;
    made.bytes = recording.bytes;
    return made;
}

std::vector<PackedPair> packed_pairs(const PackConfig& config)
{
    std::vector<PackedPair> made;
    std::set<std::string> names;
    for (const std::string& path : config.recordings) {
        made.push_back(packed_pair(path));
        if (!names.insert(made.back().name).second)
            fail_usage("pack " + config.archive + ": two recordings are called " +
                           detail::printable(made.back().name),
                       "an archive has a folder for each name: rename one of them");
    }
    return made;
}

/// Writes an archive, member by member.
class ArchiveWriter {
public:
    ArchiveWriter(const PackConfig& config, const std::function<bool(const PackReport&)>& go_on)
        : config_(config), go_on_(go_on), file_(config.archive)
    {}

    void add(const PackedPair& pair)
    {
        const sys::UniqueFd data = sys::open_file(pair.files.data, O_RDONLY);
        const struct stat before = status_of(data.get(), pair.files.data);
        const std::string stem = pair.name + "/" + pair.name;
        write(tar_header(pair.name + "/", '5', 0, before.st_mtim.tv_sec));
        write(tar_header(stem + ".sigmf-meta", '0', pair.text.size(), before.st_mtim.tv_sec));
        write(pair.text + padding_of(pair.text.size()));
        write(tar_header(stem + ".sigmf-data", '0', pair.bytes, before.st_mtim.tv_sec));
        copy(data.get(), pair);
        write(padding_of(pair.bytes));
        const struct stat after = status_of(data.get(), pair.files.data);
        if (after.st_size != before.st_size || after.st_mtim.tv_sec != before.st_mtim.tv_sec ||
            after.st_mtim.tv_nsec != before.st_mtim.tv_nsec ||
            sys::read_whole(pair.files.meta) != pair.text)
            throw Error(Fault::storage, EBUSY, "pack", pair.files.meta,
                        "it changed while it was packed", "pack it again");
        ++report_.recordings;
    }

    PackReport finish()
    {
        write(std::string(2 * kTarRecord, '\0'));
        file_.publish(config_.overwrite ? sys::Existing::replaced : sys::Existing::refused);
        return report_;
    }

private:
    static struct stat status_of(int fd, const std::string& path)
    {
        struct stat status {};
        if (::fstat(fd, &status) != 0)
            throw Error(Fault::storage, errno, "read", path);
        return status;
    }

    void write(std::span<const std::byte> bytes)
    {
        std::size_t done = 0;
        (void)sys::write_all(file_.fd(), config_.archive, bytes, -1, done);
    }
    void write(const std::string& text) { write(std::as_bytes(std::span(text))); }

    void copy(int data, const PackedPair& pair)
    {
        constexpr std::size_t kPiece = 1 << 20;
        std::vector<std::byte> buffer(kPiece);
        Sha512 hash;
        for (std::uint64_t place = 0; place < pair.bytes;) {
            const std::size_t got = sys::read_at(data, pair.files.data, place, buffer);
            const auto some =
                std::span(buffer).first(std::min<std::uint64_t>(got, pair.bytes - place));
            if (some.empty())
                throw Error(Fault::storage, EBADMSG, "read", pair.files.data,
                            "it became shorter while it was packed");
            if (!pair.sha512.empty())
                hash.add(some);
            write(some);
            place += some.size();
            report_.bytes += some.size();
            if (go_on_ && !go_on_(report_))
                throw Error(Fault::other, EINTR, "pack", config_.archive, "ended early");
        }
        if (pair.sha512.empty())
            return;
        if (!same_hash(hash.finish(), pair.sha512))
            throw Error(Fault::storage, EBADMSG, "pack", pair.files.data,
                        "its SHA-512 differs from the one in its metadata");
        ++report_.hashed;
    }

    const PackConfig& config_;
    const std::function<bool(const PackReport&)>& go_on_;
    sys::NewFile file_;
    PackReport report_;
};

} // namespace

std::string tar_header(const std::string& name, char type, std::uint64_t bytes,
                       std::int64_t modified)
{
    constexpr std::size_t kLongestName = 100;
    const bool is_ascii = std::ranges::all_of(name, [](char c) { return c > ' ' && c <= '~'; });
    std::string extended;
    if (name.size() > kLongestName || !is_ascii)
        extended += pax_line("path", name);
    if (bytes > kMostOctal)
        extended += pax_line("size", std::to_string(bytes));
    const std::string header = plain_tar_header(name, type, bytes, modified);
    if (extended.empty())
        return header;
    return plain_tar_header("PaxHeaders/" + name, 'x', extended.size(), modified) + extended +
           padding_of(extended.size()) + header;
}

} // namespace file

PackReport pack_recordings(const PackConfig& config,
                           const std::function<bool(const PackReport&)>& go_on)
try {
    if (config.recordings.empty())
        fail_usage("pack " + config.archive + ": no recordings were given", "RECORDING… OUT.sigmf");
    if (!config.archive.ends_with(".sigmf"))
        fail_usage("pack: '" + detail::printable(config.archive) +
                       "' is not a valid name for an archive",
                   "such as NAME.sigmf");
    if (!config.overwrite && sys::path_exists(config.archive))
        throw Error(Fault::storage, EEXIST, "pack", config.archive, "", "--overwrite replaces it");
    const std::vector<file::PackedPair> pairs = file::packed_pairs(config);
    file::ArchiveWriter writer(config, go_on);
    for (const file::PackedPair& pair : pairs)
        writer.add(pair);
    return writer.finish();
} catch (const Error& error) {
    throw error.blamed_on(Fault::storage);
}

} // namespace iio_stream
