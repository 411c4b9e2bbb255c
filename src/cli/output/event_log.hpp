// SPDX-License-Identifier: MIT
#pragma once

#include "cli/output/json.hpp"
#include "iio_stream/session.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace iio_stream::cli {

/// What happens to the streams of a command, as lines of JSON in a file (--events). What the file
/// does not take at once waits here; no stream waits for it.
class EventLog {
public:
    /// Appends to the file, and to a new one of that name once it has been renamed or removed
    /// (logrotate). It may be a FIFO that no one reads yet; "-" is stderr, "" no file. `sources`:
    /// of the session's pipelines. Throws Error (Fault::storage).
    EventLog(std::string file, std::vector<std::string> sources);
    EventLog(const EventLog&) = delete;
    EventLog& operator=(const EventLog&) = delete;
    ~EventLog();

    void started(Session& session);
    void update(Session& session); ///< call a few times a second, and after the end
    void ended(const std::vector<Summary>& summaries);

private:
    enum class Kind { none, pipe, file, standard_error };

    void open();
    void follow_name();
    void add(const Json& event, std::size_t pipeline, const std::string& source);
    bool may_write() const noexcept;
    void write();
    std::size_t unread();
    void report_missing();

    std::string file_;
    int fd_ = -1;
    Kind kind_ = Kind::none;
    std::string host_;
    std::vector<std::string> sources_;
    std::string waiting_;      ///< lines; the first may be what is left of one
    std::uint64_t missed_ = 0; ///< events that could not even wait
    bool told_ = false;        ///< that the file does not take them
};

} // namespace iio_stream::cli
