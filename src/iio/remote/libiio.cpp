// SPDX-License-Identifier: MIT
#include "iio/remote/libiio.hpp"

#include "iio_stream/error.hpp"

#include <cerrno>
#include <dlfcn.h>

namespace iio_stream::iio {

namespace {

constexpr const char* kLibiio = "libiio.so.0";

// libiio 1.x has a different interface and a different library name.
std::string how_to_get_libiio()
{
    void* newer = ::dlopen("libiio.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (newer == nullptr)
        return "sudo apt install libiio0";
    ::dlclose(newer);
    return "this machine has libiio 1.x, which has a different interface; install 0.x beside it: "
           "sudo apt install libiio0";
}

void* load()
{
    void* library = ::dlopen(kLibiio, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        const char* said = ::dlerror();
        const std::string why = said == nullptr ? "" : said; // dlopen() will free `said`
        throw Error(Fault::device, ENOENT, "load", "libiio", why, how_to_get_libiio());
    }
    return library;
}

/// The name of a function. Assigning it to a function pointer looks the function up.
struct Symbol {
    void* library;
    const char* name;
    bool needed = true;

    template <typename Function>
    operator Function*() const
    {
        void* address = ::dlsym(library, name);
        if (address == nullptr && needed)
            throw Error(Fault::device, ENOSYS, "load", "libiio",
                        std::string(kLibiio) + " has no " + name,
                        "0.21 and newer versions have it");
        return reinterpret_cast<Function*>(address);
    }
};

void discard(void*, const char*, ...) {}

template <typename Function>
Function* find_in(const Libiio& libiio, const char* name) noexcept
{
    return reinterpret_cast<Function*>(libiio.find(name));
}

} // namespace

Libiio::Libiio() : library_(load())
{
    const auto function = [this](const char* name) { return Symbol{library_, name}; };
    create_context_from_uri = function("iio_create_context_from_uri");
    context_destroy = function("iio_context_destroy");
    context_get_devices_count = function("iio_context_get_devices_count");
    context_get_device = function("iio_context_get_device");
    context_set_timeout = function("iio_context_set_timeout");

    create_scan_context = function("iio_create_scan_context");
    scan_context_destroy = function("iio_scan_context_destroy");
    scan_context_get_info_list = function("iio_scan_context_get_info_list");
    context_info_list_free = function("iio_context_info_list_free");
    context_info_get_uri = function("iio_context_info_get_uri");
    context_info_get_description = function("iio_context_info_get_description");

    device_get_id = function("iio_device_get_id");
    device_get_name = function("iio_device_get_name");
    device_get_label = Symbol{library_, "iio_device_get_label", false};
    device_get_channels_count = function("iio_device_get_channels_count");
    device_get_channel = function("iio_device_get_channel");
    device_get_attrs_count = function("iio_device_get_attrs_count");
    device_get_attr = function("iio_device_get_attr");
    device_attr_read = function("iio_device_attr_read");
    device_attr_write = function("iio_device_attr_write");
    device_get_sample_size = function("iio_device_get_sample_size");
    device_set_kernel_buffers_count = function("iio_device_set_kernel_buffers_count");
    device_create_buffer = function("iio_device_create_buffer");

    channel_get_id = function("iio_channel_get_id");
    channel_get_name = function("iio_channel_get_name");
    channel_is_output = function("iio_channel_is_output");
    channel_is_scan_element = function("iio_channel_is_scan_element");
    channel_get_data_format = function("iio_channel_get_data_format");
    channel_get_index = function("iio_channel_get_index");
    channel_get_attrs_count = function("iio_channel_get_attrs_count");
    channel_get_attr = function("iio_channel_get_attr");
    channel_attr_get_filename = function("iio_channel_attr_get_filename");
    channel_attr_read = function("iio_channel_attr_read");
    channel_attr_write = function("iio_channel_attr_write");
    channel_enable = function("iio_channel_enable");
    channel_disable = function("iio_channel_disable");

    buffer_refill = function("iio_buffer_refill");
    buffer_push_partial = function("iio_buffer_push_partial");
    buffer_cancel = function("iio_buffer_cancel");
    buffer_start = function("iio_buffer_start");
    buffer_end = function("iio_buffer_end");
    buffer_destroy = function("iio_buffer_destroy");
}

const Libiio& Libiio::get()
{
    static const Libiio library;
    return library;
}

void* Libiio::find(const char* symbol) const noexcept
{
    return ::dlsym(library_, symbol);
}

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
