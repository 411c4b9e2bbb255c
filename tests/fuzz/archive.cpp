// SPDX-License-Identifier: MIT
// The answers of an object store, or of any other server at its address.
#include "archive/index.hpp"
#include "archive/s3/xml.hpp"
#include "file/sigmf/metadata_reader.hpp"
#include "fuzz/text.hpp"
#include "iio_stream/error.hpp"

#include <algorithm>

namespace iio_stream::fuzz {

namespace {

std::size_t depth_of(const archive::Element& element)
{
    std::size_t deepest = 0;
    for (const archive::Element& child : element.children)
        deepest = std::max(deepest, depth_of(child));
    return deepest + 1;
}

/// Checks that metadata come out of an index as they went into it.
void comes_back(const std::string& text)
{
    std::vector<ArchiveProblem> damaged;
    std::optional<archive::Part> part = archive::part_of("a.0001", text);
    if (!part)
        return;
    archive::set_size(*part, 4096);
    part->text = text;
    part->metadata = {text.size(), 1, "etag"};
    archive::Contents contents;
    contents.recordings = archive::series_of({*part, *part}, damaged);
    const std::string index = archive::index_of(contents, 1);
    const IndexedListing listed = archive::listing_in(index);
    holds(listed.recordings.size() == contents.recordings.size(), "an index lists all recordings");
    for (const archive::Series& one : contents.recordings)
        holds(listed.recordings[0].samples == one.summary().samples &&
                  listed.recordings[0].format.name() == one.parts[0].format.name(),
              "an index lists the facts of the metadata");
    const archive::Known known = archive::parts_in(index);
    if (contents.recordings.empty() || known.empty()) // nested too deeply for an index
        return;
    holds(file::parse_metadata(known.begin()->second.text, "") == file::parse_metadata(text, "") &&
              known.begin()->second.metadata.etag == "etag",
          "metadata come out of an index as they went into it");
}

} // namespace

void archive_index(std::span<const std::byte> input)
{
    const std::string text(reinterpret_cast<const char*>(input.data()), input.size());
    try {
        (void)archive::parts_in(text);
        (void)archive::listing_in(text);
    } catch (const Error& error) {
        holds(error.code() == std::errc::bad_message || error.fault() == Fault::usage,
              "an invalid index is a bad message");
    }
    try {
        comes_back(text);
    } catch (const Error&) { // not metadata, or more samples than the data
    }
}

void store_answer(std::span<const std::byte> input)
{
    const std::string_view text(reinterpret_cast<const char*>(input.data()), input.size());
    try {
        const archive::Element root = archive::parse_xml(text, "s3://bucket/key");
        holds(depth_of(root) <= 8, "an answer is not nested too deeply");
        holds(!root.name.empty() && root.value(root.name).size() <= input.size(),
              "an answer contains only its own bytes");
    } catch (const Error& error) {
        holds(error.code() == std::errc::bad_message, "an invalid answer is a bad message");
    }
}

} // namespace iio_stream::fuzz
