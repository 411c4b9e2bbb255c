// SPDX-License-Identifier: MIT
#include "usb/descriptors.hpp"

#include "framing/bytes.hpp"

#include <linux/usb/ch9.h>
#include <linux/usb/functionfs.h>

namespace iio_stream::usb {

namespace {

enum class Speed { full, high, super };

constexpr unsigned kEndpoints[] = {USB_DIR_IN | 1, USB_DIR_OUT | 2, USB_DIR_IN | 3};
constexpr unsigned kBurst = 15; // sixteen packets at a time
constexpr std::string_view kGuidName = "DeviceInterfaceGUID";
constexpr std::string_view kGuid = "{7d1c1c0e-5f0b-4e0a-9a53-1105ab1e0001}";

unsigned packet_bytes(Speed speed)
{
    return speed == Speed::full ? 64 : speed == Speed::high ? 512 : 1024;
}

void add_interface(framing::ByteWriter& out, Speed speed)
{
    out.u8(USB_DT_INTERFACE_SIZE).u8(USB_DT_INTERFACE).u8(0).u8(0).u8(std::size(kEndpoints));
    out.u8(kInterfaceClass).u8(kInterfaceSubclass).u8(kInterfaceProtocol).u8(1);
    for (const unsigned address : kEndpoints) {
        out.u8(USB_DT_ENDPOINT_SIZE).u8(USB_DT_ENDPOINT).u8(address).u8(USB_ENDPOINT_XFER_BULK);
        out.u16(packet_bytes(speed)).u8(0);
        if (speed == Speed::super)
            out.u8(USB_DT_SS_EP_COMP_SIZE).u8(USB_DT_SS_ENDPOINT_COMP).u8(kBurst).u8(0).u16(0);
    }
}

// Adds the compatible ID "WINUSB" of the interface, and the GUID by which Windows programs find the
// interface.
void add_windows(framing::ByteWriter& out)
{
    constexpr unsigned kVersion = 0x0100, kCompatible = 4, kProperties = 5, kHeadBytes = 11;
    constexpr unsigned kText = 1; // REG_SZ
    out.u8(0).u32(kHeadBytes + 24).u16(kVersion).u16(kCompatible).u8(1).u8(0);
    out.u8(0).u8(1).text("WINUSB").zeros(2 + 8 + 6);
    const std::size_t property = 14 + kGuidName.size() + 1 + kGuid.size() + 1;
    out.u8(0).u32(kHeadBytes + property).u16(kVersion).u16(kProperties).u16(1);
    out.u32(property).u32(kText).u16(kGuidName.size() + 1).text(kGuidName).u8(0);
    out.u32(kGuid.size() + 1).text(kGuid).u8(0);
}

} // namespace

std::vector<std::byte> function_descriptors(int eventfd)
{
    constexpr unsigned kPlain = 1 + std::size(kEndpoints);
    constexpr unsigned kWithCompanions = 1 + 2 * std::size(kEndpoints);
    framing::ByteWriter body;
    body.u32(static_cast<unsigned>(eventfd));
    body.u32(kPlain).u32(kPlain).u32(kWithCompanions).u32(2);
    for (const Speed speed : {Speed::full, Speed::high, Speed::super})
        add_interface(body, speed);
    add_windows(body);
    framing::ByteWriter all;
    all.u32(FUNCTIONFS_DESCRIPTORS_MAGIC_V2).u32(12 + body.size());
    all.u32(FUNCTIONFS_HAS_FS_DESC | FUNCTIONFS_HAS_HS_DESC | FUNCTIONFS_HAS_SS_DESC |
            FUNCTIONFS_HAS_MS_OS_DESC | FUNCTIONFS_EVENTFD);
    return all.append(body.bytes()).bytes();
}

std::vector<std::byte> function_strings(std::string_view interface_name)
{
    constexpr unsigned kEnglish = 0x0409;
    framing::ByteWriter all;
    all.u32(FUNCTIONFS_STRINGS_MAGIC).u32(16 + 2 + interface_name.size() + 1).u32(1).u32(1);
    return all.u16(kEnglish).text(interface_name).u8(0).bytes();
}

} // namespace iio_stream::usb
