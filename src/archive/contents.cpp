// SPDX-License-Identifier: MIT
#include "archive/contents.hpp"

#include "archive/index.hpp"
#include "archive/parallel.hpp"
#include "core/base/text.hpp"

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <set>
#include <string_view>

namespace iio_stream::archive {

namespace {

constexpr const char* kUnsafeName = "its name is not valid for a file in a folder";

/// Returns whether the name is printable and valid for a file below a folder. An object can have
/// any name.
bool is_safe_name(const std::string& name)
{
    const std::vector<std::string> steps = detail::split(name, '/');
    return detail::printable(name) == name && !name.ends_with('/') &&
           std::none_of(steps.begin(), steps.end(), [](const std::string& step) {
               return step.empty() || step == "." || step == "..";
           });
}

/// Collects parts. Several threads can call read_part().
class Gathering {
public:
    Gathering(std::map<std::string, Entry> entries, Known known, bool keep_texts)
        : entries_(std::move(entries)), known_(std::move(known)), keep_texts_(keep_texts)
    {}

    /// Returns the names of the parts that may be finished, and notes the unfinished and damaged
    /// ones.
    std::vector<std::string> names()
    {
        std::vector<std::string> found;
        for (const auto& [name, entry] : entries_) {
            const bool meta = name.ends_with(kMeta);
            if (!meta && !name.ends_with(kData))
                continue;
            const std::string stem = name.substr(0, name.rfind('.'));
            const bool finished =
                entries_.contains(stem + kMeta) && !entries_.contains(stem + kJournal);
            if (!is_safe_name(name))
                add_damaged(name, kUnsafeName);
            else if (!finished && !meta)
                unfinished_.insert(stem);
            else if (finished && meta)
                found.push_back(stem);
        }
        return found;
    }

    void read_part(Store& store, const std::string& name)
    {
        std::string wrong = name + kMeta;
        try {
            const Entry& metadata = entries_.at(wrong);
            const IndexedPart* const known = known_as(name, metadata);
            Text read = known != nullptr ? Text{known->text, metadata.etag} : text_in(store, wrong);
            std::optional<Part> part = part_of(name, read.text);
            if (!part)
                return add_unfinished(name);
            part->metadata = metadata;
            if (keep_texts_) {
                part->metadata.etag =
                    read.etag; // not the listed one if the object was replaced meanwhile
                part->text = std::move(read.text);
            }
            wrong = name + kData;
            const std::uint64_t size = size_for(store, *part);
            wrong = name + kMeta;
            set_size(*part, size);
            const std::lock_guard lock(mutex_);
            parts_.push_back(std::move(*part));
            read_ += known == nullptr;
        } catch (const Error& error) {
            if (!is_of_one_object(error))
                throw;
            if (error.code().value() == ENOENT && wrong.ends_with(kMeta))
                return; // removed meanwhile
            add_damaged(wrong, error.detail().empty() ? error.code().message() : error.detail());
        }
    }

    Contents finish()
    {
        Contents made;
        made.read = read_;
        made.damaged = std::move(damaged_);
        std::sort(parts_.begin(), parts_.end(),
                  [](const Part& a, const Part& b) { return a.name < b.name; });
        made.recordings = series_of(std::move(parts_), made.damaged);
        std::sort(made.damaged.begin(), made.damaged.end(),
                  [](const ArchiveProblem& a, const ArchiveProblem& b) { return a.name < b.name; });
        made.unfinished.assign(unfinished_.begin(), unfinished_.end());
        return made;
    }

private:
    const IndexedPart* known_as(const std::string& name, const Entry& metadata) const
    {
        const auto at = known_.find(name);
        if (at == known_.end() || metadata.etag.empty())
            return nullptr;
        const Entry& then = at->second.metadata;
        const bool same = metadata.etag == then.etag && metadata.size == then.size &&
                          metadata.modified_ns == then.modified_ns;
        return same ? &at->second : nullptr;
    }

    /// Returns the size of the samples. Reads it again if the samples may have grown since they
    /// were listed.
    std::uint64_t size_for(Store& store, const Part& part) const
    {
        const auto listed = entries_.find(part.name + kData);
        const bool is_listed = listed != entries_.end();
        const bool enough =
            is_listed && (part.samples == kUnknown ||
                          listed->second.size / part.format.sample_bytes >= part.samples);
        const auto entry = enough ? std::optional(listed->second) : store.find(part.name + kData);
        if (!entry)
            throw Error(Fault::storage, ENOENT, "read", store.url_of(part.name + kData));
        return entry->size;
    }

    void add_unfinished(const std::string& name)
    {
        const std::lock_guard lock(mutex_);
        unfinished_.insert(name);
    }

    void add_damaged(const std::string& name, const std::string& what)
    {
        const std::lock_guard lock(mutex_);
        damaged_.push_back({detail::printable(name), detail::printable(what)});
    }

    const std::map<std::string, Entry> entries_;
    const Known known_;
    const bool keep_texts_;
    std::mutex mutex_;
    std::uint64_t read_ = 0;
    std::vector<Part> parts_;
    std::set<std::string> unfinished_;
    std::vector<ArchiveProblem> damaged_;
};

/// Returns the parts in the index. Without ETags, as in a folder, the index does not help and is
/// not read.
Known known_parts(Store& store, const std::map<std::string, Entry>& entries)
try {
    const auto index = entries.find(kIndex);
    return index == entries.end() || index->second.etag.empty()
               ? Known()
               : parts_in(text_in(store, kIndex, kLongestIndex, kIndexTooLong).text);
} catch (const Error& error) {
    if (!is_of_one_object(error))
        throw;
    return {};
}

Contents gathered(const ArchiveConfig& config, const GoOn& go_on, bool for_index)
{
    const std::unique_ptr<Store> store = open_store(config.place, config.retry, go_on);
    std::map<std::string, Entry> entries = store->list();
    Known known = for_index ? known_parts(*store, entries) : Known();
    Gathering gathering(std::move(entries), std::move(known), for_index);
    const std::vector<std::string> names = gathering.names();
    in_parallel(
        config, names.size(),
        [&](Store& own, std::size_t n) { gathering.read_part(own, names[n]); }, go_on);
    return gathering.finish();
}

} // namespace

std::string why_not_pulled(const std::string& name)
{
    constexpr std::size_t kLongestName = 255; // NAME_MAX of the common file systems
    constexpr std::size_t kLongestSuffix = std::string_view(".sigmf-data.part").size();
    if (!is_safe_name(name))
        return kUnsafeName;
    if (name.size() - (name.rfind('/') + 1) > kLongestName - kLongestSuffix)
        return "its name is longer than " + std::to_string(kLongestName - kLongestSuffix) +
               " bytes, without suffix";
    return "";
}

Text text_in(Store& store, const std::string& name, std::size_t longest,
             const std::string& too_long)
{
    Text made;
    made.etag = store.read(name, [&](std::span<const std::byte> bytes) {
        if (bytes.size() > longest - made.text.size())
            throw Error(Fault::storage, EBADMSG, "read", store.url_of(name), too_long);
        made.text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    });
    return made;
}

Contents contents_of(const ArchiveConfig& config, const GoOn& go_on)
{
    return gathered(config, go_on, false);
}

Contents contents_for_index(const ArchiveConfig& config, const GoOn& go_on)
{
    return gathered(config, go_on, true);
}

} // namespace iio_stream::archive
