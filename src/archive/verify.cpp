// SPDX-License-Identifier: MIT
#include "archive/contents.hpp"
#include "archive/parallel.hpp"
#include "core/base/text.hpp"
#include "core/loss/losses.hpp"
#include "file/sha512/sha512.hpp"
#include "iio_stream/archive_verify.hpp"

#include <algorithm>
#include <mutex>

namespace iio_stream {

namespace archive {

namespace {

/// Compares the samples of parts with their hashes. Several threads can call check().
class Hashing {
public:
    Hashing(ArchiveVerification report, bool all) : report_(std::move(report)), all_(all) {}

    /// Returns the report so far, its problems sorted by name.
    ArchiveVerification so_far()
    {
        const std::lock_guard lock(mutex_);
        std::ranges::stable_sort(report_.problems, {}, &ArchiveProblem::name);
        return report_;
    }

    void check(Store& store, const Part& part)
    {
        const std::string name = part.name + kData;
        try {
            if (part.data_bytes != part.bytes)
                return problem(name, "it has " + std::to_string(part.data_bytes) + " bytes, but " +
                                         std::to_string(part.bytes) + " according to its metadata");
            if (part.sha512.empty())
                return all_ ? check_by_store(store, name)
                            : count(&ArchiveVerification::without_hash, 1);
            const std::string found = hash_of(store, name);
            if (!file::same_hash(found, part.sha512))
                return problem(name, "its SHA-512 is " + found.substr(0, 16) + "…, but " +
                                         part.sha512.substr(0, 16) + "… according to its metadata");
            count(&ArchiveVerification::good, 1);
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
            count(&ArchiveVerification::bytes, bytes.size());
        });
        return hash.finish();
    }

    /// Reads samples whose metadata have no hash, and compares them with the store's checksum, if
    /// there is one.
    void check_by_store(Store& store, const std::string& name)
    {
        const std::unique_ptr<Checksum> stored = store.checksum_of(name);
        store.read(name, [&](std::span<const std::byte> bytes) {
            if (stored)
                stored->add(bytes);
            count(&ArchiveVerification::bytes, bytes.size());
        });
        if (!stored)
            return count(&ArchiveVerification::without_hash, 1);
        if (const std::string what = stored->difference(); !what.empty())
            return problem(name, what);
        count(&ArchiveVerification::good_in_store, 1);
    }

    void count(std::uint64_t ArchiveVerification::*what, std::uint64_t more)
    {
        const std::lock_guard lock(mutex_);
        report_.*what += more;
    }

    void problem(const std::string& name, const std::string& what)
    {
        const std::lock_guard lock(mutex_);
        report_.problems.push_back({name, detail::printable(what)});
    }

    std::mutex mutex_;
    ArchiveVerification report_;
    const bool all_; ///< parts without a hash are read as well
};

ArchiveVerification report_on(const Contents& found)
{
    ArchiveVerification made;
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

ArchiveVerification verify_archive(const VerifyConfig& config,
                                   const std::function<bool(const ArchiveVerification&)>& go_on)
{
    using namespace archive;
    return guarded(config.archive, "verify", [&] {
        const Contents found =
            contents_of(config.archive, [&] { return !go_on || go_on(ArchiveVerification{}); });
        Hashing hashing(report_on(found), config.data);
        std::vector<const Part*> parts;
        for (const Series& one : found.recordings)
            for (const Part& part : one.parts)
                parts.push_back(&part);
        try {
            in_parallel(
                config.archive, parts.size(),
                [&](Store& store, std::size_t n) { hashing.check(store, *parts[n]); },
                [&] { return !go_on || go_on(hashing.so_far()); });
        } catch (...) {
            if (go_on)
                (void)go_on(hashing.so_far()); // reports what was found before the error
            throw;
        }
        return hashing.so_far();
    });
}

} // namespace iio_stream
