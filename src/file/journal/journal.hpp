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

/// The journal of a data file.
std::string journal_path(const std::string& data_path);

/// What to do if a journal cannot be removed.
inline constexpr const char* kJournalStays =
    "delete it: while it is there the recording counts as interrupted";

/// Records next to a data file that is longer than what was written to it how much of it is valid
/// and which losses it has: for `iio-stream recover`, should this program be killed. One JSON
/// object per line; the last may be torn:
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
/// "reserved": the file is made longer than its samples while it is written. All losses before
/// sample "losses_final" are listed; without that line, all losses within "bytes" are. "tuned" is
/// the same for retunings; without it there are none. "settings" are those of the file's first
/// sample, if they differ from the stream's. "first" is the stream's index of the file's first
/// sample and whether it is exact, and "bytes_before" says how many bytes of samples the part
/// before it was given; the last such line counts, and without one the index is 0. "end" is where
/// the samples end, whatever padding the disk got after them. Each line is on the disk before the
/// next is written and, because file systems commit in order, so are the parts of the data it
/// refers to. A write that fails is retried at the next tick.
/// Thread: all of one; a thread of its own does the writing.
class Journal {
public:
    /// `part`: its number in a series of files.
    Journal(std::string path, std::size_t sample_bytes, std::size_t part, bool reserved);
    Journal(const Journal&) = delete;
    ~Journal(); ///< the journal stays

    /// This many bytes are in the file. Recorded after the losses among them.
    void note(std::uint64_t bytes) noexcept;
    /// A loss after this sample may become known late; recorded after the losses before it.
    void set_losses_final_before(std::uint64_t samples) noexcept;
    /// Losses that come faster than the disk takes them are merged.
    void add_loss(const Loss& loss) noexcept;
    /// A retuning; one that ends at 0 gives the settings of all samples. If they come faster than
    /// the disk takes them, several are merged.
    void add_retuning(const Retuned& retuned) noexcept;
    /// Retunings before this sample have been reported.
    void set_retunings_final_before(std::uint64_t samples) noexcept;
    /// Where the file begins, if not at 0, and the losses known so far. On the disk when this
    /// returns; throws if that fails. Any thread, before the first samples.
    void announce(const PartStart& start);
    /// The same if it is not what was announced. In the kernel when this returns, if the disk
    /// allows it, so that it survives a kill.
    void set_start(const PartStart& start) noexcept;
    /// The samples end here; recorded before this returns, if the disk allows it.
    void end_at(std::uint64_t bytes) noexcept;
    /// The data file is complete: removes the journal. Throws if it stays: with it, the recording
    /// counts as interrupted.
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

    // Produced by the stream's thread, consumed under mutex_.
    detail::SpscQueue<Loss> losses_{1024};
    detail::SpscQueue<Retuned> retunings_{64};
    std::string path_;
    sys::Event wake_;
    sys::UniqueFd fd_; ///< after it: without it there is no file, either
    std::atomic<std::uint64_t> bytes_{0}, end_{kUnknown}, losses_final_{kUnknown};
    std::optional<Loss> waiting_; ///< for room in losses_
    std::atomic<std::uint64_t> retunings_final_{kUnknown};
    std::optional<Retuned> retuned_waiting_; ///< for room in retunings_
    std::atomic<bool> over_{false};
    PartStart start_; ///< written under mutex_

    std::mutex mutex_;       ///< protects the following: the state of the disk
    std::uint64_t good_ = 0; ///< bytes of complete lines in the journal
    bool torn_ = false;      ///< there may be more after them
    bool unsynced_ = false;
    std::uint64_t written_ = 0; ///< the last "bytes"
    std::uint64_t losses_final_written_ = kUnknown, retunings_final_written_ = kUnknown;
    bool start_written_ = true, end_written_ = false;

    std::thread thread_;
};

} // namespace iio_stream::file
