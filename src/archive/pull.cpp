// SPDX-License-Identifier: MIT
#include "archive/contents.hpp"
#include "archive/parallel.hpp"
#include "core/base/text.hpp"
#include "file/sha512/sha512.hpp"
#include "iio_stream/archive_pull.hpp"
#include "sys/disk/whole_file.hpp"
#include "sys/files.hpp"
#include "sys/stream_file.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <fnmatch.h>
#include <mutex>
#include <sys/stat.h>
#include <unistd.h>

namespace iio_stream {

namespace archive {

namespace {

[[noreturn]] void not_the_same(const std::string& path)
{
    throw Error(Fault::storage, EEXIST, "pull", path, "it exists already, with other contents");
}

/// Returns whether a file has the same bytes as an object. Reads both.
bool same_as_object(Store& store, const std::string& name, const std::string& path)
{
    const sys::UniqueFd fd = sys::open_file(path, O_RDONLY | O_NOFOLLOW);
    std::vector<std::byte> ours;
    std::uint64_t place = 0;
    bool same = true;
    store.read(name, [&](std::span<const std::byte> bytes) {
        ours.resize(bytes.size());
        const std::size_t got = sys::read_at(fd.get(), path, place, ours);
        same = same && got == bytes.size() && std::equal(bytes.begin(), bytes.end(), ours.begin());
        place += bytes.size();
    });
    return same && sys::file_size(fd.get(), path) == place;
}

/// Downloads samples into a file, which has a temporary name until it is complete.
class Download {
public:
    Download(Store& store, const Part& part, std::string path)
        : store_(store),
          part_(part),
          path_(std::move(path)),
          partial_(path_ + ".part"),
          fd_(sys::open_file(partial_, O_RDWR | O_CREAT | O_NOFOLLOW, 0666))
    {
        struct stat ours {
        }, named{};
        if (!sys::lock_soon(fd_.get(), sys::Lock::exclusive))
            throw Error(Fault::storage, EBUSY, "pull", path_, "another pull is fetching it");
        if (::fstat(fd_.get(), &ours) != 0 || ours.st_nlink > 1)
            throw Error(Fault::storage, EMLINK, "pull", partial_, "it has another hard link");
        // Another pull may have held the lock until it renamed the file.
        is_ours_ = ::lstat(partial_.c_str(), &named) == 0 && named.st_ino == ours.st_ino &&
                   named.st_dev == ours.st_dev;
        if (is_ours_ && sys::path_exists(path_)) {
            sys::try_remove_file(partial_);
            is_ours_ = false;
        }
    }

    /// Returns false if another pull has finished meanwhile, so that path_ exists.
    bool is_ours() const noexcept { return is_ours_; }

    /// Bytes of an earlier download that are kept.
    std::uint64_t resumed() const noexcept { return resumed_; }

    void run(const std::function<void(std::size_t)>& got)
    {
        resumed_ = part_.sha512.empty() ? 0 : sys::file_size(fd_.get(), partial_);
        if (resumed_ > part_.data_bytes)
            resumed_ = 0;
        if (!fetch(got) && resumed_ != 0) { // the earlier bytes belong to another object
            resumed_ = 0;
            (void)fetch(got);
        }
        if (!wrong_.empty()) {
            sys::try_remove_file(partial_);
            throw Error(Fault::storage, EBADMSG, "read", store_.url_of(part_.name + kData), wrong_);
        }
        sys::sync_file(fd_.get(), partial_);
        if (::renameat2(AT_FDCWD, partial_.c_str(), AT_FDCWD, path_.c_str(), RENAME_NOREPLACE) != 0)
            throw Error(Fault::storage, errno, "rename", partial_);
    }

private:
    /// Downloads everything from byte resumed_ on. Returns whether the whole file matches the
    /// metadata and, if these have no hash, the store's checksum.
    bool fetch(const std::function<void(std::size_t)>& got)
    {
        constexpr std::size_t kPiece = 1 << 20;
        sys::truncate_file(fd_.get(), partial_, resumed_);
        const std::unique_ptr<Checksum> stored =
            part_.sha512.empty() ? store_.checksum_of(part_.name + kData) : nullptr;
        file::Sha512 hash;
        std::vector<std::byte> before(
            static_cast<std::size_t>(std::min<std::uint64_t>(resumed_, kPiece)));
        for (std::uint64_t place = 0; place < resumed_; place += before.size()) {
            before.resize(
                static_cast<std::size_t>(std::min<std::uint64_t>(resumed_ - place, kPiece)));
            hash.add(std::span(before).first(sys::read_at(fd_.get(), partial_, place, before)));
        }
        std::uint64_t place = resumed_;
        const auto add = [&](std::span<const std::byte> bytes) {
            if (bytes.size() > part_.data_bytes - place)
                throw Error(Fault::storage, EBADMSG, "read", store_.url_of(part_.name + kData),
                            "it grew while it was read");
            sys::write_at(fd_.get(), partial_, place, bytes);
            hash.add(bytes);
            if (stored)
                stored->add(bytes);
            place += bytes.size();
            got(bytes.size());
        };
        if (place < part_.data_bytes)
            store_.read(part_.name + kData, add, place);
        wrong_ = stored ? stored->difference() : "";
        if (place != part_.data_bytes ||
            (!part_.sha512.empty() && !file::same_hash(hash.finish(), part_.sha512)))
            wrong_ = "its size or SHA-512 does not match the metadata";
        return wrong_.empty();
    }

    Store& store_;
    const Part& part_;
    const std::string path_, partial_;
    sys::UniqueFd fd_;
    std::uint64_t resumed_ = 0;
    bool is_ours_ = false;
    std::string wrong_; ///< why the download is invalid; "" if it is valid
};

/// Throws an Error if the folder is not writable. Otherwise each part would be downloaded before
/// its write fails.
void require_writable(const std::string& folder)
{
    sys::make_directories(folder);
    if (::access(folder.c_str(), W_OK | X_OK) != 0)
        throw Error(Fault::storage, errno, "write into", folder);
}

/// Fetches parts. Several threads can call pull().
class Pulling {
public:
    Pulling(const PullConfig& config, const Contents& found) : folder_(config.folder)
    {
        for (const Series& one : found.recordings) {
            if (::fnmatch(config.name.c_str(), one.name.c_str(), 0) != 0)
                continue;
            const SampleTimes times(one);
            for (const Part& part : one.parts)
                if (is_wanted(config, times, part))
                    parts_.push_back(&part);
        }
        report_.parts = parts_.size();
        report_.damaged = found.damaged;
        while (folder_.size() > 1 && folder_.ends_with('/'))
            folder_.pop_back();
    }

    std::size_t size() const noexcept { return parts_.size(); }

    /// Returns the report so far, its problems sorted by name.
    PullReport so_far()
    {
        const std::lock_guard lock(mutex_);
        std::ranges::stable_sort(report_.problems, {}, &ArchiveProblem::name);
        return report_;
    }

    void pull(Store& store, std::size_t n)
    {
        const Part& part = *parts_[n];
        try {
            const bool is_new = fetch(store, part);
            count(is_new ? &PullReport::pulled : &PullReport::already, 1);
        } catch (const Error& error) {
            if (!is_of_one_object(error))
                throw;
            const std::lock_guard lock(mutex_);
            report_.problems.push_back({part.name, detail::printable(error.what())});
        }
    }

private:
    static bool is_wanted(const PullConfig& config, const SampleTimes& times, const Part& part)
    {
        if (!config.from_ns && !config.to_ns)
            return true;
        const auto first = times.utc_ns(part.index()), last = times.utc_ns(part.last());
        return part.samples != 0 && first && last &&
               (!config.from_ns || *last >= *config.from_ns) &&
               (!config.to_ns || *first < *config.to_ns);
    }

    /// Fetches the missing files of a part. Returns whether this call has created any.
    bool fetch(Store& store, const Part& part)
    {
        const std::string meta = folder_ + "/" + part.name + kMeta,
                          data = folder_ + "/" + part.name + kData;
        const std::string text = text_in(store, part.name + kMeta).text;
        const std::optional<std::string> there = sys::read_whole(meta, text.size() + 1);
        if (there && *there != text)
            not_the_same(meta);
        sys::make_directories(std::filesystem::path(meta).parent_path().string());
        bool has_data = sys::path_exists(data);
        if (!has_data) {
            Download download(store, part, data);
            has_data = !download.is_ours();
            if (!has_data)
                download.run([this](std::size_t bytes) { count(&PullReport::bytes, bytes); });
            count(&PullReport::resumed, download.resumed());
        }
        if (has_data && !is_whole(store, part, data, there.has_value()))
            not_the_same(data);
        return (!there && publish(meta, text)) || !has_data;
    }

    /// Returns false if another pull has published the same metadata.
    static bool publish(const std::string& meta, const std::string& text)
    {
        try {
            sys::publish_file(meta, text, sys::Existing::refused);
            return true;
        } catch (const Error& error) {
            if (error.code().value() != EEXIST || sys::read_whole(meta) != text)
                throw;
            return false;
        }
    }

    /// Returns whether a file has the part's samples. If its metadata exist, only the size is
    /// compared, because metadata are written last.
    static bool is_whole(Store& store, const Part& part, const std::string& path, bool is_finished)
    {
        struct stat status {};
        if (::lstat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode) ||
            static_cast<std::uint64_t>(status.st_size) != part.data_bytes)
            return false;
        if (is_finished)
            return true;
        return part.sha512.empty() ? same_as_object(store, part.name + kData, path)
                                   : file::same_hash(*file::sha512_of_file(path), part.sha512);
    }

    void count(std::uint64_t PullReport::*what, std::uint64_t more)
    {
        const std::lock_guard lock(mutex_);
        report_.*what += more;
    }

    std::string folder_;
    std::vector<const Part*> parts_;
    std::mutex mutex_;
    PullReport report_;
};

} // namespace

} // namespace archive

PullReport pull_archive(const PullConfig& config,
                        const std::function<bool(const PullReport&)>& go_on)
{
    using namespace archive;
    if (config.folder.empty())
        fail_usage("pull " + config.archive.place + ": no target folder is given", "name a folder");
    if (config.from_ns && config.to_ns && *config.from_ns > *config.to_ns)
        fail_usage("pull " + config.archive.place + ": the time range ends before it begins",
                   "`from` must not be later than `to`");
    return guarded(config.archive, "pull", [&] {
        const Contents found =
            contents_of(config.archive, [&] { return !go_on || go_on(PullReport{}); });
        Pulling pulling(config, found);
        if (pulling.size() != 0)
            require_writable(config.folder);
        try {
            in_parallel(
                config.archive, pulling.size(),
                [&](Store& store, std::size_t n) { pulling.pull(store, n); },
                [&] { return !go_on || go_on(pulling.so_far()); });
        } catch (...) {
            if (go_on)
                (void)go_on(pulling.so_far()); // reports what was done before the error
            throw;
        }
        return pulling.so_far();
    });
}

} // namespace iio_stream
