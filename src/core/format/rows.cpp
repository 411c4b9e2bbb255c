// SPDX-License-Identifier: MIT
#include "core/format/rows.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#if defined(__x86_64__) || defined(__i386__)
#define IIO_STREAM_HAS_AVX2
#endif

namespace iio_stream::detail {

namespace {

// Vectors of 16 bytes, which every x86-64 and arm64 processor has. For other processors, the
// compiler replaces them by single numbers.
constexpr std::size_t kVectorBytes = 16;
typedef std::uint16_t Vector16 __attribute__((vector_size(kVectorBytes)));
typedef std::uint32_t Vector32 __attribute__((vector_size(kVectorBytes)));
typedef std::uint64_t Vector64 __attribute__((vector_size(kVectorBytes)));

template <std::size_t kBytes>
using Word = std::conditional_t<kBytes == 2, std::uint16_t,
                                std::conditional_t<kBytes == 4, std::uint32_t, std::uint64_t>>;
template <std::size_t kBytes>
using Vector =
    std::conditional_t<kBytes == 2, Vector16, std::conditional_t<kBytes == 4, Vector32, Vector64>>;

// Interleaves two vectors: both become one sequence a0, b0, a1, b1…, of which `a` is the first
// half.
[[gnu::always_inline]] inline void zip(Vector16& a, Vector16& b)
{
    const Vector16 low = __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
    b = __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
    a = low;
}

[[gnu::always_inline]] inline void zip(Vector32& a, Vector32& b)
{
    const Vector32 low = __builtin_shufflevector(a, b, 0, 4, 1, 5);
    b = __builtin_shufflevector(a, b, 2, 6, 3, 7);
    a = low;
}

[[gnu::always_inline]] inline void zip(Vector64& a, Vector64& b)
{
    const Vector64 low = __builtin_shufflevector(a, b, 0, 2);
    b = __builtin_shufflevector(a, b, 1, 3);
    a = low;
}

// Does the reverse of zip().
[[gnu::always_inline]] inline void unzip(Vector16& a, Vector16& b)
{
    // x86 can only interleave values of 16 bits. Three times is the reverse of once, because the
    // place of each of the 16 values is a number of four bits, which each call rotates by one.
    zip(a, b);
    zip(a, b);
    zip(a, b);
}

[[gnu::always_inline]] inline void unzip(Vector32& a, Vector32& b)
{
    const Vector32 even = __builtin_shufflevector(a, b, 0, 2, 4, 6);
    b = __builtin_shufflevector(a, b, 1, 3, 5, 7);
    a = even;
}

[[gnu::always_inline]] inline void unzip(Vector64& a, Vector64& b)
{
    zip(a, b); // the same for two values
}

// One step of a division into kParts sequences: every second value of the pairs of vectors that
// are kDistance apart. The steps with the distances 1, 2, 4… make the whole division.
template <std::size_t kDistance, typename V, std::size_t... kIndex>
[[gnu::always_inline]] inline void unzip_step(V* v, std::index_sequence<kIndex...>)
{
    const auto one = [v]<std::size_t kAt>(std::integral_constant<std::size_t, kAt>) {
        if constexpr ((kAt & kDistance) == 0)
            unzip(v[kAt], v[kAt + kDistance]);
    };
    (one(std::integral_constant<std::size_t, kIndex>()), ...);
}

template <std::size_t kDistance, typename V, std::size_t... kIndex>
[[gnu::always_inline]] inline void zip_step(V* v, std::index_sequence<kIndex...>)
{
    const auto one = [v]<std::size_t kAt>(std::integral_constant<std::size_t, kAt>) {
        if constexpr ((kAt & kDistance) == 0)
            zip(v[kAt], v[kAt + kDistance]);
    };
    (one(std::integral_constant<std::size_t, kIndex>()), ...);
}

template <typename V, std::size_t kParts>
[[gnu::always_inline]] inline void unzip_all(V* v)
{
    constexpr auto kAll = std::make_index_sequence<kParts>();
    if constexpr (kParts >= 2)
        unzip_step<1>(v, kAll);
    if constexpr (kParts >= 4)
        unzip_step<2>(v, kAll);
    if constexpr (kParts >= 8)
        unzip_step<4>(v, kAll);
}

template <typename V, std::size_t kParts>
[[gnu::always_inline]] inline void zip_all(V* v)
{
    constexpr auto kAll = std::make_index_sequence<kParts>();
    if constexpr (kParts >= 8)
        zip_step<4>(v, kAll);
    if constexpr (kParts >= 4)
        zip_step<2>(v, kAll);
    if constexpr (kParts >= 2)
        zip_step<1>(v, kAll);
}

template <typename T>
[[gnu::always_inline]] inline T load(const std::byte* from)
{
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

// Fills a vector with successive rows of kRow bytes.
template <std::size_t kRow, typename V>
[[gnu::always_inline]] inline void load_rows(V& to, const std::byte* from, std::size_t step)
{
    if constexpr (kRow == kVectorBytes) {
        std::memcpy(&to, from, kVectorBytes);
    } else {
        [&]<std::size_t... kIndex>(std::index_sequence<kIndex...>)
        {
            const Vector<kRow> rows{load<Word<kRow>>(from + kIndex * step)...};
            std::memcpy(&to, &rows, kVectorBytes);
        }
        (std::make_index_sequence<kVectorBytes / kRow>());
    }
}

template <std::size_t kRow, typename V>
[[gnu::always_inline]] inline void store_rows(std::byte* to, std::size_t step, const V& from)
{
    if constexpr (kRow == kVectorBytes) {
        std::memcpy(to, &from, kVectorBytes);
    } else {
        Vector<kRow> rows;
        std::memcpy(&rows, &from, kVectorBytes);
        [&]<std::size_t... kIndex>(std::index_sequence<kIndex...>)
        {
            const auto one = [&](std::size_t index, Word<kRow> row) {
                std::memcpy(to + index * step, &row, kRow);
            };
            (one(kIndex, rows[kIndex]), ...);
        }
        (std::make_index_sequence<kVectorBytes / kRow>());
    }
}

// Groups of vectors in one turn of the loop, which spares instructions of the loop itself.
template <std::size_t kParts>
constexpr std::size_t kGroups = kParts <= 2 ? 4 : 8 / kParts;

template <std::size_t kBytes, std::size_t kParts>
[[gnu::always_inline]] inline void split_all(std::byte* const* to, const std::byte* from,
                                             std::size_t step, std::size_t rows)
{
    constexpr std::size_t kRow = kBytes * kParts;
    constexpr std::size_t kLanes = kVectorBytes / kBytes; // rows that fill kParts vectors
    constexpr std::size_t kRowsPerVector = kLanes / kParts;
    const auto many = [&]<std::size_t... kIndex>(std::index_sequence<kIndex...>, std::size_t apart)
        __attribute__((always_inline))
    {
        std::byte* const ends[] = {to[kIndex]...};
        std::size_t n = 0;
        const auto group = [&](std::size_t at, const std::byte* first)
            __attribute__((always_inline))
        {
            Vector<kBytes> v[kParts];
            (load_rows<kRow>(v[kIndex], first + kIndex * kRowsPerVector * apart, apart), ...);
            unzip_all<Vector<kBytes>, kParts>(v);
            (std::memcpy(ends[kIndex] + at * kBytes, &v[kIndex], kVectorBytes), ...);
        };
        for (; n + kGroups<kParts> * kLanes <= rows; n += kGroups<kParts> * kLanes) {
            [&]<std::size_t... kGroup>(std::index_sequence<kGroup...>)
                __attribute__((always_inline))
            {
                (group(n + kGroup * kLanes, from + kGroup * kLanes * apart), ...);
            }
            (std::make_index_sequence<kGroups<kParts>>());
            from += kGroups<kParts> * kLanes * apart;
        }
        for (; n < rows; ++n, from += apart)
            (std::memcpy(ends[kIndex] + n * kBytes, from + kIndex * kBytes, kBytes), ...);
    };
    if constexpr (kParts > 1 && kRow < kVectorBytes)
        if (step == kRow) // a vector is loaded at once
            return many(std::make_index_sequence<kParts>(), kRow);
    many(std::make_index_sequence<kParts>(), step);
}

template <std::size_t kBytes, std::size_t kParts>
[[gnu::always_inline]] inline void merge_all(std::byte* to, std::size_t step,
                                             const std::byte* const* from, std::size_t rows)
{
    constexpr std::size_t kRow = kBytes * kParts;
    constexpr std::size_t kLanes = kVectorBytes / kBytes;
    constexpr std::size_t kRowsPerVector = kLanes / kParts;
    const auto many = [&]<std::size_t... kIndex>(std::index_sequence<kIndex...>, std::size_t apart)
        __attribute__((always_inline))
    {
        const std::byte* const begins[] = {from[kIndex]...};
        std::size_t n = 0;
        const auto group = [&](std::size_t at, std::byte * first) __attribute__((always_inline))
        {
            Vector<kBytes> v[kParts];
            (std::memcpy(&v[kIndex], begins[kIndex] + at * kBytes, kVectorBytes), ...);
            zip_all<Vector<kBytes>, kParts>(v);
            (store_rows<kRow>(first + kIndex * kRowsPerVector * apart, apart, v[kIndex]), ...);
        };
        for (; n + kGroups<kParts> * kLanes <= rows; n += kGroups<kParts> * kLanes) {
            [&]<std::size_t... kGroup>(std::index_sequence<kGroup...>)
                __attribute__((always_inline))
            {
                (group(n + kGroup * kLanes, to + kGroup * kLanes * apart), ...);
            }
            (std::make_index_sequence<kGroups<kParts>>());
            to += kGroups<kParts> * kLanes * apart;
        }
        for (; n < rows; ++n, to += apart)
            (std::memcpy(to + kIndex * kBytes, begins[kIndex] + n * kBytes, kBytes), ...);
    };
    if constexpr (kParts > 1 && kRow < kVectorBytes)
        if (step == kRow) // a vector is stored at once
            return many(std::make_index_sequence<kParts>(), kRow);
    many(std::make_index_sequence<kParts>(), step);
}

// The same code for any processor and for those with AVX2, whose instructions have three operands.
struct PlainRows {
    template <std::size_t kBytes, std::size_t kParts>
    static void split(std::byte* const* to, const std::byte* from, std::size_t step,
                      std::size_t rows) noexcept
    {
        split_all<kBytes, kParts>(to, from, step, rows);
    }
    template <std::size_t kBytes, std::size_t kParts>
    static void merge(std::byte* to, std::size_t step, const std::byte* const* from,
                      std::size_t rows) noexcept
    {
        merge_all<kBytes, kParts>(to, step, from, rows);
    }
};

#ifdef IIO_STREAM_HAS_AVX2
struct Avx2Rows {
    template <std::size_t kBytes, std::size_t kParts>
    [[gnu::target("avx2")]] static void split(std::byte* const* to, const std::byte* from,
                                              std::size_t step, std::size_t rows) noexcept
    {
        split_all<kBytes, kParts>(to, from, step, rows);
    }
    template <std::size_t kBytes, std::size_t kParts>
    [[gnu::target("avx2")]] static void
    merge(std::byte* to, std::size_t step, const std::byte* const* from, std::size_t rows) noexcept
    {
        merge_all<kBytes, kParts>(to, step, from, rows);
    }
};
#else
using Avx2Rows = PlainRows;
#endif

// The number of parts, at most `left`, that one pass over the rows can divide: their row fits into
// a vector.
std::size_t parts_at_once(std::size_t bytes, std::size_t left)
{
    std::size_t parts = 1;
    while (2 * parts <= left && 2 * parts * bytes <= kVectorBytes)
        parts *= 2;
    return parts;
}

bool has_vectors(std::size_t bytes)
{
    return bytes == 2 || bytes == 4 || bytes == 8;
}

// Calls `use` with the template arguments for such parts.
template <typename Use>
void with_constants(std::size_t bytes, std::size_t parts, Use use)
{
    const auto with_parts = [&]<std::size_t kBytes>(std::integral_constant<std::size_t, kBytes>) {
        if (parts == 1)
            return use.template operator()<kBytes, 1>();
        if (parts == 2)
            return use.template operator()<kBytes, 2>();
        if constexpr (kBytes <= 4)
            if (parts == 4)
                return use.template operator()<kBytes, 4>();
        if constexpr (kBytes == 2)
            return use.template operator()<kBytes, 8>();
    };
    if (bytes == 2)
        with_parts(std::integral_constant<std::size_t, 2>());
    else if (bytes == 4)
        with_parts(std::integral_constant<std::size_t, 4>());
    else
        with_parts(std::integral_constant<std::size_t, 8>());
}

// Copies rows if their size is one of kSizes. A constant size saves the call of memcpy().
template <std::size_t... kSizes>
bool move_usual_rows(std::byte* to, std::size_t to_step, const std::byte* from,
                     std::size_t from_step, std::size_t rows, std::size_t bytes,
                     std::index_sequence<kSizes...>)
{
    const auto move = [&](auto size) {
        for (std::size_t n = 0; n < rows; ++n)
            std::memcpy(to + n * to_step, from + n * from_step, size);
        return true;
    };
    return ((bytes == kSizes && move(std::integral_constant<std::size_t, kSizes>())) || ...);
}

} // namespace

void move_rows(std::byte* to, std::size_t to_step, const std::byte* from, std::size_t from_step,
               std::size_t rows, std::size_t bytes, bool avx2) noexcept
{
    if (to_step == bytes && from_step == bytes)
        std::memcpy(to, from, rows * bytes);
    else if (to_step == bytes && has_vectors(bytes))
        split_rows({&to, 1}, from, from_step, rows, bytes, avx2);
    else if (from_step == bytes && has_vectors(bytes))
        merge_rows(to, to_step, {&from, 1}, rows, bytes, avx2);
    else if (!move_usual_rows(to, to_step, from, from_step, rows, bytes,
                              std::index_sequence<2, 4, 6, 8, 12, 16, 24, 32>()))
        for (std::size_t n = 0; n < rows; ++n)
            std::memcpy(to + n * to_step, from + n * from_step, bytes);
}

void split_rows(std::span<std::byte* const> to, const std::byte* from, std::size_t from_step,
                std::size_t rows, std::size_t bytes, bool avx2) noexcept
{
    for (std::size_t part = 0; part < to.size();) {
        const std::byte* first = from + part * bytes;
        if (!has_vectors(bytes)) {
            move_rows(to[part++], bytes, first, from_step, rows, bytes);
            continue;
        }
        const std::size_t parts = parts_at_once(bytes, to.size() - part);
        with_constants(bytes, parts, [&]<std::size_t kBytes, std::size_t kParts> {
            avx2 ? Avx2Rows::split<kBytes, kParts>(&to[part], first, from_step, rows)
                 : PlainRows::split<kBytes, kParts>(&to[part], first, from_step, rows);
        });
        part += parts;
    }
}

void merge_rows(std::byte* to, std::size_t to_step, std::span<const std::byte* const> from,
                std::size_t rows, std::size_t bytes, bool avx2) noexcept
{
    for (std::size_t part = 0; part < from.size();) {
        std::byte* first = to + part * bytes;
        if (!has_vectors(bytes)) {
            move_rows(first, to_step, from[part++], bytes, rows, bytes);
            continue;
        }
        const std::size_t parts = parts_at_once(bytes, from.size() - part);
        with_constants(bytes, parts, [&]<std::size_t kBytes, std::size_t kParts> {
            avx2 ? Avx2Rows::merge<kBytes, kParts>(first, to_step, &from[part], rows)
                 : PlainRows::merge<kBytes, kParts>(first, to_step, &from[part], rows);
        });
        part += parts;
    }
}

bool has_avx2() noexcept
{
#ifdef IIO_STREAM_HAS_AVX2
    return __builtin_cpu_supports("avx2") != 0;
#else
    return false;
#endif
}

} // namespace iio_stream::detail
