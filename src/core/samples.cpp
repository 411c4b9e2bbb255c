// SPDX-License-Identifier: MIT
#include "iio_stream/samples.hpp"

#include "iio_stream/error.hpp"

#include <algorithm>
#include <string>

namespace iio_stream::detail {

namespace {

std::string cpp_name(const Type& type)
{
    std::string value;
    if (type.number == ScanType::Number::floating)
        value = type.bits == 32 ? "float" : "double";
    else
        value = (type.number == ScanType::Number::signed_integer ? "std::int" : "std::uint") +
                std::to_string(type.bits) + "_t";
    return type.complex ? "std::complex<" + value + ">" : value;
}

// All values have one type, are adjacent, and have this machine's byte order.
bool is_array(const Format& format)
{
    const ScanType& first = format.channels.front().type;
    return format.sample_bytes == format.channels.size() * first.bytes() && first.repeat == 1 &&
           (!first.big_endian || first.storage_bits == 8) &&
           std::all_of(format.channels.begin(), format.channels.end(), [&](const Channel& channel) {
               return channel.type.number == first.number &&
                      channel.type.storage_bits == first.storage_bits &&
                      channel.type.big_endian == first.big_endian && channel.type.repeat == 1;
           });
}

} // namespace

void check_type(const Format& format, const Type& type)
{
    const std::string wanted = cpp_name(type);
    if (format.channels.empty())
        fail_usage("no values of " + wanted + ": the format of the block is not known",
                   "CpuRead gives its bytes");
    if (!is_array(format))
        fail_usage(
            "no values of " + wanted + ": samples are " + format.name() + ", of more than one type",
            "select channels with channels=, convert them with convert=, or use Reader::read()");
    const ScanType& value = format.channels.front().type;
    const Type kept{value.number, value.storage_bits, type.complex && format.is_complex()};
    if (kept.number == type.number && kept.bits == type.bits && kept.complex == type.complex)
        return;
    const Type all{value.number, value.storage_bits, format.is_complex()};
    fail_usage("no values of " + wanted + ": samples are " + format.name() + ", " + cpp_name(all),
               "use that type, convert= at the endpoint, or Reader::read(), which converts");
}

} // namespace iio_stream::detail
