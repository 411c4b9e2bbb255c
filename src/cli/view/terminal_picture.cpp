// SPDX-License-Identifier: MIT
#include "cli/view/terminal_picture.hpp"

#include "cli/output/print.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <span>
#include <string_view>

namespace iio_stream::cli {

namespace {

constexpr std::size_t kMargin = 8;                         // columns left of the picture
constexpr std::size_t kOtherLines = 3;                     // title, axis and status
constexpr double kLowest = -140, kHighest = 0, kStep = 10; // dBFS

using Color = std::array<int, 3>;
// Points of matplotlib's color map "viridis", which is in the public domain (CC0). Its lightness
// grows evenly, so color-blind people and gray printers show the levels in order.
constexpr std::array<Color, 10> kViridis{{{68, 1, 84},
                                          {72, 40, 120},
                                          {62, 74, 137},
                                          {49, 104, 142},
                                          {38, 130, 142},
                                          {31, 158, 137},
                                          {53, 183, 121},
                                          {110, 206, 88},
                                          {181, 222, 43},
                                          {253, 231, 37}}};
constexpr Color kBlack{0, 0, 0}, kRed{205, 0, 0};

std::size_t spectrum_lines(std::size_t lines)
{
    const std::size_t rest = lines > kOtherLines ? lines - kOtherLines : 1;
    return rest < 8 ? rest : std::max<std::size_t>(rest * 2 / 5, 4);
}

// The highest level in each column.
std::vector<double> columns_of(std::span<const double> levels, std::size_t columns)
{
    std::vector<double> highest(columns, kLowest);
    for (std::size_t column = 0; column < columns && !levels.empty(); ++column) {
        const std::size_t begin = column * levels.size() / columns;
        const std::size_t end = std::max((column + 1) * levels.size() / columns, begin + 1);
        highest[column] = *std::max_element(levels.begin() + static_cast<std::ptrdiff_t>(begin),
                                            levels.begin() + static_cast<std::ptrdiff_t>(end));
    }
    return highest;
}

Color color_of(double share)
{
    const double place = std::clamp(share, 0.0, 1.0) * (kViridis.size() - 1);
    const auto below = std::min(static_cast<std::size_t>(place), kViridis.size() - 2);
    Color color{};
    for (std::size_t i = 0; i < 3; ++i)
        color[i] = static_cast<int>(std::lround(std::lerp(
            kViridis[below][i], kViridis[below + 1][i], place - static_cast<double>(below))));
    return color;
}

// The escape sequence for a color of the foreground (38) or the background (48).
std::string sequence(int ground, const Color& color, TerminalColors colors)
{
    if (colors == TerminalColors::full)
        return formatted("\033[%d;2;%d;%d;%dm", ground, color[0], color[1], color[2]);
    const auto step = [](int part) { return static_cast<int>(std::lround(part / 51.0)); };
    return formatted("\033[%d;5;%dm", ground,
                     16 + 36 * step(color[0]) + 6 * step(color[1]) + step(color[2]));
}

/// The levels that the picture distinguishes.
struct Scale {
    double low, high;

    double share(double level) const { return (level - low) / (high - low); }
};

class Drawing {
public:
    Drawing(const TerminalPicture& picture, std::size_t columns, std::size_t lines,
            TerminalColors colors)
        : picture_(picture),
          width_(columns > kMargin ? columns - kMargin : 1),
          lines_(lines),
          colors_(colors),
          columns_(columns_of(picture.spectrum, width_))
    {
        const double low = *std::min_element(columns_.begin(), columns_.end());
        scale_ = {std::clamp(std::floor(low / kStep) * kStep, kLowest, kHighest - 2 * kStep),
                  kHighest};
    }

    std::string text()
    {
        add_line(picture_.title);
        add_bars();
        add_axis();
        add_waterfall();
        add_line(picture_.status);
        return text_;
    }

private:
    void add_line(const std::string& line)
    {
        std::size_t end = 0, wide = 0; // counts characters, not bytes
        for (; end < line.size() && wide < width_ + kMargin; ++wide)
            do
                ++end;
            while (end < line.size() && (static_cast<unsigned char>(line[end]) & 0xc0) == 0x80);
        text_ += line.substr(0, end) + "\n";
    }

    void add_bars()
    {
        static constexpr std::array<const char*, 9> kBars{" ", "▁", "▂", "▃", "▄",
                                                          "▅", "▆", "▇", "█"};
        const auto count = static_cast<double>(spectrum_lines(lines_));
        for (double line = count - 1; line >= 0; --line) {
            const double top = std::lerp(scale_.low, scale_.high, (line + 1) / count);
            text_ += formatted("%6.0f ", top) + (colors_ == TerminalColors::none ? "|" : "│");
            for (const double level : columns_) {
                const double eighths = (scale_.share(level) * count - line) * 8;
                text_ += kBars[static_cast<std::size_t>(std::clamp(eighths, 0.0, 8.0))];
            }
            text_ += "\n";
        }
    }

    void add_axis()
    {
        const std::size_t taken =
            picture_.left.size() + picture_.middle.size() + picture_.right.size();
        const std::size_t space = width_ > taken ? width_ - taken : 2;
        const std::size_t before =
            width_ / 2 > picture_.left.size() + picture_.middle.size() / 2
                ? std::min(width_ / 2 - picture_.left.size() - picture_.middle.size() / 2, space)
                : 1;
        add_line("  dBFS  " + picture_.left + std::string(before, ' ') + picture_.middle +
                 std::string(space - std::min(before, space), ' ') + picture_.right);
    }

    // Distributes the rows over the lines of the waterfall. A row of the picture shows the highest
    // levels of its rows.
    void add_waterfall()
    {
        const std::size_t shown = waterfall_rows(lines_);
        std::vector<std::vector<double>> levels(shown);
        std::vector<bool> losses(shown);
        const std::size_t rows = shown == 0 ? 0 : picture_.rows.size();
        for (std::size_t number = 0; number < rows; ++number) {
            const std::size_t at = rows <= shown ? number : number * shown / rows;
            losses[at] = losses[at] || picture_.rows[number].loss;
            if (picture_.rows[number].levels.empty())
                continue;
            const std::vector<double> line = columns_of(picture_.rows[number].levels, width_);
            if (levels[at].empty())
                levels[at] = line;
            else
                std::transform(line.begin(), line.end(), levels[at].begin(), levels[at].begin(),
                               [](double a, double b) { return std::max(a, b); });
        }
        double high = scale_.low + 2 * kStep;
        for (const std::vector<double>& line : levels)
            if (!line.empty())
                high = std::max(high, *std::max_element(line.begin(), line.end()));
        scale_.high = high;
        for (std::size_t at = 0; at + 1 < shown; at += 2) {
            const bool last = std::min(rows, shown) <= at + 2 && at < rows;
            text_ += formatted("%6s ", at == 0 ? picture_.first_row.c_str()
                                       : last  ? picture_.last_row.c_str()
                                               : "");
            const bool loss = losses[at] || losses[at + 1];
            text_ += loss ? "!" : colors_ == TerminalColors::none ? "|" : "│";
            add_row(levels, losses, at);
            text_ += "\n";
        }
    }

    void add_row(const std::vector<std::vector<double>>& levels, const std::vector<bool>& losses,
                 std::size_t at)
    {
        const auto color = [&](std::size_t row, std::size_t column) {
            if (losses[row])
                return kRed;
            return levels[row].empty() ? kBlack : color_of(scale_.share(levels[row][column]));
        };
        std::string before;
        for (std::size_t column = 0; column < width_; ++column) {
            if (colors_ == TerminalColors::none) {
                static constexpr std::array<const char*, 5> kShades{" ", "░", "▒", "▓", "█"};
                double share = 0;
                for (const std::size_t row : {at, at + 1})
                    if (!levels[row].empty() && !losses[row])
                        share = std::max(share, scale_.share(levels[row][column]));
                text_ += kShades[static_cast<std::size_t>(std::clamp(share * 5, 0.0, 4.0))];
                continue;
            }
            const std::string now = sequence(38, color(at, column), colors_) +
                                    sequence(48, color(at + 1, column), colors_);
            if (now != before)
                text_ += now;
            before = now;
            text_ += "▀";
        }
        if (!before.empty())
            text_ += "\033[0m";
    }

    const TerminalPicture& picture_;
    std::size_t width_, lines_;
    TerminalColors colors_;
    std::vector<double> columns_;
    Scale scale_{};
    std::string text_;
};

} // namespace

TerminalColors terminal_colors()
{
    const auto variable = [](const char* name) {
        const char* value = std::getenv(name);
        return std::string_view(value != nullptr ? value : "");
    };
    if (!variable("NO_COLOR").empty() || variable("TERM").empty() || variable("TERM") == "dumb")
        return TerminalColors::none;
    const std::string_view depth = variable("COLORTERM");
    return depth == "truecolor" || depth == "24bit" ? TerminalColors::full
                                                    : TerminalColors::palette;
}

std::size_t waterfall_rows(std::size_t lines)
{
    const std::size_t others = kOtherLines + spectrum_lines(lines);
    return lines > others ? 2 * (lines - others) : 0;
}

std::string draw(const TerminalPicture& picture, std::size_t columns, std::size_t lines,
                 TerminalColors colors)
{
    return Drawing(picture, columns, lines, colors).text();
}

} // namespace iio_stream::cli
