// SPDX-License-Identifier: MIT
// The device of support/fake_usb.cpp, as libusb reports it.
#include "usb/descriptors.hpp"

#include <libusb.h>

struct libusb_context {};
struct libusb_device_handle {};

namespace {

using namespace iio_stream;

libusb_device_handle the_handle;

libusb_endpoint_descriptor endpoint(unsigned char address)
{
    libusb_endpoint_descriptor d{};
    d.bEndpointAddress = address;
    d.wMaxPacketSize = 1024;
    return d;
}

const libusb_endpoint_descriptor kEndpoints[] = {endpoint(LIBUSB_ENDPOINT_IN | 1), endpoint(2)};

} // namespace

extern "C" {

int libusb_init(libusb_context** context)
{
    *context = new libusb_context;
    return 0;
}

void libusb_exit(libusb_context* context)
{
    delete context;
}

void libusb_free_device_list(libusb_device** list, int)
{
    delete[] list;
}

int libusb_get_device_descriptor(libusb_device*, libusb_device_descriptor* device)
{
    *device = {};
    device->idVendor = 0x1d6b;
    device->idProduct = 0x0104;
    device->iSerialNumber = 1;
    return 0;
}

int libusb_get_active_config_descriptor(libusb_device*, libusb_config_descriptor** config)
{
    static const libusb_interface_descriptor setting = [] {
        libusb_interface_descriptor d{};
        d.bInterfaceClass = usb::kInterfaceClass;
        d.bInterfaceSubClass = usb::kInterfaceSubclass;
        d.bInterfaceProtocol = usb::kInterfaceProtocol;
        d.bNumEndpoints = 2;
        d.endpoint = kEndpoints;
        return d;
    }();
    static const libusb_interface interface {
        &setting, 1
    };
    *config = new libusb_config_descriptor{};
    (*config)->bNumInterfaces = 1;
    (*config)->interface = &interface;
    return 0;
}

void libusb_free_config_descriptor(libusb_config_descriptor* config)
{
    delete config;
}

int libusb_open(libusb_device*, libusb_device_handle** handle)
{
    *handle = &the_handle;
    return 0;
}

void libusb_close(libusb_device_handle*) {}

int libusb_get_string_descriptor_ascii(libusb_device_handle*, uint8_t, unsigned char* data, int)
{
    *data = '0';
    return 1;
}

int libusb_claim_interface(libusb_device_handle*, int)
{
    return 0;
}

int libusb_clear_halt(libusb_device_handle*, unsigned char)
{
    return 0;
}

void libusb_free_pollfds(const libusb_pollfd** list)
{
    delete *list;
    delete[] list;
}

const char* libusb_error_name(int)
{
    return "an error of the fake board";
}

libusb_transfer* libusb_alloc_transfer(int)
{
    return new libusb_transfer{};
}

void libusb_free_transfer(libusb_transfer* transfer)
{
    delete transfer;
}

} // extern "C"
