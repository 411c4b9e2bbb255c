// SPDX-License-Identifier: MIT
#include "framing/checksum.hpp"

#include "core/base/text.hpp"
#include "framing/crc32c.hpp"
#include "framing/options.hpp"
#include "iio_stream/error.hpp"

#include <cerrno>

namespace iio_stream::framing {

bool are_most(std::uint64_t failed, std::uint64_t blocks) noexcept
{
    constexpr std::uint64_t kMany = 8;
    return failed >= kMany && failed >= blocks / 2;
}

Check take_check(Uri& uri)
{
    return uri.options.take_or_standard(kLinkOptions["check"]) == kCrc32c ? Check::crc32c
                                                                          : Check::none;
}

void add_checksum_cost(Check check, Hop& hop)
{
    if (check == Check::none)
        return;
    hop.cpu = true;
    detail::add_clause(hop.reason, "checksum: the CPU reads each block");
}

std::vector<Evidence> evidence_of(Check check)
{
    if (check == Check::none)
        return {Evidence::counter};
    return {Evidence::counter, Evidence::dma_error};
}

std::uint32_t checksum_of(const Block& filled)
{
    const CpuRead data{filled};
    return crc32c(data.bytes());
}

bool BlockCheck::passes(const Header& header, const EmptyBlock& block, const std::string& object)
{
    if (check_ == Check::none)
        return true;
    if (!header.checksum)
        throw Error(Fault::device, EPROTO, "read from", object,
                    "a block arrived without its checksum",
                    "check= requires this version of iio-stream, or a newer one, at both ends");
    ++blocks_;
    const CpuRead data{block};
    if (crc32c(data.bytes().first(header.valid_bytes)) == *header.checksum)
        return true;
    if (are_most(++failed_, blocks_))
        throw Error(Fault::device, EBADMSG, "read from", object,
                    "most blocks differ from the data that was sent");
    return false;
}

} // namespace iio_stream::framing
