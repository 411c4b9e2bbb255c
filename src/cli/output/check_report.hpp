// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/conformance.hpp"

#include <string>

namespace iio_stream::cli {

/// Prints a row of the table to stdout, or to stderr if the JSON object goes to stdout.
void print_result(const ConformanceResult& result, bool to_stderr);
void print_totals(const ConformanceReport& report, const std::string& file, bool to_stderr);

/// The report as JSON, as docs/schema/check.schema.json describes it. `identify`: include the
/// host's name and the serial numbers. `indent`: spaces per level, or -1 for a single line.
std::string report_json(const ConformanceReport& report, const ConformanceOptions& options,
                        bool identify, int indent);

/// Throws a usage Error if the file exists and is not an earlier report.
void refuse_other_report(const std::string& file);

} // namespace iio_stream::cli
