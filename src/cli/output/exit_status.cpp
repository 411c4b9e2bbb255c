// SPDX-License-Identifier: MIT
#include "cli/output/exit_status.hpp"

namespace iio_stream::cli {

int exit_status(const Error& error) noexcept
{
    switch (error.fault()) {
    case Fault::usage:
        return 2;
    case Fault::device:
        return 3;
    case Fault::samples:
        return kSamplesLost;
    case Fault::storage:
        return 5;
    case Fault::other:
        break;
    }
    return 1;
}

int exit_status(const Summary& summary) noexcept
{
    if (summary.error)
        return exit_status(*summary.error);
    return summary.ended == "gap" ? kSamplesLost : summary.ended == "error" ? 1 : 0;
}

} // namespace iio_stream::cli
