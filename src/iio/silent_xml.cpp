// SPDX-License-Identifier: MIT
#include "iio/silent_xml.hpp"

// Functions of libxml2, which libiio may have been built without.
// NOLINTBEGIN(bugprone-reserved-identifier)
extern "C" {
using XmlErrorFunc = void (*)(void*, const char*, ...);
[[gnu::weak]] void xmlSetGenericErrorFunc(void* context, XmlErrorFunc handler);
[[gnu::weak]] XmlErrorFunc* __xmlGenericError();
[[gnu::weak]] void** __xmlGenericErrorContext();
}
// NOLINTEND(bugprone-reserved-identifier)

namespace iio_stream::iio {

namespace {

void discard(void*, const char*, ...) {}

bool is_there() noexcept
{
    return xmlSetGenericErrorFunc != nullptr && __xmlGenericError != nullptr &&
           __xmlGenericErrorContext != nullptr;
}

} // namespace

SilentXml::SilentXml() noexcept
{
    if (!is_there())
        return;
    handler_ = *__xmlGenericError();
    context_ = *__xmlGenericErrorContext();
    xmlSetGenericErrorFunc(nullptr, &discard);
}

SilentXml::~SilentXml()
{
    if (is_there())
        xmlSetGenericErrorFunc(context_, handler_);
}

} // namespace iio_stream::iio
