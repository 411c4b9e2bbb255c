// SPDX-License-Identifier: MIT
#include "archive/push/push.hpp"

#include "archive/contents.hpp"
#include "archive/parallel.hpp"
#include "archive/s3/libraries.hpp"
#include "archive/series.hpp"
#include "core/base/text.hpp"
#include "file/file_lock.hpp"
#include "file/recording_files.hpp"
#include "iio_stream/error.hpp"
#include "sys/disk/whole_file.hpp"
#include "sys/files.hpp"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <sys/syscall.h>
#include <unistd.h>

namespace iio_stream {

namespace {

using namespace archive;
namespace fs = std::filesystem;

/// The number of connections for a folder. Each has at most one piece of a file in memory.
constexpr std::size_t kConnections = 4;
constexpr std::size_t kObjects = 2;        ///< of a recording: its samples and its metadata
constexpr std::size_t kLongestList = 1000; ///< objects on a page: S3's limit
/// Bytes that are sent before the store is listed again. Another push may store objects meanwhile.
/// The store then refuses ours, and they have been sent in vain.
constexpr std::uint64_t kSentPerList = 256 << 20;

/// Sets the thread's I/O priority to idle. The destructor restores the previous priority.
class IdleIo {
public:
    IdleIo() : before_(::syscall(SYS_ioprio_get, kThread, 0))
    {
        (void)::syscall(SYS_ioprio_set, kThread, 0, kIdle);
    }
    ~IdleIo()
    {
        if (before_ >= 0)
            (void)::syscall(SYS_ioprio_set, kThread, 0, before_);
    }
    IdleIo(const IdleIo&) = delete;
    IdleIo& operator=(const IdleIo&) = delete;

private:
    static constexpr int kThread = 1,
                         kIdle = 3 << 13; // IOPRIO_WHO_PROCESS, IOPRIO_CLASS_IDLE: linux/ioprio.h
    long before_;
};

/// Finds all metadata in a folder and its subfolders. Folders that cannot be read are added to
/// `problems`.
void find_metadata(const fs::path& folder, std::vector<fs::path>& found,
                   std::vector<std::string>& problems)
{
    std::error_code error;
    for (fs::directory_iterator file(folder, error), end; !error && file != end;
         file.increment(error)) {
        const fs::file_status status = file->symlink_status(error);
        if (fs::is_directory(status))
            find_metadata(file->path(), found, problems);
        else if (file->path().extension() == ".sigmf-meta")
            found.push_back(file->path());
    }
    if (error)
        problems.push_back(detail::printable(folder.string() + ": " + error.message()));
}

std::string text_of(const std::string& path)
{
    if (std::optional<std::string> text = sys::read_whole(path, kMostMetadata + 1)) {
        file::refuse_long_metadata(text->size(), path);
        return *std::move(text);
    }
    throw Error(Fault::storage, ENOENT, "read", path);
}

/// Returns a part's time according to its metadata or, if they have none, the modification time of
/// the metadata file.
PartTime time_of(const FileIdentity& meta, const std::string& text, const FileIdentity& data)
{
    PartTime made{.recording = meta.path(), .end_ns = meta.modified_ns()};
    try {
        const std::string name = fs::path(meta.path()).replace_extension().string();
        std::optional<Part> part = part_of(name, text);
        if (!part)
            return made;
        set_size(*part, data.size());
        if (part->number)
            made.recording = part->recording();
        made.index = part->index();
        made.number = part->number.value_or(0);
        for (const Capture& one : part->captures)
            made.end_ns = one.utc_ns.value_or(made.end_ns); // used if the rate is unknown
        const std::uint64_t last = part->last();
        Series alone;
        alone.parts.push_back(*std::move(part));
        made.end_ns = SampleTimes(alone).utc_ns(last).value_or(made.end_ns);
    } catch (const Error&) { // not valid in an archive: counts as a recording of its own
    }
    return made;
}

} // namespace

namespace archive {

Push::Push(const PushConfig& config, const std::function<bool(const PushReport&)>& go_on)
    : config_(config),
      go_on_(go_on),
      url_(parse_s3_url(config.archive)),
      account_(account()),
      listing_(url_.prefix, kLongestList),
      retained_(config.keep)
{
    (void)curl(); // throws an Error here, not on another thread, if libcurl is missing
}

/// A connection to the store, for one thread.
class Push::Connection {
public:
    Connection(Push& push, GoOn go_on)
        : bucket(
              push.account_, push.url_.bucket, [&push] { return push.rate(); }, push.config_.retry,
              std::move(go_on)),
          push_(push)
    {}
    ~Connection()
    {
        push_.count(&PushReport::retries, bucket.retries());
        --push_.connections_; // the others share its bandwidth
    }
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    Bucket bucket;

private:
    Push& push_;
};

/// Returns whether the content of the object `key` is this text.
bool Push::has(Bucket& bucket, const std::string& text, const std::string& key)
{
    const std::optional<Object> object = bucket.find(key);
    return object && is_text(bucket, text, key, *object);
}

/// Uploads the samples, unless the store has them (`same`), and then the metadata. Returns whether
/// the store has confirmed both.
bool Push::send(Bucket& bucket, const Closed& recording, const Stored& before, bool same)
{
    const std::string data_key = key_of(recording.data.path()),
                      meta_key = key_of(recording.meta.path());
    const char* const kElse =
        "something else is being stored under its name: give each folder a prefix of its own";
    Object confirmed = same ? *before.data : Object{};
    if (!same)
        try {
            const Sent sent = upload(bucket, recording.data.path(), data_key, before.data);
            count(sent);
            confirmed = sent.stored;
        } catch (const Error& error) {
            if (error.code().value() != EEXIST)
                throw;
            const std::optional<Object> now = bucket.find(data_key);
            if (!now || !is_stored(bucket, recording.data.path(), data_key, *now))
                return problem(recording.meta, kElse);
            confirmed = *now;
        }
    if (!recording.data.is_unchanged() || !recording.meta.is_unchanged())
        return problem(recording.meta, "it changed while it was uploaded; push it again");
    try {
        count(upload_text(bucket, recording.text, meta_key, before.meta));
    } catch (const Error& error) {
        if (error.code().value() != EEXIST)
            throw;
        if (!has(bucket, recording.text, meta_key))
            return problem(recording.meta, kElse);
    }
    if (retained_.all())
        return true;
    // Another push may have replaced the samples meanwhile. Files are only removed if the store
    // still has them.
    const std::optional<Object> now = bucket.find(data_key);
    const bool is_confirmed = now && now->size == confirmed.size && now->etag == confirmed.etag;
    if (!now || (!is_confirmed && !is_stored(bucket, recording.data.path(), data_key, *now)))
        return problem(recording.meta, kElse);
    return true;
}

/// Stores a recording unless the store has it. Returns whether the store has confirmed all of it.
bool Push::store(Bucket& bucket, const Closed& recording, Stored before)
{
    const std::string data_key = key_of(recording.data.path()),
                      meta_key = key_of(recording.meta.path());
    if (!retained_.all()) { // the list may be older than the removal of an object from the store
        before.data = before.data ? bucket.find(data_key) : std::nullopt;
        before.meta = before.meta ? bucket.find(meta_key) : std::nullopt;
    }
    // Parts of two recordings can have equal metadata, unless the metadata have a hash of the
    // samples. A recording that is to be removed is always compared.
    const bool trusted = retained_.all() && recording.hashed;
    const bool same_size = before.data && before.data->size == recording.data.size();
    const auto is_same = [&] {
        return is_stored(bucket, recording.data.path(), data_key, *before.data);
    };
    const bool same = same_size && (trusted || is_same());
    if (same && before.meta && is_text(bucket, recording.text, meta_key, *before.meta)) {
        if (!recording.data.is_unchanged() || !recording.meta.is_unchanged())
            return problem(recording.meta, "it changed while it was compared; push it again");
        count(&PushReport::already, 1);
        return true;
    }
    const bool proven = same && (!trusted || is_same());
    if (before.data && !proven && before.meta)
        return problem(recording.meta, "another recording is stored as " + bucket.url_of(meta_key));
    if (!send(bucket, recording, before, proven))
        return false;
    count(&PushReport::stored, 1);
    return true;
}

/// Returns whether an interrupted push has removed the samples, but not yet the metadata.
bool Push::is_removed(Bucket& bucket, const std::string& metadata)
{
    const std::string data = fs::path(metadata).replace_extension(".sigmf-data").string();
    return !retained_.all() && !fs::exists(data) && bucket.find(key_of(data)) &&
           has(bucket, text_of(metadata), key_of(metadata));
}

/// Opens a closed recording. Returns nullopt for any other recording, and notes the reason in the
/// report. Throws an Error for files that cannot be read.
std::optional<Push::Closed> Push::open(const std::string& metadata)
{
    const FileIdentity meta(metadata);
    const std::string text = text_of(metadata);
    const file::RecordingFiles recording(metadata, "");
    if (recording.problems.empty() &&
        (recording.journal || recording.unfinished() || file::is_being_recorded(recording.data))) {
        count(&PushReport::unfinished, 1);
        return std::nullopt;
    }
    const Recording checked = file::check_all_but_hash(recording);
    if (!checked.problems.empty()) {
        problem(meta, checked.problems[0]);
        return std::nullopt;
    }
    if (fs::path(recording.data).parent_path() != fs::path(metadata).parent_path()) {
        problem(meta, "its samples are in another folder: " + recording.data);
        return std::nullopt;
    }
    const FileIdentity data(recording.data);
    if (data.size() != recording.bytes || !meta.is_unchanged()) {
        problem(meta, "it changed while it was opened; push it again");
        return std::nullopt;
    }
    return Closed{meta, data, text, !recording.contents.sha512.empty(), time_of(meta, text, data)};
}

void Push::remove_expired()
{
    for (;;) {
        try {
            const std::optional<std::uint64_t> bytes = retained_.remove();
            if (!bytes)
                return;
            ++report_.removed;
            report_.removed_bytes += *bytes;
        } catch (const Error& error) {
            report_.problems.emplace_back(error.what());
        }
    }
}

void Push::require_name(const fs::path& metadata) const
{
    if (const std::string why = why_not_pulled(name_of(metadata)); !why.empty())
        fail_usage("push " + detail::printable(metadata.string()) + ": " + why,
                   "`archive pull` refuses such names: choose another one");
}

/// Opens a closed recording. Returns nullopt for any other recording, and notes the reason in the
/// report, also for files that cannot be read.
std::optional<Push::Closed> Push::open_or_note(Bucket& bucket, const fs::path& metadata)
{
    try {
        return open(metadata.string());
    } catch (const Error& error) {
        if (fs::exists(fs::symlink_status(metadata)) && !is_removed(bucket, metadata.string())) {
            problem(error.what());
            return std::nullopt;
        }
    }
    const std::lock_guard lock(mutex_); // another push has removed it
    --report_.parts;
    sys::try_remove_file(metadata.string());
    return std::nullopt;
}

Push::Stored Push::look_up(Bucket& bucket, const Closed& recording)
{
    const std::uint64_t sent = count(&PushReport::bytes, 0);
    if (sent - listed_at_ >= kSentPerList) {
        listing_.forget();
        listed_at_ = sent;
    }
    Stored found;
    found.data = listing_.find(bucket, key_of(recording.data.path()));
    found.meta = listing_.find(bucket, key_of(recording.meta.path()));
    return found;
}

/// Pushes a recording. `opening` holds opening_ until the recording is opened and looked up.
/// Returns whether it is stored.
bool Push::push(Bucket& bucket, const fs::path& metadata, std::unique_lock<std::mutex> opening)
{
    require_name(metadata);
    const std::optional<Closed> recording = open_or_note(bucket, metadata);
    const Stored before = recording ? look_up(bucket, *recording) : Stored{};
    opening.unlock();
    bool stored = false;
    try {
        stored = recording && store(bucket, *recording, before);
    } catch (const Error& error) {
        if (error.code().value() != EBADMSG) // the other recordings can still be stored
            throw;
        problem(error.what());
    }
    const std::lock_guard lock(mutex_);
    if (stored && !retained_.all())
        retained_.add(recording->meta, recording->data, recording->time);
    remove_expired();
    return stored;
}

void Push::run(detail::PushQueue& queue)
try {
    const IdleIo idle;
    Connection connection(*this, [this] { return should_continue(); });
    listing_ = Listing(url_.prefix, kObjects);
    while (const std::optional<std::string> metadata = queue.next()) {
        report_.problems.clear();
        listing_.forget();
        try {
            const bool stored = push(connection.bucket, *metadata, std::unique_lock(opening_)) ||
                                (!fs::exists(*metadata) &&
                                 connection.bucket.find(key_of(*metadata))); // by another push
            queue.pushed(*metadata, stored                     ? ""
                                    : report_.problems.empty() ? "it is not closed yet"
                                                               : report_.problems.front());
        } catch (const Error& error) {
            queue.pushed(*metadata, error.what());
        }
    }
} catch (const Stopped&) {
}

void Push::push_next(Bucket& bucket)
{
    std::unique_lock opening(opening_);
    const fs::path& metadata = found_[opened_++];
    try {
        push(bucket, metadata, std::move(opening));
    } catch (const Error& error) {
        if (error.fault() != Fault::usage)
            throw;
        problem(error.what());
    }
}

PushReport Push::so_far()
{
    std::unique_lock lock(mutex_);
    PushReport report = report_;
    lock.unlock();
    std::ranges::sort(report.problems);
    return report;
}

PushReport Push::run()
{
    if (std::error_code error; !fs::exists(config_.folder, error) || error)
        throw Error(Fault::storage, error ? error.value() : ENOENT, "read", config_.folder);
    {
        const IdleIo idle;
        find_metadata(config_.folder, found_, report_.problems);
    }
    std::ranges::sort(
        found_, {}, [](const fs::path& one) -> auto& { return one.native(); });
    report_.parts = found_.size();
    connections_ = std::clamp<std::size_t>(found_.size(), 1, kConnections);
    const auto start = [this](GoOn go_on) -> Job {
        const auto idle = std::make_shared<IdleIo>();
        const auto connection = std::make_shared<Connection>(*this, std::move(go_on));
        return [this, idle, connection](std::size_t) { push_next(connection->bucket); };
    };
    try {
        in_parallel(kConnections, found_.size(), start, [this] { return should_continue(); });
    } catch (const Stopped&) {
    } catch (const Error&) {
        (void)should_continue(); // reports what was done before the error
        throw;
    }
    (void)should_continue();
    return so_far();
}

} // namespace archive

void detail::push_each(const PushConfig& config, PushQueue& queue,
                       const std::function<bool(const PushReport&)>& go_on)
{
    Push(config, go_on).run(queue);
}

std::uint64_t detail::check_push(const PushConfig& config, const std::string& metadata)
{
    const std::function<bool(const PushReport&)> go_on;
    const Push checked(config, go_on);
    checked.require_name(metadata);
    return file::RetentionRule(config.keep).left();
}

PushReport push_archive(const PushConfig& config,
                        const std::function<bool(const PushReport&)>& go_on)
try {
    return Push(config, go_on).run();
} catch (const Error& error) {
    throw error.blamed_on(Fault::storage);
}

} // namespace iio_stream
