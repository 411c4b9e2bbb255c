// SPDX-License-Identifier: MIT
#include "archive/contents.hpp"
#include "archive/in_parallel.hpp"
#include "core/loss_totals.hpp"
#include "core/text.hpp"
#include "file/sigmf/hash.hpp"
#include "file/sigmf/sha512.hpp"
#include "iio_stream/archive_verify.hpp"

#include <algorithm>
#include <mutex>

namespace iio_stream {

namespace archive {

namespace {

/// Compares the samples of parts with their hashes, on several threads.
class Hashing {
public:
    explicit Hashing(ArchiveVerdict verdict) : verdict_(std::move(verdict)) {}

    ArchiveVerdict so_far()
    {
        const std::lock_guard lock(mutex_);
        return verdict_;
    }

    void check(Store& store, const Part& part)
    {
        const std::string name = part.name + kData;
        try {
            if (part.data_bytes != part.bytes)
                return problem(name, "it has " + std::to_string(part.data_bytes) +
                                         " bytes, and by its metadata " +
                                         std::to_string(part.bytes));
            if (part.sha512.empty())
                return count(&ArchiveVerdict::without_hash, 1);
            const std::string found = hash_of(store, name);
            if (!file::same_hash(found, part.sha512))
                return problem(name, "its SHA-512 is " + found.substr(0, 16) +
                                         "…, and by its metadata " + part.sha512.substr(0, 16) +
                                         "…");
            count(&ArchiveVerdict::good, 1);
        } catch (const Error& error) {
            if (!is_of_one_object(error))
                throw;
            problem(name, error.what());
        }
    }

private:
    std::string hash_of(Store& store, const std::string& name)
    {
        file::Sha512 hash;
        store.read(name, [&](std::span<const std::byte> bytes) {
            hash.add(bytes);
            count(&ArchiveVerdict::bytes, bytes.size());
        });
        return hash.finish();
    }

    void count(std::uint64_t ArchiveVerdict::*what, std::uint64_t more)
    {
        const std::lock_guard lock(mutex_);
        verdict_.*what += more;
    }

    void problem(const std::string& name, const std::string& what)
    {
        const std::lock_guard lock(mutex_);
        verdict_.problems.push_back({name, detail::printable(what)});
    }

    std::mutex mutex_;
    ArchiveVerdict verdict_;
};

ArchiveVerdict verdict_on(const Contents& found)
{
    ArchiveVerdict made;
    made.recordings = found.recordings.size();
    made.unfinished = found.unfinished;
    made.problems = found.damaged;
    for (const Series& one : found.recordings) {
        made.parts += one.parts.size();
        detail::add_totals(made.gaps, one.gaps);
        made.problems.insert(made.problems.end(), one.missing.begin(), one.missing.end());
    }
    return made;
}

} // namespace

} // namespace archive

ArchiveVerdict verify_archive(const ArchiveConfig& config,
                              const std::function<bool(const ArchiveVerdict&)>& go_on)
{
    using namespace archive;
    return guarded(config, "verify", [&] {
        const Contents found =
            contents_of(config, [&] { return !go_on || go_on(ArchiveVerdict{}); });
        Hashing hashing(verdict_on(found));
        std::vector<const Part*> parts;
        for (const Series& one : found.recordings)
            for (const Part& part : one.parts)
                parts.push_back(&part);
        in_parallel(
            config, parts.size(),
            [&](Store& store, std::size_t n) { hashing.check(store, *parts[n]); },
            [&] { return !go_on || go_on(hashing.so_far()); });
        ArchiveVerdict verdict = hashing.so_far();
        std::stable_sort(
            verdict.problems.begin(), verdict.problems.end(),
            [](const ArchiveProblem& a, const ArchiveProblem& b) { return a.name < b.name; });
        return verdict;
    });
}

} // namespace iio_stream
