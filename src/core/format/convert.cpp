// SPDX-License-Identifier: MIT
#include "core/format/convert_values.hpp"
#include "core/format/rows.hpp"
#include "core/format/stored_value.hpp"
#include "iio_stream/error.hpp"
#include "iio_stream/format.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

namespace iio_stream {

/// Describes how a Converter converts.
struct detail::ConversionPlan {
    ConversionPlan(const Format& from, const Format& to);

    bool same_types; ///< values are only copied
    bool uniform;    ///< all channels of a format have the same type
    Rows from, to;   ///< the values of a sample, if they are adjacent; otherwise of 0 bytes
    /// For each channel; empty if its values are copied, or converted one by one.
    std::vector<std::optional<ValueConverter>> values;
};

namespace {

using detail::kValuesAtOnce;
using detail::Rows;
using Number = ScanType::Number;

// An integer channel's value as a signed number with a full scale of 2^63.
std::int64_t load_integer(const ScanType& type, const std::byte* at)
{
    const std::uint64_t raw = detail::load_storage(type, at) >> type.shift << (64 - type.bits);
    const std::uint64_t offset =
        type.number == Number::unsigned_integer ? std::uint64_t{1} << 63 : 0;
    return static_cast<std::int64_t>(raw ^ offset); // offset binary becomes two's complement
}

double load_real(const ScanType& type, const std::byte* at)
{
    const std::uint64_t raw = detail::load_storage(type, at);
    return type.bits == 64 ? std::bit_cast<double>(raw)
                           : double{std::bit_cast<float>(static_cast<std::uint32_t>(raw))};
}

void store_integer(const ScanType& type, std::int64_t value, std::byte* at)
{
    const unsigned drop = 64 - type.bits;
    if (drop != 0) {
        const std::int64_t half = std::int64_t{1} << (drop - 1);
        if (value > INT64_MAX - half)
            value = INT64_MAX; // rounding up would wrap: saturate
        else
            value += half;
    }
    std::uint64_t raw = static_cast<std::uint64_t>(value) >> drop;
    if (type.number == Number::unsigned_integer)
        raw ^= std::uint64_t{1} << (type.bits - 1);
    detail::store_value(type, raw, at);
}

void store_real(const ScanType& type, double value, std::byte* at)
{
    const std::uint64_t raw = type.bits == 64
                                  ? std::bit_cast<std::uint64_t>(value)
                                  : std::bit_cast<std::uint32_t>(static_cast<float>(value));
    detail::store_value(type, raw, at);
}

// Converts one value between any two scan types, full scale to full scale. Integers are rounded to
// nearest (ties up) and saturate. Before a floating-point value becomes an integer, it is clamped
// to [-1, 1], and NaN becomes 0.
void convert_value(const ScanType& from, const std::byte* in, const ScanType& to, std::byte* out)
{
    const bool from_real = from.number == Number::floating;
    const bool to_real = to.number == Number::floating;
    if (from_real && to_real)
        return store_real(to, load_real(from, in), out);
    if (!from_real && !to_real)
        return store_integer(to, load_integer(from, in), out);
    if (to_real)
        return store_real(to, std::ldexp(static_cast<double>(load_integer(from, in)), -63), out);
    const double real = load_real(from, in);
    // NaN becomes 0, because its conversion to an integer is undefined.
    const double scaled = std::isnan(real) ? 0.0 : std::ldexp(std::clamp(real, -1.0, 1.0), 63);
    // Round down, not towards 0: a value just past the midpoint must not become a tie, which
    // store_integer() would round the other way.
    double whole = std::floor(scaled);
    if (to.bits == 64 && scaled - whole >= 0.5)
        ++whole;
    store_integer(to, whole >= 0x1p63 ? INT64_MAX : static_cast<std::int64_t>(whole), out);
}

// Returns the rows that the values of the channels form if they are adjacent.
Rows rows_of(const Format& format)
{
    std::size_t end = format.channels[0].offset;
    for (const Channel& channel : format.channels) {
        if (channel.offset != end)
            return {};
        end += channel.type.bytes();
    }
    return {format.sample_bytes, end - format.channels[0].offset};
}

bool has_one_type(const Format& format)
{
    return std::all_of(format.channels.begin(), format.channels.end(),
                       [&](const Channel& c) { return c.type == format.channels[0].type; });
}

bool same_types(const Format& a, const Format& b)
{
    return std::equal(a.channels.begin(), a.channels.end(), b.channels.begin(), b.channels.end(),
                      [](const Channel& x, const Channel& y) { return x.type == y.type; });
}

void refuse_repeated(const Format& format, std::string_view to)
{
    for (const Channel& channel : format.channels)
        if (channel.type.repeat != 1)
            fail_usage("convert=" + std::string(to) + ": channel " + channel.id +
                       " has repeated values (" + channel.type.text() + ")");
}

// Converts one channel. `in` and `out` are its first values; the others follow in steps.
void convert_channel(const std::optional<detail::ValueConverter>& values, const ScanType& from,
                     const std::byte* in, std::size_t in_step, const ScanType& to, std::byte* out,
                     std::size_t out_step, std::size_t samples) noexcept
{
    if (values)
        return values->convert_rows(in, {in_step, from.bytes()}, out, {out_step, to.bytes()}, 1,
                                    samples);
    if (from == to)
        return detail::move_rows(out, out_step, in, in_step, samples, from.bytes());
    for (std::size_t n = 0; n < samples; ++n)
        convert_value(from, in + n * in_step, to, out + n * out_step);
}

/// Samples that are converted at once if their channels are converted one after the other. The
/// processor's cache still has them for the next channel.
constexpr std::size_t kSamplesAtOnce = kValuesAtOnce;

/// Buffers for which samples are divided at once.
constexpr std::size_t kPartsAtOnce = 8;

/// The values of these buffers, one buffer after the other.
using Parts = std::array<std::byte, kPartsAtOnce * sizeof(detail::Piece)>;

// The number of samples whose values fit into Parts if each of `buffers` buffers gets `bytes` bytes
// of a sample. Few buffers get many samples: that saves calls.
std::size_t samples_at_once(std::size_t buffers, std::size_t width, std::size_t bytes)
{
    const std::size_t whole = kValuesAtOnce / width;
    const std::size_t room = sizeof(Parts) / std::min(buffers, kPartsAtOnce) / bytes;
    return std::max(whole, room / kValuesAtOnce * kValuesAtOnce);
}

// Whether the channels of each buffer can be converted as rows.
bool has_rows(const detail::ConversionPlan& plan, const Rows& rows, std::size_t width)
{
    return plan.uniform && rows.bytes != 0 && width <= kValuesAtOnce &&
           (plan.same_types || plan.values[0]);
}

// Converts at most samples_at_once() samples to the place `done` in the buffers.
void split_piece(const Converter& c, const detail::ConversionPlan& plan, const std::byte* in,
                 std::span<std::byte* const> out, std::size_t done, std::size_t samples) noexcept
{
    const std::size_t width = c.from().channels.size() / out.size();
    const std::size_t in_bytes = width * c.from().channels[0].type.bytes();
    const Rows item = {width * c.to().channels[0].type.bytes(),
                       width * c.to().channels[0].type.bytes()};
    in += c.from().channels[0].offset;
    Parts values;
    for (std::size_t first = 0; first < out.size(); first += kPartsAtOnce) {
        const std::size_t parts = std::min(kPartsAtOnce, out.size() - first);
        std::array<std::byte*, kPartsAtOnce> to;
        for (std::size_t part = 0; part < parts; ++part)
            to[part] = plan.same_types ? out[first + part] + done * item.bytes
                                       : &values[part * samples * in_bytes];
        detail::split_rows({to.data(), parts}, in + first * in_bytes, c.from().sample_bytes,
                           samples, in_bytes);
        for (std::size_t part = 0; part < parts && !plan.same_types; ++part)
            plan.values[0]->convert_rows(to[part], {in_bytes, in_bytes},
                                         out[first + part] + done * item.bytes, item, width,
                                         samples);
    }
}

// Does the reverse of split_piece().
void merge_piece(const Converter& c, const detail::ConversionPlan& plan,
                 std::span<const std::byte* const> in, std::byte* out, std::size_t done,
                 std::size_t samples) noexcept
{
    const std::size_t width = c.to().channels.size() / in.size();
    const std::size_t out_bytes = width * c.to().channels[0].type.bytes();
    const Rows item = {width * c.from().channels[0].type.bytes(),
                       width * c.from().channels[0].type.bytes()};
    out += c.to().channels[0].offset;
    Parts values;
    for (std::size_t first = 0; first < in.size(); first += kPartsAtOnce) {
        const std::size_t parts = std::min(kPartsAtOnce, in.size() - first);
        std::array<const std::byte*, kPartsAtOnce> from;
        for (std::size_t part = 0; part < parts; ++part) {
            from[part] = in[first + part] + done * item.bytes;
            if (plan.same_types)
                continue;
            std::byte* const to = &values[part * samples * out_bytes];
            plan.values[0]->convert_rows(from[part], item, to, {out_bytes, out_bytes}, width,
                                         samples);
            from[part] = to;
        }
        detail::merge_rows(out + first * out_bytes, c.to().sample_bytes, {from.data(), parts},
                           samples, out_bytes);
    }
}

} // namespace

detail::ConversionPlan::ConversionPlan(const Format& a, const Format& b)
    : same_types(iio_stream::same_types(a, b)),
      uniform(has_one_type(a) && has_one_type(b)),
      from(rows_of(a)),
      to(rows_of(b))
{
    for (std::size_t i = 0; i < a.channels.size(); ++i)
        values.push_back(
            ValueConverter::create(a.channels[i].type, b.channels[i].type, has_avx2()));
}

Converter::Converter(const Format& from, std::string_view to) : from_(from)
{
    const bool complex = to.starts_with('c');
    if (complex && !from.is_complex())
        fail_usage("convert=" + std::string(to) + ": the channels are not I/Q pairs",
                   "real formats begin with r");
    refuse_repeated(from, to);
    const std::size_t count = from.channels.size();
    to_ = Format::parse(to, std::to_string(count));
    to_.sample_rate = from.sample_rate;
    for (std::size_t i = 0; i < count; ++i) {
        const ScanType type = to_.channels[i].type;
        to_.channels[i] = from.channels[i];
        to_.channels[i].type = type;
    }
    to_.lay_out();
    plan_ = std::make_shared<detail::ConversionPlan>(from_, to_);
}

Converter::Converter(const Format& from, const Format& to) : from_(from), to_(to)
{
    if (from.channels.size() != to.channels.size() || from.channels.empty())
        fail_usage(std::to_string(from.channels.size()) + " channels cannot become " +
                   std::to_string(to.channels.size()));
    if (!same_types(from, to)) {
        refuse_repeated(from, to.name());
        refuse_repeated(to, to.name());
    }
    plan_ = std::make_shared<detail::ConversionPlan>(from_, to_);
}

void Converter::convert(std::span<const std::byte> in, std::span<std::byte> out) const noexcept
{
    const std::size_t samples = in.size() / from_.sample_bytes, count = from_.channels.size();
    const Rows &from = plan_->from, &to = plan_->to;
    if (from.bytes != 0 && to.bytes != 0) {
        const std::byte* first_in = in.data() + from_.channels[0].offset;
        std::byte* first_out = out.data() + to_.channels[0].offset;
        if (plan_->same_types)
            return detail::move_rows(first_out, to.step, first_in, from.step, samples, from.bytes);
        if (plan_->uniform && plan_->values[0] && count <= kValuesAtOnce)
            return plan_->values[0]->convert_rows(first_in, from, first_out, to, count, samples);
    }
    for (std::size_t done = 0; done < samples; done += kSamplesAtOnce)
        for (std::size_t i = 0; i < count; ++i) {
            const Channel &a = from_.channels[i], &b = to_.channels[i];
            convert_channel(plan_->values[i], a.type,
                            in.data() + done * from_.sample_bytes + a.offset, from_.sample_bytes,
                            b.type, out.data() + done * to_.sample_bytes + b.offset,
                            to_.sample_bytes, std::min(kSamplesAtOnce, samples - done));
        }
}

void Converter::deinterleave(std::span<const std::byte> in,
                             std::span<std::byte* const> out) const noexcept
{
    const std::size_t samples = in.size() / from_.sample_bytes;
    assert(!out.empty() && from_.channels.size() % out.size() == 0 && has_one_type(to_));
    const std::size_t width = from_.channels.size() / out.size(); // channels of a buffer
    const ScanType& to = to_.channels[0].type;
    const bool rows = has_rows(*plan_, plan_->from, width);
    const std::size_t at_once =
        rows ? samples_at_once(out.size(), width, width * from_.channels[0].type.bytes())
             : kSamplesAtOnce;
    for (std::size_t done = 0; done < samples; done += at_once) {
        const std::size_t count = std::min(at_once, samples - done);
        const std::byte* piece = in.data() + done * from_.sample_bytes;
        if (rows)
            split_piece(*this, *plan_, piece, out, done, count);
        else
            for (std::size_t i = 0; i < from_.channels.size(); ++i) {
                const Channel& from = from_.channels[i];
                convert_channel(plan_->values[i], from.type, piece + from.offset,
                                from_.sample_bytes, to,
                                out[i / width] + (done * width + i % width) * to.bytes(),
                                width * to.bytes(), count);
            }
    }
}

void Converter::interleave(std::span<const std::byte* const> in,
                           std::span<std::byte> out) const noexcept
{
    const std::size_t samples = out.size() / to_.sample_bytes;
    assert(!in.empty() && from_.channels.size() % in.size() == 0 && has_one_type(from_));
    const std::size_t width = from_.channels.size() / in.size(); // channels of a buffer
    const ScanType& from = from_.channels[0].type;
    const bool rows = has_rows(*plan_, plan_->to, width);
    const std::size_t at_once =
        rows ? samples_at_once(in.size(), width, width * to_.channels[0].type.bytes())
             : kSamplesAtOnce;
    for (std::size_t done = 0; done < samples; done += at_once) {
        const std::size_t count = std::min(at_once, samples - done);
        std::byte* piece = out.data() + done * to_.sample_bytes;
        if (rows)
            merge_piece(*this, *plan_, in, piece, done, count);
        else
            for (std::size_t i = 0; i < to_.channels.size(); ++i) {
                const Channel& to = to_.channels[i];
                convert_channel(plan_->values[i], from,
                                in[i / width] + (done * width + i % width) * from.bytes(),
                                width * from.bytes(), to.type, piece + to.offset, to_.sample_bytes,
                                count);
            }
    }
}

} // namespace iio_stream
