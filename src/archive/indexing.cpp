// SPDX-License-Identifier: MIT
#include "archive/index.hpp"
#include "sys/event.hpp"

#include <cerrno>

namespace iio_stream {

IndexReport index_archive(const ArchiveConfig& config, const std::function<bool()>& go_on)
{
    return archive::guarded(config, "index", [&] {
        const std::int64_t as_of_ns = sys::realtime_ns();
        const archive::Contents found = archive::contents_for_index(config, go_on);
        const std::string text = archive::index_of(found, as_of_ns);
        archive::open_store(config.place, config.retry, go_on)->write(archive::kIndex, text);
        IndexReport report;
        report.recordings = found.recordings.size();
        for (const archive::Series& one : found.recordings)
            report.parts += one.parts.size();
        report.read = found.read;
        report.unfinished = found.unfinished.size();
        report.damaged = found.damaged.size();
        report.bytes = text.size();
        return report;
    });
}

IndexedListing list_index(const ArchiveConfig& config, const std::function<bool()>& go_on)
{
    return archive::guarded(config, "list", [&] {
        const std::unique_ptr<archive::Store> store =
            archive::open_store(config.place, config.retry, go_on);
        const std::string where = store->url_of(archive::kIndex);
        try {
            return archive::listing_in(
                archive::text_in(*store, archive::kIndex, archive::kLongestIndex).text);
        } catch (const Error& error) {
            const int number = error.code().value();
            if (number != ENOENT && number != EBADMSG)
                throw;
            throw Error(Fault::storage, number, "read", where,
                        number == ENOENT ? "" : error.detail(),
                        "`iio-stream archive index " + config.place + "` writes " +
                            (number == ENOENT ? "it" : "a new one"));
        }
    });
}

} // namespace iio_stream
