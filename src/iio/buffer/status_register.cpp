// SPDX-License-Identifier: MIT
#include "iio/buffer/status_register.hpp"

#include "iio_stream/error.hpp"
#include "sys/event.hpp"
#include "sys/fail.hpp"
#include "sys/files.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <unistd.h>

namespace iio_stream::iio {

namespace {

constexpr const char* kDebugfs = "/sys/kernel/debug/iio/";
constexpr unsigned kVersion = 0x00, kXflow = 0x88;
constexpr unsigned kLatestMajor = 0xff;
/// In ADI's kernels, this offset selects the core instead of the chip behind it.
constexpr unsigned kAdiConverterCore = 0x80000000;
constexpr unsigned kKnownBits = 0x7;
/// Limits in nanoseconds: an access that takes less than kFastAccess or more than kSlowAccess is
/// not measured again.
constexpr std::int64_t kFastAccess = 20'000, kSlowAccess = 5'000'000;

std::string hex(unsigned value)
{
    std::array<char, 16> text;
    std::snprintf(text.data(), text.size(), "0x%x", value);
    return text.data();
}

} // namespace

std::optional<StatusRegister> StatusRegister::find(const std::string& device_id, std::string& why)
{
    const std::string dir = kDebugfs + device_id;
    std::string backend;
    for (const std::string& name : sys::list_directory(dir))
        if (name.starts_with("backend") && backend.empty())
            backend = dir + "/" + name + "/direct_reg_access";
    const std::array<std::pair<std::string, unsigned>, 2> places{
        {{backend, 0}, {dir + "/direct_reg_access", kAdiConverterCore}}};
    for (const auto& [path, core] : places) {
        if (path.empty() || !sys::path_exists(path))
            continue;
        try {
            StatusRegister candidate(path, core);
            const unsigned bits = candidate.is_core() ? candidate.measured_read(kXflow) : ~0U;
            if ((bits & ~kKnownBits) == 0)
                return candidate;
            why = candidate.path_ + " does not belong to a converter core";
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

StatusRegister::StatusRegister(std::string path, unsigned core)
    : path_(std::move(path)), core_(core), file_(sys::open_file(path_, O_RDWR))
{}

void StatusRegister::write(const std::string& text) const
{
    if (::pwrite(file_.get(), text.data(), text.size(), 0) < 0)
        sys::fail(errno, "write", path_ + " = " + text);
}

unsigned StatusRegister::read(unsigned address) const
{
    write(hex(core_ + address));
    return read_again();
}

// Measures the fastest of a few accesses: the first one fills caches, and any can be interrupted.
unsigned StatusRegister::measured_read(unsigned address)
{
    unsigned value = 0;
    access_ns_ = INT64_MAX;
    for (int i = 0; i < 3 && (i == 0 || (access_ns_ > kFastAccess && access_ns_ < kSlowAccess));
         ++i) {
        const std::int64_t began = sys::monotonic_ns();
        value = read(address);
        access_ns_ = std::min(access_ns_, sys::monotonic_ns() - began);
    }
    return value;
}

unsigned StatusRegister::read_again() const
{
    std::array<char, 16> text{};
    if (::pread(file_.get(), text.data(), text.size() - 1, 0) < 0)
        sys::fail(errno, "read", path_);
    return static_cast<unsigned>(std::strtoul(text.data(), nullptr, 0));
}

// The version register of ADI's cores holds major << 16 | minor << 8 | patch. A chip's registers
// are narrower, or read as all bits clear or set.
bool StatusRegister::is_core() const
{
    const unsigned version = read(kVersion);
    return version >> 16 != 0 && version >> 16 <= kLatestMajor;
}

bool StatusRegister::is_set(Bit bit) const
{
    return (read(kXflow) & static_cast<unsigned>(bit)) != 0;
}

bool StatusRegister::is_set_at_last_address(Bit bit) const
{
    return (read_again() & static_cast<unsigned>(bit)) != 0;
}

bool StatusRegister::take(Bit bit) const
{
    if (!is_set(bit))
        return false;
    // Writing a bit back clears it.
    write(hex(core_ + kXflow) + " " + hex(static_cast<unsigned>(bit)));
    return true;
}

} // namespace iio_stream::iio
