// SPDX-License-Identifier: MIT
#include "file/sha512/sha512.hpp"

#include "iio_stream/error.hpp"
#include "sys/files.hpp"
#include "sys/stream_file.hpp"

#include <algorithm>
#include <cctype>
#include <fcntl.h>
#include <span>
#include <vector>

namespace iio_stream::file {

bool same_hash(std::string_view found, std::string_view said) noexcept
{
    return std::equal(found.begin(), found.end(), said.begin(), said.end(),
                      [](char a, char b) { return a == std::tolower(b); });
}

std::optional<std::string> sha512_of_file(const std::string& path, int cancel,
                                          std::atomic<std::uint64_t>* bytes, ByteRange range)
{
    constexpr std::size_t kPiece = 1 << 20;
    try {
        const sys::UniqueFd fd = sys::open_file(path, O_RDONLY);
        (void)::posix_fadvise(fd.get(), 0, 0, POSIX_FADV_SEQUENTIAL);
        std::vector<std::byte> piece(kPiece);
        Sha512 hash;
        while (cancel < 0 || !sys::has_news(cancel)) {
            const auto most =
                static_cast<std::size_t>(std::min<std::uint64_t>(range.bytes(), kPiece));
            const auto part = std::span(piece).first(most);
            const std::size_t got = sys::read_at(fd.get(), path, range.begin, part);
            if (got == 0)
                return hash.finish();
            hash.add(part.first(got));
            range.begin += got;
            if (bytes != nullptr)
                bytes->fetch_add(got, std::memory_order_relaxed);
        }
        return std::nullopt;
    } catch (const Error& error) {
        throw error.blamed_on(Fault::storage);
    }
}

} // namespace iio_stream::file
