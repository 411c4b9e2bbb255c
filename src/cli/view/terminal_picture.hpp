// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

namespace iio_stream::cli {

/// What a terminal shows: a spectrum above a waterfall.
struct TerminalPicture {
    /// A row of the waterfall: a level in dBFS per bin, or none if no samples exist.
    struct Row {
        std::vector<double> levels;
        bool loss = false; ///< samples are, or may be, lost in or before this row
    };
    std::string title, status;       ///< the first and the last line
    std::string left, middle, right; ///< the frequencies of the axis
    std::vector<double> spectrum;    ///< a level in dBFS per bin
    std::vector<Row> rows;           ///< from top to bottom
    std::string first_row, last_row; ///< the times of the rows, at most 6 characters
};

enum class TerminalColors { none, palette, full }; ///< none, 256, or 24 bits

/// The colors that the environment states (NO_COLOR, TERM, COLORTERM).
TerminalColors terminal_colors();

/// Rows of the waterfall that fit into so many lines; each line of text holds two of them.
std::size_t waterfall_rows(std::size_t lines);

/// Draws the picture as `lines` lines of text, each of which ends in a line feed and is at most
/// `columns` wide. A column shows the highest of its bins.
std::string draw(const TerminalPicture& picture, std::size_t columns, std::size_t lines,
                 TerminalColors colors);

} // namespace iio_stream::cli
