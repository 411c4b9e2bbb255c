// SPDX-License-Identifier: MIT
#pragma once

#include "core/base/spsc_queue.hpp"
#include "file/journal/file_loss.hpp"
#include "file/journal/file_retuning.hpp"
#include "sys/event.hpp"
#include "sys/unique_fd.hpp"

#include <atomic>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace iio_stream::file {

/// The path of the journal of a data file.
std::string journal_path(const std::string& data_path);

/// Hint for a journal that cannot be removed.
inline constexpr const char* kJournalStays =
    "delete it: while it is there the recording counts as interrupted";

/// The journal next to a data file. The data file can be longer than the data written to it, so the
/// journal records how much of the file is valid, and which losses it has. `iio-stream recover`
/// reads the journal if the program was killed. The journal has one JSON object per line; the last
/// line may be torn:
///
///     {"iio_stream_journal":1,"sample_bytes":4,"part":0,"reserved":true}
///     {"first":[4096,true],"bytes_before":16384}
///     {"gap":[offset_min,offset_max,lost_min,lost_max,"overflow-bit"]}
///     {"dropped":[offset_min,offset_max,lost_min,lost_max,"counter"]}
///     {"zeros":[begin,end]}
///     {"settings":[frequency,gain,bandwidth,rate]}
///     {"retuned":[begin,end,frequency,gain,bandwidth,rate]}
///     {"tuned":131072}
///     {"losses_final":131072}
///     {"bytes":1048576}
///     {"end":1048576}
///
/// "reserved": space is reserved, so the file is longer than its samples while it is being written.
/// All losses before sample "losses_final" are listed; without that line, all losses within "bytes"
/// are. "tuned" states the same for retunings; without that line there are none. "settings" are the
/// settings of the file's first sample, if they differ from the stream's. "first" is the index in
/// the stream of the file's first sample, and whether it is exact. "bytes_before" is the number of
/// bytes of samples that were submitted to the previous part. The last "first" line applies;
/// without one, the index is 0. "end" is the byte at which the samples end, even if padding follows
/// them on the disk. The journal is written in ticks of half a second. The lines of one tick are on
/// the disk before the next tick writes more. Because file systems commit in order, the parts of
/// the data to which these lines refer are on the disk too. A write that fails is repeated at the
/// next tick.
/// Thread: one thread calls all functions but announce(). The journal's own thread does the regular
/// writing.
class Journal {
public:
    /// `part`: number of the file in a series.
    Journal(std::string path, std::size_t sample_bytes, std::size_t part, bool reserved);
    Journal(const Journal&) = delete;
    ~Journal(); ///< the journal file stays

    /// Notes that this many bytes are in the file. The number is recorded after the losses among
    /// these bytes.
    void note(std::uint64_t bytes) noexcept;
    /// Records that all losses before this sample are known. The line follows those losses in the
    /// journal. Later losses may still be added.
    void set_losses_final_before(std::uint64_t samples) noexcept;
    /// Adds a loss. Losses that arrive faster than the disk can store them are merged.
    void add_loss(const Loss& loss) noexcept;
    /// Adds a retuning. One that ends at 0 gives the settings of all samples. Retunings that arrive
    /// faster than the disk can store them are merged.
    void add_retuning(const Retuned& retuned) noexcept;
    /// Declares that all retunings before this sample have been added.
    void set_retunings_final_before(std::uint64_t samples) noexcept;
    /// Records where the file begins, if not at 0, and the losses known so far. They are on the
    /// disk when this returns. Throws if they cannot be written. Any thread may call this function,
    /// but only before the first samples.
    void announce(const PartStart& start);
    /// Replaces the announced start if `start` differs from it. If the disk allows it, the line is
    /// in the kernel when this returns, so that it survives if the program is killed.
    void set_start(const PartStart& start) noexcept;
    /// Records that the samples end here. If the disk allows it, the line is on the disk when this
    /// returns.
    void end_at(std::uint64_t bytes) noexcept;
    /// Removes the journal of a complete data file. Throws if the journal cannot be removed: with
    /// it, the recording counts as interrupted.
    void remove();

private:
    void write_start();
    void run();
    void try_to_write() noexcept;
    void write_changes();
    void append(const std::string& line);
    template <typename Item>
    void append_all(detail::SpscQueue<Item>& queue);
    void sync();
    void finish() noexcept;

    // The stream's thread fills these queues. They are emptied under mutex_.
    detail::SpscQueue<Loss> losses_{1024};
    detail::SpscQueue<Retuned> retunings_{64};
    std::string path_;
    sys::Event wake_;
    sys::UniqueFd fd_; ///< declared after wake_: if that fails, no file is created
    std::atomic<std::uint64_t> bytes_{0}, end_{kUnknown}, losses_final_{kUnknown};
    std::optional<Loss> waiting_; ///< a loss that waits for room in losses_
    std::atomic<std::uint64_t> retunings_final_{kUnknown};
    std::optional<Retuned> retuned_waiting_; ///< one that waits for room in retunings_
    std::atomic<bool> over_{false};
    PartStart start_; ///< written under mutex_

    std::mutex mutex_;       ///< protects the members below: the journal's state on the disk
    std::uint64_t good_ = 0; ///< bytes of complete lines in the journal
    bool torn_ = false;      ///< an incomplete line may follow them
    bool unsynced_ = false;
    std::uint64_t written_ = 0; ///< the last "bytes"
    std::uint64_t losses_final_written_ = kUnknown, retunings_final_written_ = kUnknown;
    bool start_written_ = true, end_written_ = false;

    std::thread thread_;
};

} // namespace iio_stream::file
