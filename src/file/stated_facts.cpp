// SPDX-License-Identifier: MIT
#include "file/stated_facts.hpp"

#include "file/options.hpp"
#include "file/sigmf/datatype.hpp"
#include "iio_stream/error.hpp"
#include "iio_stream/units.hpp"
#include "iio_stream/utc.hpp"

#include <utility>

namespace iio_stream::file {

StatedFacts StatedFacts::from(Options& options)
{
    StatedFacts facts;
    facts.frequency = options.take_rate(kFactOptions["frequency"]);
    if (const auto text = options.take(kFactOptions["datetime"]))
        facts.utc_ns = parse_utc("datetime", *text);
    return facts;
}

void StatedFacts::add_to(StreamInfo& stream, const std::string& path) const
{
    if (!frequency && !utc_ns)
        return;
    const std::string given =
        path + (frequency ? ": frequency=" : ": datetime=") + " is given, but ";
    if (stream.metadata)
        fail_usage(given + "the samples come from a recording with metadata",
                   "leave it out: the new file gets what the recording states");
    if (frequency && stream.tuning.frequency)
        fail_usage(given + "the source states a frequency",
                   "leave it out: an option of the source follows the source");
    if (utc_ns && stream.live)
        fail_usage(path + ": datetime= is given, but the samples are dated when they arrive",
                   "leave it out");
    if (frequency)
        stream.tuning.frequency = frequency;
    if (utc_ns)
        stream.metadata =
            metadata_of_start(*utc_ns, stream.format.sample_rate, stream.tuning.frequency);
}

std::shared_ptr<const std::string> metadata_of_start(std::int64_t utc_ns, double rate,
                                                     std::optional<double> frequency)
{
    Json global = Json::object();
    if (rate > 0)
        global["core:sample_rate"] = rate;
    Json capture{{"core:sample_start", 0}, {"core:datetime", format_utc(utc_ns)}};
    if (frequency)
        capture["core:frequency"] = *frequency;
    const Json metadata{{"global", std::move(global)},
                        {"captures", Json::array({std::move(capture)})},
                        {"annotations", Json::array()}};
    return std::make_shared<const std::string>(metadata.dump());
}

} // namespace iio_stream::file
