// SPDX-License-Identifier: MIT
// 9xx: the state after the run.
#include "conformance/run.hpp"
#include "core/base/text.hpp"
#include "sys/device/kernel_log.hpp"
#include "sys/files.hpp"

#include <array>

namespace iio_stream::conformance {

namespace {

// Texts in the log that report a fault of a driver or of the kernel.
constexpr std::array kFaultWords{"BUG:",
                                 "WARNING:",
                                 "Oops",
                                 "KFENCE",
                                 "general protection",
                                 "swiotlb buffer is full",
                                 "page allocation failure",
                                 "DMA error",
                                 "DMA timeout",
                                 "blocked for more than",
                                 "scheduling while atomic",
                                 "Unable to handle kernel"};

} // namespace

void check_restored(Run& run, Subject*)
{
    std::string wrong;
    for (const std::string& text : run.unrestored())
        detail::add_clause(wrong, text);
    for (const auto& [path, value] : run.remembered())
        try {
            const std::string now = sys::read_text(path).value_or("");
            if (now != value)
                detail::add_clause(wrong, path + " reads '" + now + "', but was '" + value + "'");
        } catch (const Error& error) {
            detail::add_clause(wrong, error.what());
        }
    if (wrong.empty())
        run.pass(std::to_string(run.remembered().size()) + " settings are restored",
                 {{"settings", static_cast<std::int64_t>(run.remembered().size())}});
    else
        run.fail(wrong);
}

void check_leaks(Run& run, Subject*)
{
    const std::size_t files = sys::list_directory("/proc/self/fd").size();
    std::string wrong;
    if (files > run.open_files_before())
        wrong = std::to_string(files - run.open_files_before()) + " open files are left";
    for (const Subject& subject : run.subjects())
        if (subject.blocked.empty() &&
            sys::read_text(subject.folder() + "/buffer" + std::to_string(subject.buffer.index) +
                           "/enable") == "1")
            detail::add_clause(wrong, "the buffer of " + subject.name() + " is enabled");
    if (wrong.empty())
        run.pass("no open file and no enabled buffer is left");
    else
        run.fail(wrong);
}

void check_kernel_log(Run& run, Subject*)
{
    const auto lines = sys::kernel_log_since(run.begin_ns());
    if (!lines) {
        run.skip("this user cannot read the kernel's log");
        return;
    }
    for (const std::string& line : *lines)
        for (const char* word : kFaultWords)
            if (line.find(word) != std::string::npos) {
                run.fail("the kernel logged: " + line);
                return;
            }
    run.pass(std::to_string(lines->size()) + " lines, none of which reports a fault");
}

} // namespace iio_stream::conformance
