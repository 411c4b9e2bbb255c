// SPDX-License-Identifier: MIT
#include "file/opened.hpp"

#include "file/raw.hpp"
#include "file/sigmf/check.hpp"
#include "file/sigmf/names.hpp"
#include "sys/files.hpp"
#include "sys/stream_file.hpp"

#include <cerrno>
#include <fcntl.h>
#include <filesystem>

namespace iio_stream::file {

Opened::Opened(const std::string& path, const std::string& format)
{
    const NameSays says = what_name_says(path);
    const bool raw = says.kind != Kind::sigmf || (!format.empty() && !has_sigmf_suffix(path));
    data = raw ? path : pair_of(path).data;
    if (raw && !(format + says.format).empty())
        contents.format = Format::parse(format.empty() ? says.format : format);
    if (raw && !format.empty())
        refuse_contradiction(data, contents.format);
    if (!raw) {
        meta = pair_of(path).meta;
        metadata = load_metadata(meta);
        problems = problems_of(metadata);
        if (problems.empty())
            contents = contents_of(metadata);
        if (!contents.dataset.empty())
            data = (std::filesystem::path(meta).parent_path() / contents.dataset).string();
    }
    // Interrupted between the making of the two files: an empty recording.
    if (unfinished() && !sys::path_exists(data))
        return;
    const sys::UniqueFd fd = sys::open_file(data, O_RDONLY | O_NONBLOCK);
    if (!sys::is_regular(fd.get()))
        throw Error(Fault::storage, EINVAL, "read", data, "it is not a file");
    bytes = sys::file_size(fd.get(), data);
    journal = read_journal(data);
}

bool Opened::is_live() const
{
    if (!sys::path_exists(data))
        return false;
    const sys::UniqueFd fd = sys::open_file(data, O_RDONLY | O_NONBLOCK);
    if (!sys::lock_soon(fd.get(), sys::Lock::shared))
        return true;
    sys::unlock(fd.get());
    return false;
}

} // namespace iio_stream::file
