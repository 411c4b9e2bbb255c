// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/conformance.hpp"

#include <string>

namespace iio_stream::cli {

/// A row of the table: to stdout, or to stderr if stdout has the JSON object.
void print_result(const ConformanceResult& result, bool to_stderr);
void print_totals(const ConformanceReport& report, const std::string& file, bool to_stderr);

/// docs/schema/check.schema.json describes it. `identify`: with the host's name and serial numbers.
/// `indent`: spaces for each level, or -1 for a single line.
std::string report_json(const ConformanceReport& report, const ConformanceOptions& options,
                        bool identify, int indent);

/// Throws a usage Error if the file exists and is not an earlier report.
void refuse_other_report(const std::string& file);

} // namespace iio_stream::cli
