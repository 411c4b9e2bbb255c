// SPDX-License-Identifier: MIT
#include "bench/transfer.hpp"
#include "core/base/align.hpp"
#include "core/format/pattern.hpp"
#include "iio_stream/bench.hpp"
#include "iio_stream/units.hpp"
#include "sys/event.hpp"
#include "sys/machine.hpp"
#include "sys/stream_file.hpp"

#include <cerrno>

namespace iio_stream {

namespace bench {

namespace {

using detail::kPage;

/// Measures one cell after another.
class Matrix {
public:
    Matrix(const IoBench& what, const std::atomic<bool>& stop)
        : what_(what), stop_(stop), file_(what)
    {}

    /// Returns nullopt if stopped.
    std::optional<IoRow> cell(const AreaMemory& memory, Method method, Direction direction);

private:
    bool ready(const std::optional<Area>& area, Direction direction);
    bool measure(IoRow& row, Transfer& transfer);
    bool right(const Area& area, Direction direction) const;

    const IoBench& what_;
    const std::atomic<bool>& stop_;
    BenchFile file_;
    std::uint64_t cells_ = 0;
    std::uint64_t position_ = 0; ///< the ramp in the area or the file starts there
    bool file_known_ = false;    ///< the file holds the ramp from position_
};

double seconds_since(std::int64_t begin)
{
    return static_cast<double>(sys::monotonic_ns() - begin) * 1e-9;
}

double cpu_now()
{
    const CpuTime time = sys::cpu_time();
    return time.user_seconds + time.system_seconds;
}

// Each cell uses a different part of the ramp, so that data of an earlier cell cannot be mistaken
// for its own.
bool Matrix::ready(const std::optional<Area>& area, Direction direction)
{
    if (direction == Direction::read) {
        if (!file_known_) {
            position_ = ++cells_ << 40;
            file_known_ = file_.fill(position_, stop_);
        }
        file_.drop_cache();
        return file_known_;
    }
    position_ = ++cells_ << 40;
    file_known_ = false;
    for (std::size_t i = 0; i < area->count() && !stop_; ++i) {
        const Use use(*area, i, sys::CpuAccess::write);
        detail::fill_ramp(area->block(i), position_ + area->offset(i));
    }
    file_.drop_cache(); // write back another cell's dirty pages before the measurement
    return !stop_;
}

bool Matrix::measure(IoRow& row, Transfer& transfer)
{
    const double cpu = cpu_now();
    const std::int64_t begin = sys::monotonic_ns();
    if (!transfer.run(stop_))
        return false;
    row.io_seconds = seconds_since(begin);
    row.cpu_seconds = cpu_now() - cpu;
    return true;
}

bool Matrix::right(const Area& area, Direction direction) const
{
    if (direction == Direction::write)
        return file_.holds(position_, stop_);
    for (std::size_t i = 0; i < area.count() && !stop_; ++i) {
        const Use use(area, i, sys::CpuAccess::read);
        if (!is_ramp(area.block(i), position_ + area.offset(i)))
            return false;
    }
    return true;
}

std::optional<IoRow> Matrix::cell(const AreaMemory& memory, Method method, Direction direction)
{
    IoRow row;
    row.memory = memory.name;
    row.page_bytes = memory.page_bytes;
    row.method = name_of(method);
    row.direction = name_of(direction);
    std::optional<Area> area;
    std::optional<Transfer> transfer;
    try {
        std::int64_t begin = sys::monotonic_ns();
        area.emplace(memory, what_.bytes, what_.block_size);
        transfer.emplace(method, direction, *area, file_, what_.depth);
        row.create_seconds = seconds_since(begin);
        if (!ready(area, direction) || !measure(row, *transfer))
            return std::nullopt;
        if (!right(*area, direction))
            throw Error(Fault::other, EBADMSG, "compare", file_.path(),
                        "the data read back differ from the data written");
        row.checked = !stop_;
        file_known_ = true;
        begin = sys::monotonic_ns();
        transfer.reset();
        area.reset();
        row.close_seconds = seconds_since(begin);
    } catch (const Error& error) {
        row.error = error;
    }
    if (stop_)
        return std::nullopt;
    return row;
}

void validate(const IoBench& what)
{
    const auto whole_pages = [](const char* option, std::uint64_t value) {
        if (value == 0 || value % kPage != 0)
            fail_usage(std::string(option) + " " + format_size(value) + " is not a multiple of 4Ki",
                       "such as 4Mi; 4M is 4000000");
    };
    whole_pages("--size", what.bytes);
    whole_pages("--block-size", what.block_size);
    if (what.block_size > 1 << 30)
        fail_usage("--block-size " + format_size(what.block_size) +
                   " is larger than 1Gi, the limit of one request");
    if (what.depth == 0 || what.depth > 1024)
        fail_usage("--depth " + std::to_string(what.depth) + " is not between 1 and 1024");
}

} // namespace

} // namespace bench

void bench_io(const IoBench& what, const std::function<bool(const IoRow&)>& seen,
              const std::atomic<bool>& stop)
{
    bench::validate(what);
    sys::block_write_signals();
    bench::Matrix matrix(what, stop);
    for (const bench::Direction direction : {bench::Direction::write, bench::Direction::read})
        for (const bench::AreaMemory& memory : bench::area_memories())
            for (const bench::Method method : bench::kMethods) {
                const auto row = matrix.cell(memory, method, direction);
                if (!row || !seen(*row))
                    return;
            }
}

} // namespace iio_stream
