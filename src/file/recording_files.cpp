// SPDX-License-Identifier: MIT
#include "file/recording_files.hpp"

#include "file/file_names.hpp"
#include "file/sigmf/archive.hpp"
#include "file/sigmf/check.hpp"
#include "file/sigmf/file_pair.hpp"
#include "file/sigmf/metadata_reader.hpp"
#include "file/wav/header.hpp"
#include "file/wav/output_header.hpp"
#include "file/wav/source.hpp"
#include "sys/files.hpp"
#include "sys/stream_file.hpp"

#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <utility>

namespace iio_stream::file {

RecordingFiles::RecordingFiles(const std::string& path, const std::string& format)
{
    const FileTarget target(path);
    const SuffixFormat& suffix = target.suffix;
    const bool raw = suffix.kind != FileKind::sigmf || (!format.empty() && !has_sigmf_suffix(path));
    data = raw ? path : pair_of(path).data;
    if (is_wav(target)) {
        const WavHeader header = read_wav_header(path);
        data = path;
        contents.format = header.format;
        journal = read_journal(data);
        begin = header.begin;
        bytes = journal ? header.file_bytes : header.samples() * header.format.sample_bytes;
        if (!header.has_length && header.begin == kWavHeaderBytes)
            unsized_bytes = header.file_bytes;
        return;
    }
    if (raw && !(format + suffix.format).empty())
        contents.format = Format::parse(format.empty() ? suffix.format : format);
    if (raw && !format.empty())
        require_format_of_suffix(target, contents.format);
    if (!raw && is_archive(path)) {
        const SigmfArchive archive = read_archive(path);
        archived = true;
        meta = data = path;
        begin = archive.data_begin;
        bytes = archive.data_bytes;
        const std::string text = archived_metadata_text(path, archive);
        metadata = parse_metadata(text, archived_metadata_name(path, archive));
        Inspection found = inspect(metadata, text);
        problems = std::move(found.problems);
        if (found.obstacle.empty())
            contents = contents_of(found.repaired);
        return;
    }
    if (!raw) {
        meta = pair_of(path).meta;
        const std::string text = load_metadata_text(meta);
        metadata = parse_metadata(text, meta);
        Inspection found = inspect(metadata, text);
        problems = std::move(found.problems);
        if (found.obstacle.empty())
            contents = contents_of(found.repaired);
        if (!contents.dataset.empty())
            data = (std::filesystem::path(meta).parent_path() / contents.dataset).string();
    }
    // The recording was interrupted before its data file was created: it is empty.
    if (unfinished() && !sys::path_exists(data))
        return;
    if (contents.metadata_only && !sys::path_exists(data))
        throw Error(Fault::storage, ENOENT, "open", data,
                    "core:metadata_only is true in " + meta +
                        ": it was distributed without its samples");
    const sys::UniqueFd fd = sys::open_file(data, O_RDONLY | O_NONBLOCK);
    if (!sys::is_regular(fd.get()))
        throw Error(Fault::storage, EINVAL, "read", data, "it is not a file");
    bytes = sys::file_size(fd.get(), data);
    if (!contents.layout.is_plain())
        other_bytes = bytes - bytes_in(contents.layout.ranges(bytes, sample_bytes(), data));
    journal = read_journal(data);
}

} // namespace iio_stream::file
