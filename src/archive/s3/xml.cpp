// SPDX-License-Identifier: MIT
#include "archive/s3/xml.hpp"

#include "archive/s3/libraries.hpp"
#include "iio_stream/error.hpp"

#include <cerrno>
#include <memory>
#include <new>

namespace iio_stream::archive {

namespace {

constexpr std::size_t kDeepest = 8;

struct Building {
    XML_Parser parser = nullptr;
    Element root;
    std::vector<Element> open;
    const char* refused = nullptr;

    void refuse(const char* why) noexcept
    {
        refused = why;
        expat().stop(parser, XML_FALSE);
    }
};

void XMLCALL begin(void* user, const XML_Char* name, const XML_Char**)
{
    auto& b = *static_cast<Building*>(user);
    if (b.open.size() == kDeepest)
        return b.refuse("it is nested too deep");
    const std::string_view full = name;
    const std::string_view local = full.substr(full.find(':') + 1);
    if (local.empty())
        return b.refuse("an element has no name");
    try {
        b.open.push_back({std::string(local), "", {}});
    } catch (const std::bad_alloc&) {
        b.refuse("no memory");
    }
}

void XMLCALL end(void* user, const XML_Char*)
{
    auto& b = *static_cast<Building*>(user);
    if (b.refused != nullptr)
        return;
    try {
        Element done = std::move(b.open.back());
        b.open.pop_back();
        if (b.open.empty())
            b.root = std::move(done);
        else
            b.open.back().children.push_back(std::move(done));
    } catch (const std::bad_alloc&) {
        b.refuse("no memory");
    }
}

void XMLCALL add_text(void* user, const XML_Char* text, int length)
{
    auto& b = *static_cast<Building*>(user);
    if (b.refused != nullptr || b.open.empty())
        return;
    try {
        b.open.back().text.append(text, static_cast<std::size_t>(length));
    } catch (const std::bad_alloc&) {
        b.refuse("no memory");
    }
}

void XMLCALL refuse_doctype(void* user, const XML_Char*, const XML_Char*, const XML_Char*, int)
{
    static_cast<Building*>(user)->refuse("it has a document type");
}

} // namespace

std::string_view Element::value(std::string_view child) const noexcept
{
    for (const Element& one : children)
        if (one.name == child)
            return one.text;
    return {};
}

Element parse_xml(std::string_view text, const std::string& of)
{
    const Expat& x = expat();
    const std::unique_ptr<XML_ParserStruct, decltype(x.free)> parser(x.create(nullptr), x.free);
    if (!parser)
        throw std::bad_alloc();
    Building building;
    building.parser = parser.get();
    x.set_user_data(parser.get(), &building);
    x.on_element(parser.get(), &begin, &end);
    x.on_text(parser.get(), &add_text);
    x.on_doctype(parser.get(), &refuse_doctype, nullptr);
    const bool good =
        x.parse(parser.get(), text.data(), static_cast<int>(text.size()), 1) == XML_STATUS_OK;
    if (!good || building.refused != nullptr)
        throw Error(Fault::storage, EBADMSG, "read the answer of", of,
                    building.refused == nullptr ? "it is not XML" : building.refused,
                    "is that the address of an S3 store?");
    return std::move(building.root);
}

} // namespace iio_stream::archive
