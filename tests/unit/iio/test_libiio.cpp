// SPDX-License-Identifier: MIT
// The functions that are found by name have the types that libiio's own header declares.
#include "iio/remote/libiio.hpp"

#include <gtest/gtest.h>
#include <iio.h>
#include <type_traits>

namespace {

using iio_stream::iio::DataFormat;
using iio_stream::iio::Libiio;

// The header's attributes are not part of the type.
template <typename Ours, typename Theirs>
constexpr bool kSame = std::is_same_v<std::remove_pointer_t<Ours>, Theirs>;

#define EXPECT_SAME(name) static_assert(kSame<decltype(Libiio::name), decltype(iio_##name)>)
EXPECT_SAME(create_context_from_uri);
EXPECT_SAME(context_destroy);
EXPECT_SAME(context_get_devices_count);
EXPECT_SAME(context_get_device);
EXPECT_SAME(context_set_timeout);
EXPECT_SAME(create_scan_context);
EXPECT_SAME(scan_context_destroy);
EXPECT_SAME(scan_context_get_info_list);
EXPECT_SAME(context_info_list_free);
EXPECT_SAME(context_info_get_uri);
EXPECT_SAME(context_info_get_description);
EXPECT_SAME(device_get_id);
EXPECT_SAME(device_get_name);
EXPECT_SAME(device_get_label);
EXPECT_SAME(device_get_channels_count);
EXPECT_SAME(device_get_channel);
EXPECT_SAME(device_get_attrs_count);
EXPECT_SAME(device_get_attr);
EXPECT_SAME(device_attr_read);
EXPECT_SAME(device_attr_write);
EXPECT_SAME(device_get_sample_size);
EXPECT_SAME(device_set_kernel_buffers_count);
EXPECT_SAME(device_create_buffer);
EXPECT_SAME(channel_get_id);
EXPECT_SAME(channel_get_name);
EXPECT_SAME(channel_is_output);
EXPECT_SAME(channel_is_scan_element);
EXPECT_SAME(channel_get_data_format);
EXPECT_SAME(channel_get_index);
EXPECT_SAME(channel_get_attrs_count);
EXPECT_SAME(channel_get_attr);
EXPECT_SAME(channel_attr_get_filename);
EXPECT_SAME(channel_attr_read);
EXPECT_SAME(channel_attr_write);
EXPECT_SAME(channel_enable);
EXPECT_SAME(channel_disable);
EXPECT_SAME(buffer_refill);
EXPECT_SAME(buffer_push_partial);
EXPECT_SAME(buffer_cancel);
EXPECT_SAME(buffer_start);
EXPECT_SAME(buffer_end);
EXPECT_SAME(buffer_destroy);
#undef EXPECT_SAME

static_assert(sizeof(DataFormat) == sizeof(iio_data_format));
static_assert(offsetof(DataFormat, bits) == offsetof(iio_data_format, bits));
static_assert(offsetof(DataFormat, shift) == offsetof(iio_data_format, shift));
static_assert(offsetof(DataFormat, is_signed) == offsetof(iio_data_format, is_signed));
static_assert(offsetof(DataFormat, is_be) == offsetof(iio_data_format, is_be));
static_assert(offsetof(DataFormat, repeat) == offsetof(iio_data_format, repeat));

TEST(Libiio, LibiioIsLoadedWithAllItsFunctions)
{
    const Libiio& libiio = Libiio::get();
    EXPECT_EQ(libiio.find("iio_buffer_refill"), reinterpret_cast<void*>(libiio.buffer_refill));
    EXPECT_EQ(libiio.find("iio_no_such_function"), nullptr);
}

} // namespace
