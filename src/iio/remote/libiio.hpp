// SPDX-License-Identifier: MIT
// The part of libiio 0.x's interface that is used here. libiio is loaded only when a remote context
// is opened, because most machines do not need it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <sys/types.h>

struct iio_buffer;
struct iio_channel;
struct iio_context;
struct iio_context_info;
struct iio_data_format;
struct iio_device;
struct iio_scan_context;

namespace iio_stream::iio {

/// The layout of struct iio_data_format; versions of libiio 0.x only append members to it.
struct DataFormat {
    unsigned length, bits, shift;
    bool is_signed, is_fully_defined, is_be, with_scale;
    double scale;
    unsigned repeat;
};

/// The functions of libiio, without the prefix iio_. tests/unit/iio/test_libiio.cpp compares them
/// with <iio.h>.
struct Libiio {
    /// Loads libiio.so.0 on the first call. Throws a device Error whose hint names the package to
    /// install.
    static const Libiio& get();
    /// Returns a function of libiio or of a library that it is linked with; null if there is none.
    void* find(const char* symbol) const noexcept;

    iio_context* (*create_context_from_uri)(const char*);
    void (*context_destroy)(iio_context*);
    unsigned (*context_get_devices_count)(const iio_context*);
    iio_device* (*context_get_device)(const iio_context*, unsigned);
    int (*context_set_timeout)(iio_context*, unsigned);

    iio_scan_context* (*create_scan_context)(const char*, unsigned);
    void (*scan_context_destroy)(iio_scan_context*);
    ssize_t (*scan_context_get_info_list)(iio_scan_context*, iio_context_info***);
    void (*context_info_list_free)(iio_context_info**);
    const char* (*context_info_get_uri)(const iio_context_info*);
    const char* (*context_info_get_description)(const iio_context_info*);

    const char* (*device_get_id)(const iio_device*);
    const char* (*device_get_name)(const iio_device*);
    const char* (*device_get_label)(const iio_device*); ///< null before 0.22
    unsigned (*device_get_channels_count)(const iio_device*);
    iio_channel* (*device_get_channel)(const iio_device*, unsigned);
    unsigned (*device_get_attrs_count)(const iio_device*);
    const char* (*device_get_attr)(const iio_device*, unsigned);
    ssize_t (*device_attr_read)(const iio_device*, const char*, char*, std::size_t);
    ssize_t (*device_attr_write)(const iio_device*, const char*, const char*);
    ssize_t (*device_get_sample_size)(const iio_device*);
    int (*device_set_kernel_buffers_count)(const iio_device*, unsigned);
    iio_buffer* (*device_create_buffer)(const iio_device*, std::size_t, bool);

    const char* (*channel_get_id)(const iio_channel*);
    const char* (*channel_get_name)(const iio_channel*);
    bool (*channel_is_output)(const iio_channel*);
    bool (*channel_is_scan_element)(const iio_channel*);
    const iio_data_format* (*channel_get_data_format)(const iio_channel*);
    long (*channel_get_index)(const iio_channel*);
    unsigned (*channel_get_attrs_count)(const iio_channel*);
    const char* (*channel_get_attr)(const iio_channel*, unsigned);
    const char* (*channel_attr_get_filename)(const iio_channel*, const char*);
    ssize_t (*channel_attr_read)(const iio_channel*, const char*, char*, std::size_t);
    ssize_t (*channel_attr_write)(const iio_channel*, const char*, const char*);
    void (*channel_enable)(iio_channel*);
    void (*channel_disable)(iio_channel*);

    ssize_t (*buffer_refill)(iio_buffer*);
    ssize_t (*buffer_push_partial)(iio_buffer*, std::size_t);
    void (*buffer_cancel)(iio_buffer*);
    void* (*buffer_start)(const iio_buffer*);
    void* (*buffer_end)(const iio_buffer*);
    void (*buffer_destroy)(iio_buffer*);

private:
    Libiio();
    void* library_; ///< never unloaded: its threads and libxml2's global state cannot be removed
};

/// While the object exists, libxml2 prints nothing on this thread. libiio uses libxml2 to parse the
/// XML of a context, and libxml2 writes errors to stderr, with unescaped quotations of the remote
/// text.
class SilentXml {
public:
    explicit SilentXml(const Libiio& libiio) noexcept;
    SilentXml(const SilentXml&) = delete;
    ~SilentXml();

private:
    using Handler = void (*)(void*, const char*, ...);
    void (*set_)(void*, Handler); ///< libxml2's function; null if libiio is built without it
    Handler handler_ = nullptr;   ///< the handler that the program had set
    void* context_ = nullptr;
};

} // namespace iio_stream::iio
