// SPDX-License-Identifier: MIT
#pragma once

#include "cli/output/json.hpp"
#include "iio_stream/session.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace iio_stream::cli {

/// Logs the events of a command's streams as lines of JSON in a file (--events). Events that the
/// file does not accept at once are kept in memory, so that no stream waits for the file.
class EventLog {
public:
    /// Appends to `file`. If it is renamed or removed (logrotate), later events go to a new file of
    /// that name. `file` can also be a FIFO that has no reader yet, "-" for stderr, or "" for no
    /// file. `sources`: the sources of the session's pipelines. Throws Error (Fault::storage).
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
    std::string waiting_;      ///< lines; the first can be partly written
    std::uint64_t missed_ = 0; ///< events dropped for lack of room
    bool told_ = false;        ///< a write error was reported
};

} // namespace iio_stream::cli
