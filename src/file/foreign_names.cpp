// SPDX-License-Identifier: MIT
#include "file/foreign_names.hpp"

#include "core/base/utc.hpp"

#include <cstdlib>
#include <regex>

namespace iio_stream::file {

namespace {

std::string base_name(const std::string& path)
{
    return path.substr(path.rfind('/') + 1);
}

// The UTC time of a date such as "20240301" and a clock time such as "102030"; nullopt if one is
// not valid.
std::optional<std::int64_t> time_of(const std::string& date, const std::string& clock)
{
    return detail::utc_of(date.substr(0, 4) + "-" + date.substr(4, 2) + "-" + date.substr(6) + "T" +
                          clock.substr(0, 2) + ":" + clock.substr(2, 2) + ":" + clock.substr(4));
}

// The factor for the prefix of a unit: "", k, M or G.
double scale_of(const std::string& prefix)
{
    if (prefix.empty())
        return 1;
    switch (prefix[0]) {
    case 'k':
    case 'K':
        return 1e3;
    case 'M':
        return 1e6;
    default:
        return 1e9;
    }
}

std::optional<double> above_zero(double value)
{
    return value > 0 ? std::optional(value) : std::nullopt;
}

} // namespace

NamedFacts facts_in_name(const std::string& path)
{
    static const std::regex gqrx(R"(gqrx_(\d{8})_(\d{6})_(\d{1,15})_(\d{1,15})_fc\.raw)");
    static const std::regex rtl433(
        R"((?:^|.*_)(\d{1,9}(?:\.\d{1,9})?)M_(\d{1,9}(?:\.\d{1,9})?)k\.\w+)");
    static const std::regex time(R"((?:^|.*_)(\d{8})_(\d{6})Z(?:_.*|\..*))");
    static const std::regex hertz(R"((?:^|.*[_-])(\d{1,12}(?:\.\d{1,9})?)([kKMG]?)Hz(?:[_.-].*)?)");
    static const std::regex rate(
        R"((?:^|.*[_-])(\d{1,12}(?:\.\d{1,9})?)([kKMG]?)[sS]ps(?:[_.-].*)?)");
    const std::string name = base_name(path);
    const auto number = [](const std::ssub_match& text) {
        return std::strtod(text.str().c_str(), nullptr);
    };
    NamedFacts facts;
    std::smatch found;
    if (name.size() > 255)
        return facts; // longer than any file system allows
    if (std::regex_match(name, found, gqrx)) {
        facts.format = "cf32_le";
        facts.utc_ns = time_of(found[1], found[2]);
        facts.frequency = above_zero(number(found[3]));
        facts.rate = above_zero(number(found[4]));
        return facts;
    }
    if (std::regex_match(name, found, time))
        facts.utc_ns = time_of(found[1], found[2]);
    if (std::regex_match(name, found, rtl433)) {
        facts.frequency = above_zero(number(found[1]) * 1e6);
        facts.rate = above_zero(number(found[2]) * 1e3);
        return facts;
    }
    if (std::regex_match(name, found, hertz))
        facts.frequency = above_zero(number(found[1]) * scale_of(found[2]));
    if (std::regex_match(name, found, rate))
        facts.rate = above_zero(number(found[1]) * scale_of(found[2]));
    return facts;
}

} // namespace iio_stream::file
