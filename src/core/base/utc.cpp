// SPDX-License-Identifier: MIT
#include "core/base/utc.hpp"

#include "iio_stream/error.hpp"
#include "iio_stream/utc.hpp"

#include <chrono>
#include <cstdio>

namespace iio_stream {

namespace {

/// Parses fields of digits from the front of a text.
class Digits {
public:
    explicit Digits(std::string_view text) : text_(text) {}

    bool at_end() const noexcept { return text_.empty(); }
    bool skip(char letter) noexcept
    {
        if (!text_.starts_with(letter))
            return false;
        text_.remove_prefix(1);
        return true;
    }
    /// Takes exactly `count` digits. Returns nullopt if the text does not start with that many.
    std::optional<int> take(std::size_t count) noexcept
    {
        if (text_.size() < count)
            return std::nullopt;
        int value = 0;
        for (std::size_t i = 0; i < count; ++i)
            if (const char digit = text_[i]; digit >= '0' && digit <= '9')
                value = 10 * value + digit - '0';
            else
                return std::nullopt;
        text_.remove_prefix(count);
        return value;
    }
    /// Takes a fraction of a second and returns it in nanoseconds. Further digits are cut off.
    std::optional<std::int64_t> take_fraction() noexcept
    {
        std::int64_t ns = 0, unit = 100'000'000;
        if (!take_digit(ns, unit))
            return std::nullopt;
        while (take_digit(ns, unit))
            continue;
        return ns;
    }

private:
    bool take_digit(std::int64_t& ns, std::int64_t& unit) noexcept
    {
        const std::optional<int> digit = take(1);
        ns += digit.value_or(0) * unit;
        unit /= 10;
        return digit.has_value();
    }

    std::string_view text_;
};

/// Parses the time of day that follows "T", such as "23:00:00.5". Returns nanoseconds since
/// midnight.
std::optional<std::int64_t> time_of_day(Digits& digits) noexcept
{
    constexpr std::int64_t kSecondNs = 1'000'000'000;
    const auto hour = digits.take(2), minute = digits.skip(':') ? digits.take(2) : std::optional(0);
    const auto second = digits.skip(':') ? digits.take(2) : std::optional(0);
    const auto fraction =
        digits.skip('.') ? digits.take_fraction() : std::optional<std::int64_t>(0);
    if (!hour || !minute || !second || !fraction || *hour > 23 || *minute > 59 || *second > 60)
        return std::nullopt;
    return ((*hour * 60 + *minute) * 60 + *second) * kSecondNs + *fraction;
}

} // namespace

std::optional<std::int64_t> detail::utc_of(std::string_view text) noexcept
{
    constexpr int kFirstYear = 1678, kLastYear = 2261; // the range of 64-bit nanoseconds
    constexpr std::int64_t kDayNs = 86'400'000'000'000;
    Digits digits(text);
    const auto year = digits.take(4), month = digits.skip('-') ? digits.take(2) : std::nullopt,
               day = digits.skip('-') ? digits.take(2) : std::nullopt;
    if (!year || !month || !day || *year < kFirstYear || *year > kLastYear)
        return std::nullopt;
    const std::chrono::year_month_day date{std::chrono::year(*year),
                                           std::chrono::month(static_cast<unsigned>(*month)),
                                           std::chrono::day(static_cast<unsigned>(*day))};
    const auto time =
        digits.skip('T') || digits.skip(' ') ? time_of_day(digits) : std::optional<std::int64_t>(0);
    (void)digits.skip('Z');
    if (!date.ok() || !time || !digits.at_end())
        return std::nullopt;
    return std::chrono::sys_days(date).time_since_epoch().count() * kDayNs + *time;
}

std::int64_t parse_utc(std::string_view name, std::string_view text)
{
    const std::optional<std::int64_t> ns = detail::utc_of(text);
    if (!ns)
        fail_usage(std::string(name) + "=" + std::string(text) + " is not a valid time",
                   "UTC, such as 2026-11-26T23:00");
    return *ns;
}

std::string detail::utc_text(std::int64_t ns, std::size_t digits)
{
    using namespace std::chrono;
    constexpr std::size_t kAllDigits = 9;
    const sys_time<nanoseconds> time{nanoseconds(ns)};
    const auto day = floor<days>(time);
    const year_month_day date(day);
    const hh_mm_ss clock(time - day);
    char text[64];
    std::snprintf(
        text, sizeof text, "%04d-%02u-%02uT%02d:%02d:%02d.%09d", static_cast<int>(date.year()),
        static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
        static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
        static_cast<int>(clock.seconds().count()), static_cast<int>(clock.subseconds().count()));
    std::string made(text);
    made.resize(made.size() - kAllDigits + digits);
    return made + "Z";
}

std::string format_utc(std::int64_t ns)
{
    std::string made = detail::utc_text(ns, 9);
    made.pop_back();
    made.erase(made.find_last_not_of('0') + 1);
    if (made.ends_with('.'))
        made.pop_back();
    return made + "Z";
}

} // namespace iio_stream
