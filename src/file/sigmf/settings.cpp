// SPDX-License-Identifier: MIT
#include "file/options.hpp"
#include "file/sigmf/sink.hpp"
#include "iio_stream/units.hpp"
#include "sys/machine.hpp"

namespace iio_stream::file {

SigmfSettings SigmfSettings::from(Options& options, const std::string& path, bool overwrite)
{
    SigmfSettings s;
    s.files = pair_of(path);
    s.overwrite = overwrite;
    const std::string hash = options.take_or_standard(kSigmfOptions["hash"]);
    s.hash = hash == "end" ? HashAt::end : HashAt::off;
    if (parse_switch("hostname", options.take_or_standard(kSigmfOptions["hostname"])))
        s.hostname = sys::host_name();
    return s;
}

} // namespace iio_stream::file
