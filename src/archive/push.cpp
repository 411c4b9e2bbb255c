// SPDX-License-Identifier: MIT
#include "iio_stream/archive.hpp"

#include "archive/account.hpp"
#include "archive/bucket.hpp"
#include "archive/keep.hpp"
#include "archive/upload.hpp"
#include "file/opened.hpp"
#include "iio_stream/error.hpp"
#include "sys/files.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <sys/syscall.h>
#include <unistd.h>

namespace iio_stream {

namespace {

using namespace archive;
namespace fs = std::filesystem;

struct Place {
    std::string bucket, prefix; ///< prefix: "" or ends with a slash
};

Place place_of(const std::string& archive)
{
    constexpr std::string_view kScheme = "s3://";
    constexpr std::size_t kShortest = 3, kLongest = 63; // docs.aws.amazon.com, "Bucket naming rules"
    if (!archive.starts_with(kScheme))
        fail_usage("the archive " + archive + " has no such address", "such as s3://BUCKET/PREFIX");
    const std::string rest = archive.substr(kScheme.size());
    Place place{rest.substr(0, rest.find('/')), rest.size() > rest.find('/') ? rest.substr(rest.find('/') + 1) : ""};
    const bool named = place.bucket.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789.-") == std::string::npos;
    if (!named || place.bucket.size() < kShortest || place.bucket.size() > kLongest)
        fail_usage("'" + place.bucket + "' is no name of a bucket",
                   "3 to 63 small letters, digits, dots and hyphens: s3://BUCKET/PREFIX");
    while (place.prefix.ends_with('/'))
        place.prefix.pop_back();
    if (!place.prefix.empty())
        place.prefix += '/';
    return place;
}

/// The thread reads and writes files only where nothing else wants to, and as before at its end.
class IdleIo {
public:
    IdleIo() : before_(::syscall(SYS_ioprio_get, kThread, 0)) { (void)::syscall(SYS_ioprio_set, kThread, 0, kIdle); }
    ~IdleIo()
    {
        if (before_ >= 0)
            (void)::syscall(SYS_ioprio_set, kThread, 0, before_);
    }
    IdleIo(const IdleIo&) = delete;
    IdleIo& operator=(const IdleIo&) = delete;

private:
    static constexpr int kThread = 1, kIdle = 3 << 13; // IOPRIO_WHO_PROCESS, IOPRIO_CLASS_IDLE: linux/ioprio.h
    long before_;
};

std::vector<fs::path> metadata_in(const std::string& folder)
{
    std::vector<fs::path> found;
    std::error_code error;
    const auto options = fs::directory_options::skip_permission_denied;
    for (fs::recursive_directory_iterator file(folder, options, error), end; !error && file != end; file.increment(error))
        if (file->path().extension() == ".sigmf-meta" && file->is_regular_file(error))
            found.push_back(file->path());
    if (error)
        throw Error(Fault::storage, error.value(), "read", folder);
    std::sort(found.begin(), found.end());
    return found;
}

class Push {
public:
    Push(const PushConfig& config, const std::function<bool(const PushReport&)>& go_on)
        : config_(config), go_on_(go_on), place_(place_of(config.archive)), kept_(config.keep),
          bucket_(account(), place_.bucket, config.rate, config.patience, [this] { return may_go_on(); })
    {
    }

    PushReport run();

private:
    bool may_go_on()
    {
        report_.retries = bucket_.retries();
        return !go_on_ || go_on_(report_);
    }
    std::string key_of(const fs::path& file) const
    {
        return place_.prefix + file.lexically_relative(config_.folder).generic_string();
    }
    std::optional<file::Opened> open(const std::string& metadata);
    void push(const fs::path& metadata);
    bool store(const file::Opened& recording);
    bool is_removed(const std::string& metadata);
    void send(const std::string& path, const std::string& key);
    bool has(const std::string& path, const std::string& key);

    const PushConfig& config_;
    const std::function<bool(const PushReport&)>& go_on_;
    const Place place_;
    Kept kept_;
    PushReport report_;
    Bucket bucket_;
};

/// Whether an object is that file.
bool Push::has(const std::string& path, const std::string& key)
{
    const std::optional<Object> object = bucket_.find(key);
    return object && is_stored(bucket_, path, key, *object);
}

void Push::send(const std::string& path, const std::string& key)
{
    const Sent sent = upload(bucket_, path, key);
    report_.bytes += sent.bytes;
    report_.resumed += sent.resumed;
}

/// Whether the store has confirmed all of it.
bool Push::store(const file::Opened& recording)
{
    const std::string data_key = key_of(recording.data), meta_key = key_of(recording.meta);
    const std::optional<Object> data = bucket_.find(data_key);
    // Parts of two recordings may have the same metadata, unless those have the samples' hash.
    const bool hashed = kept_.all() && !recording.contents.sha512.empty(); // what is to go is compared itself
    const bool same_size = data && data->size == recording.bytes;
    const bool same = same_size && !hashed && is_stored(bucket_, recording.data, data_key, *data);
    if ((same || (same_size && hashed)) && has(recording.meta, meta_key)) {
        ++report_.already;
        return true;
    }
    if (data && !same && bucket_.find(meta_key) && !is_stored(bucket_, recording.data, data_key, *data)) {
        report_.problems.push_back(recording.meta + ": another recording is stored as " + bucket_.url_of(meta_key));
        return false;
    }
    if (!same)
        send(recording.data, data_key);
    send(recording.meta, meta_key);
    ++report_.stored;
    return true;
}

/// Whether its samples were removed by a push that was ended before it could remove the metadata.
bool Push::is_removed(const std::string& metadata)
{
    const std::string data = fs::path(metadata).replace_extension(".sigmf-data").string();
    return !kept_.all() && !fs::exists(data) && bucket_.find(key_of(data)) && has(metadata, key_of(metadata));
}

/// A closed recording; otherwise nothing, and the report says why. Throws an Error for files that cannot be read.
std::optional<file::Opened> Push::open(const std::string& metadata)
{
    file::Opened recording(metadata, "");
    if (recording.problems.empty() && (recording.journal || recording.unfinished() || recording.is_live())) {
        ++report_.unfinished;
        return std::nullopt;
    }
    const Recording checked = file::check_all_but_hash(recording);
    if (!checked.problems.empty()) {
        report_.problems.push_back(metadata + ": " + checked.problems[0]);
        return std::nullopt;
    }
    if (fs::path(recording.data).parent_path() != fs::path(metadata).parent_path()) {
        report_.problems.push_back(metadata + ": its samples are in another folder: " + recording.data);
        return std::nullopt;
    }
    return recording;
}

void Push::push(const fs::path& metadata)
{
    std::optional<file::Opened> recording;
    try {
        recording = open(metadata.string());
    } catch (const Error& error) {
        if (!fs::exists(metadata) || is_removed(metadata.string())) { // by another push
            --report_.parts;
            sys::try_remove_file(metadata.string());
        } else {
            report_.problems.emplace_back(error.what());
        }
    }
    if (recording && store(*recording) && !kept_.all())
        kept_.add(*recording);
    report_.removed += kept_.remove(report_.removed_bytes);
}

PushReport Push::run()
{
    const IdleIo idle;
    const std::vector<fs::path> found = metadata_in(config_.folder);
    report_.parts = found.size();
    try {
        for (const fs::path& metadata : found) {
            push(metadata);
            if (!may_go_on())
                break;
        }
    } catch (const Stopped&) {
    }
    report_.retries = bucket_.retries();
    return report_;
}

} // namespace

PushReport push_archive(const PushConfig& config, const std::function<bool(const PushReport&)>& go_on)
try {
    return Push(config, go_on).run();
} catch (const Error& error) {
    throw error.blamed_on(Fault::storage);
}

} // namespace iio_stream
