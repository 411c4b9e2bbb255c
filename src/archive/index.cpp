// SPDX-License-Identifier: MIT
#include "archive/index.hpp"

#include "archive/contents.hpp"
#include "file/sha512/sha512.hpp"
#include "file/sigmf/check.hpp"
#include "file/sigmf/metadata.hpp"
#include "file/sigmf/metadata_reader.hpp"
#include "sys/event.hpp"

#include <algorithm>
#include <cerrno>
#include <span>
#include <stdexcept>
#include <utility>

namespace iio_stream::archive {

namespace {

using file::Json;

constexpr int kVersion = 1;
constexpr const char* kVersionKey = "iio_stream_index";
/// Keys of the global object whose values are different in each part.
constexpr const char* kOfPart[] = {"iio_stream:samples", "core:sha512"};

template <typename T>
Json or_null(const std::optional<T>& value)
{
    return value ? Json(*value) : Json(nullptr);
}

template <typename T>
std::optional<T> value_in(const Json& object, const char* key)
{
    const Json& value = object.at(key);
    return value.is_null() ? std::nullopt : std::optional(value.get<T>());
}

/// Returns the global object of a recording's first part, without the keys in kOfPart.
Json common_global(const Series& series)
{
    Json global = file::parse_metadata(series.parts[0].text, "").at("global");
    for (const char* key : kOfPart)
        global.erase(key);
    return global;
}

Json summary_json(const ArchivedRecording& one, Json global)
{
    return {{"name", one.name},
            {"begin_ns", or_null(one.begin_ns)},
            {"seconds", or_null(one.seconds)},
            {"device", one.device},
            {"frequency", or_null(one.frequency)},
            {"sample_rate", or_null(one.sample_rate)},
            {"first_index", one.first_index},
            {"samples", one.samples},
            {"bytes", one.bytes},
            {"parts", one.parts},
            {"gaps", {one.gaps.certain, one.gaps.possible, one.gaps.lost_min, one.gaps.lost_max}},
            {"global", std::move(global)}};
}

ArchivedRecording summary_in(const Json& words)
{
    ArchivedRecording made;
    made.name = words.at("name").get<std::string>();
    made.begin_ns = value_in<std::int64_t>(words, "begin_ns");
    made.seconds = value_in<double>(words, "seconds");
    made.device = words.at("device").get<std::string>();
    made.frequency = value_in<double>(words, "frequency");
    made.sample_rate = value_in<double>(words, "sample_rate");
    made.first_index = words.at("first_index").get<std::uint64_t>();
    made.samples = words.at("samples").get<std::uint64_t>();
    made.bytes = words.at("bytes").get<std::uint64_t>();
    made.parts = words.at("parts").get<std::uint64_t>();
    const auto gaps = words.at("gaps").get<std::vector<std::uint64_t>>();
    made.gaps = {gaps.at(0), gaps.at(1), gaps.at(2), gaps.at(3)};
    Json metadata{{"global", words.at("global")},
                  {"captures", Json::array()},
                  {"annotations", Json::array()}};
    metadata["captures"].push_back({{"core:sample_start", 0}});
    const file::Inspection found = file::inspect(metadata);
    if (const std::string why = file::why_not_archived(metadata, found); !why.empty())
        throw Error(Fault::storage, EBADMSG, "read", "", made.name + ": " + why);
    made.format = file::contents_of(found.repaired).format;
    return made;
}

std::optional<std::int64_t> earliest(const Part& part)
{
    std::optional<std::int64_t> found;
    for (const Capture& one : part.captures)
        if (one.utc_ns && one.rate)
            found = std::min(found.value_or(*one.utc_ns), *one.utc_ns);
    return found;
}

/// Returns the line of a part. Its global object has only the keys that differ from `common`.
Json line_of(const Part& part, const Json& common)
{
    Json words = file::parse_metadata(part.text, "");
    const Json global = std::exchange(words.at("global"), Json::object());
    Json without = Json::array();
    for (const auto& [key, value] : global.items())
        if (const auto at = common.find(key); at == common.end() || *at != value)
            words["global"][key] = value;
    for (const auto& [key, value] : common.items())
        if (!global.contains(key))
            without.push_back(key);
    Json line{{"meta", {part.metadata.size, part.metadata.modified_ns, part.metadata.etag}},
              {"words", std::move(words)}};
    if (!without.empty())
        line["without"] = std::move(without);
    return line;
}

/// Returns the line with the search keys of a recording's parts, one array per key.
Json columns_of(const Series& series)
{
    Json names = Json::array(), bytes = Json::array(), times = Json::array();
    for (const Part& part : series.parts) {
        names.push_back(part.name.substr(std::min(series.name.size() + 1, part.name.size())));
        bytes.push_back(part.data_bytes);
        times.push_back(or_null(earliest(part)));
    }
    return {{"part", std::move(names)}, {"bytes", std::move(bytes)}, {"utc_ns", std::move(times)}};
}

IndexedPart part_in(const Json& line, const Json& common)
{
    const Json& meta = line.at("meta");
    Json words = line.at("words");
    Json global = common;
    if (const auto without = line.find("without"); without != line.end())
        for (const Json& key : *without)
            global.erase(key.get<std::string>());
    global.update(words.at("global"));
    words["global"] = std::move(global);
    return {{meta.at(0).get<std::uint64_t>(), meta.at(1).get<std::int64_t>(),
             meta.at(2).get<std::string>()},
            words.dump()};
}

/// Removes the next line from the text and returns it.
std::string_view next_line(std::string_view& text)
{
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    return line;
}

std::string hash_of(std::string_view text)
{
    file::Sha512 hash;
    hash.add(std::as_bytes(std::span(text)));
    return hash.finish();
}

/// Checks the version and the hash of an index, and returns its second line. `index` then begins
/// with the third line.
Json head_in(std::string_view& index)
{
    const Json first = file::parse_metadata(next_line(index), "");
    const auto version = first.is_object() ? first.find(kVersionKey) : first.end();
    if (version == first.end() || *version != Json(kVersion))
        throw Error(Fault::storage, EBADMSG, "read", "",
                    "it is not an index of version " + std::to_string(kVersion));
    if (!file::same_hash(hash_of(index), first.at("sha512").get<std::string>()))
        throw Error(Fault::storage, EBADMSG, "read", "",
                    "its SHA-512 differs from the one in its first line");
    return file::parse_metadata(next_line(index), "");
}

} // namespace

std::string index_of(const Contents& found, std::int64_t as_of_ns)
{
    Json head{{"as_of_ns", as_of_ns}, {"unfinished", found.unfinished}};
    head["damaged"] = Json::array();
    for (const ArchiveProblem& one : found.damaged)
        head["damaged"].push_back({one.name, one.what});
    head["recordings"] = Json::array();
    std::string lines;
    for (const Series& one : found.recordings) {
        Json common = common_global(one);
        lines += columns_of(one).dump() + '\n';
        for (const Part& part : one.parts)
            lines += line_of(part, common).dump() + '\n';
        head["recordings"].push_back(summary_json(one.summary(), std::move(common)));
    }
    lines.insert(0, head.dump() + '\n');
    return Json{{kVersionKey, kVersion}, {"sha512", hash_of(lines)}}.dump() + '\n' + lines;
}

IndexedListing listing_in(std::string_view index)
try {
    const Json head = head_in(index);
    IndexedListing made;
    made.as_of_ns = head.at("as_of_ns").get<std::int64_t>();
    made.unfinished = head.at("unfinished").get<std::vector<std::string>>();
    for (const Json& one : head.at("damaged"))
        made.damaged.push_back({one.at(0).get<std::string>(), one.at(1).get<std::string>()});
    for (const Json& one : head.at("recordings"))
        made.recordings.push_back(summary_in(one));
    return made;
} catch (const Json::exception&) {
    throw Error(Fault::storage, EBADMSG, "read", "", "it is damaged");
} catch (const std::out_of_range&) {
    throw Error(Fault::storage, EBADMSG, "read", "", "it is damaged");
}

Known parts_in(std::string_view index)
try {
    const Json head = head_in(index);
    Known found;
    for (const Json& one : head.at("recordings")) {
        const auto name = one.at("name").get<std::string>();
        const Json columns = file::parse_metadata(next_line(index), "");
        for (const Json& at : columns.at("part")) {
            const auto part = at.get<std::string>();
            const Json line = file::parse_metadata(next_line(index), "");
            found.insert_or_assign(part.empty() ? name : name + "." + part,
                                   part_in(line, one.at("global")));
        }
    }
    return found;
} catch (const Error&) {
    return {};
} catch (const Json::exception&) {
    return {};
}

} // namespace iio_stream::archive

namespace iio_stream {

ArchiveListing list_archive(const ArchiveConfig& config, const std::function<bool()>& go_on)
{
    return archive::guarded(config, "list", [&] {
        archive::Contents found = archive::contents_of(config, go_on);
        ArchiveListing made;
        made.unfinished = std::move(found.unfinished);
        made.damaged = std::move(found.damaged);
        for (const archive::Series& one : found.recordings)
            made.recordings.push_back(one.summary());
        return made;
    });
}

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
            return archive::listing_in(archive::text_in(*store, archive::kIndex,
                                                        archive::kLongestIndex,
                                                        archive::kIndexTooLong)
                                           .text);
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
