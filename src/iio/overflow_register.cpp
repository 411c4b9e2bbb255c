// SPDX-License-Identifier: MIT
#include "iio/overflow_register.hpp"

#include "iio_stream/error.hpp"
#include "sys/event.hpp"
#include "sys/files.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>

namespace iio_stream::iio {

namespace {

constexpr const char* kDebugfs = "/sys/kernel/debug/iio/";
constexpr unsigned kVersion = 0x00, kXflow = 0x88;
constexpr unsigned kLatestMajor = 0xff;
constexpr unsigned kAdiConverterCore =
    0x80000000; ///< ADI's kernels: the core, not the chip behind it
constexpr unsigned kKnownBits = 0x7;

std::string hex(unsigned value)
{
    std::array<char, 16> text;
    std::snprintf(text.data(), text.size(), "0x%x", value);
    return text.data();
}

} // namespace

std::optional<OverflowRegister> OverflowRegister::find(const std::string& device_id,
                                                       std::string& why)
{
    const std::string dir = kDebugfs + device_id;
    std::string backend;
    for (const std::string& name : sys::list_directory(dir))
        if (name.starts_with("backend") && backend.empty())
            backend = dir + "/" + name + "/direct_reg_access";
    OverflowRegister candidates[] = {{backend, 0}, {dir + "/direct_reg_access", kAdiConverterCore}};
    for (OverflowRegister& candidate : candidates) {
        if (candidate.path_.empty() || !sys::path_exists(candidate.path_))
            continue;
        try {
            const std::int64_t began = sys::monotonic_ns();
            const unsigned bits = candidate.is_core() ? candidate.read(kXflow) : ~0U;
            candidate.access_ns_ = (sys::monotonic_ns() - began) / 2;
            if ((bits & ~kKnownBits) == 0)
                return candidate;
            why = candidate.path_ + " is not a converter core's";
        } catch (const Error& error) {
            why = error.what();
        }
    }
    if (why.empty())
        why = sys::path_exists(kDebugfs) ? "the device has no overflow register"
                                         : "debugfs is not mounted, or not readable, at "
                                           "/sys/kernel/debug";
    return std::nullopt;
}

unsigned OverflowRegister::read(unsigned address) const
{
    sys::write_text(path_, hex(core_ + address));
    const std::string text = sys::read_text(path_).value_or("0");
    return static_cast<unsigned>(std::strtoul(text.c_str(), nullptr, 0));
}

// ADI's cores have major << 16 | minor << 8 | patch there. A chip's registers are narrower, or read
// as all bits clear or set.
bool OverflowRegister::is_core() const
{
    const unsigned version = read(kVersion);
    return version >> 16 != 0 && version >> 16 <= kLatestMajor;
}

bool OverflowRegister::is_set(Bit bit) const
{
    return (read(kXflow) & static_cast<unsigned>(bit)) != 0;
}

bool OverflowRegister::take(Bit bit) const
{
    if (!is_set(bit))
        return false;
    // Writing a bit back clears it.
    sys::write_text(path_, hex(core_ + kXflow) + " " + hex(static_cast<unsigned>(bit)));
    return true;
}

} // namespace iio_stream::iio
