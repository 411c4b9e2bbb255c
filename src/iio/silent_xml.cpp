// SPDX-License-Identifier: MIT
#include "iio/silent_xml.hpp"

namespace iio_stream::iio {

namespace {

void discard(void*, const char*, ...) {}

template <typename Function>
Function* find_in(const Libiio& libiio, const char* name) noexcept
{
    return reinterpret_cast<Function*>(libiio.find(name));
}

} // namespace

SilentXml::SilentXml(const Libiio& libiio) noexcept
    : set_(find_in<void(void*, Handler)>(libiio, "xmlSetGenericErrorFunc"))
{
    const auto handler = find_in<Handler*()>(libiio, "__xmlGenericError");
    const auto context = find_in<void**()>(libiio, "__xmlGenericErrorContext");
    if (handler == nullptr || context == nullptr)
        set_ = nullptr;
    if (set_ == nullptr)
        return;
    handler_ = *handler();
    context_ = *context();
    set_(nullptr, &discard);
}

SilentXml::~SilentXml()
{
    if (set_ != nullptr)
        set_(context_, handler_);
}

} // namespace iio_stream::iio
