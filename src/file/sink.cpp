// SPDX-License-Identifier: MIT
#include "file/sink.hpp"

#include "file/file.hpp"
#include "file/raw.hpp"
#include "iio_stream/units.hpp"
#include "sys/event.hpp"
#include "sys/files.hpp"
#include "sys/stream_file.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>

namespace iio_stream::file {

SinkSettings SinkSettings::from(Uri& uri)
{
    SinkSettings s;
    s.path = uri.rest;
    if (s.path.empty())
        fail_usage("file: needs a path");
    s.overwrite = parse_switch("overwrite", uri.options.take("overwrite", "off"));
    const std::string sync = uri.options.take("sync", "none");
    if (sync != "none" && sync != "end")
        fail_usage("sync=" + sync + " is neither none nor end");
    s.sync = sync == "end" ? Sync::end : Sync::none;
    if (what_name_says(s.path).kind == Kind::sigmf)
        fail_usage(s.path + ": the name says SigMF, which is not written yet",
                   "a raw suffix: .ci16 .cf32 .bin .raw");
    return s;
}

std::optional<Hop> RawSink::plan(const MemoryTraits&, std::string&) const
{
    Hop hop;
    hop.mechanism = "buffered";
    hop.copies = 1;
    hop.cpu = true;
    hop.reason = "write() copies into the page cache";
    return hop;
}

bool RawSink::prepare(const StreamInfo& stream, BlockPool&, int cancel, std::string&)
{
    sample_bytes_ = stream.format.sample_bytes;
    cancel_ = cancel;
    bytes_ = 0;
    if (!fd_.valid()) // prepared once more, as another end was refused: the file is ours already
        open(stream.timeout_ns);
    return true;
}

void RawSink::open(std::int64_t timeout_ns)
{
    const std::string& path = settings_.path;
    struct stat status {};
    const bool special = path != "-" && ::stat(path.c_str(), &status) == 0 &&
                         !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
    if (path == "-")
        fd_ = sys::own_standard_stream(1);
    else if (special) // a FIFO or device: to be written to, not made
        fd_ = sys::open_for_writing(path, sys::after(timeout_ns));
    else
        try {
            fd_ = sys::open_file(
                path, O_WRONLY | O_CREAT | (settings_.overwrite ? O_TRUNC : O_EXCL), 0666);
        } catch (const Error& error) {
            if (error.code().value() != EEXIST)
                throw;
            if (sys::is_directory(path))
                throw Error(Fault::storage, EISDIR, "open", path);
            throw Error(Fault::storage, EEXIST, "open", path, {}, "overwrite=on replaces it");
        }
    regular_ = sys::is_regular(fd_.get());
    if (!regular_)
        sys::widen_pipe(fd_.get());
}

void RawSink::submit(Filled filled)
{
    const CpuRead data{filled};
    std::size_t done = 0;
    try {
        if (!sys::write_all(fd_.get(), settings_.path, data.bytes(), cancel_, done))
            throw Error(Fault::storage, ECANCELED, "write", settings_.path,
                        "stopped before all was written");
    } catch (...) {
        bytes_ += done;
        throw;
    }
    bytes_ += done;
}

// After a failed write the last sample may be there in part: readers expect whole ones.
void RawSink::keep_whole_samples(int fd) const noexcept
{
    const std::size_t part = bytes_ % sample_bytes_;
    if (!regular_ || part == 0)
        return;
    try {
        // Only what is ours: standard output may stand in the middle of somebody else's file.
        const std::size_t end = sys::file_position(fd, settings_.path);
        if (end == sys::file_size(fd, settings_.path))
            sys::truncate_file(fd, settings_.path, end - part);
    } catch (const Error&) {
        // The error that brought us here is the one to tell.
    }
}

void RawSink::stop(Stop how)
{
    sys::UniqueFd fd = std::move(fd_);
    if (!fd.valid())
        return;
    keep_whole_samples(fd.get());
    if (how == Stop::drain && settings_.sync == Sync::end)
        sys::sync_data(fd.get(), settings_.path);
    // close() is where NFS and quotas report what write() did not.
    if (::close(fd.release()) < 0 && how == Stop::drain && errno != EINTR)
        throw Error(Fault::storage, errno, "close", settings_.path);
}

} // namespace iio_stream::file
