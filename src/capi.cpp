// SPDX-License-Identifier: MIT
// The C API. Each function makes a few C++ calls and stores exceptions as the thread's last error.
#include "core/loss/losses.hpp"
#include "iio_stream/iio_stream.h"
#include "iio_stream/reader.hpp"
#include "iio_stream/writer.hpp"

#include <cerrno>
#include <cmath>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <string>

using namespace iio_stream;

struct iio_stream_reader {
    Reader reader;
    std::string format;
};

struct iio_stream_writer {
    Writer writer;
};

struct iio_stream_block {
    explicit iio_stream_block(Block&& given) : block(std::move(given)), read(block) {}

    Block block;
    CpuRead read; ///< the CPU's access ends with the release
};

namespace {

thread_local std::string last_error;

void remember(const char* text) noexcept
{
    try {
        last_error = text;
    } catch (...) {
        last_error.clear();
    }
}

/// Returns the result of `call`, or `failed` if it throws.
template <typename Result, typename Call>
Result guarded(Result failed, Call call) noexcept
{
    try {
        last_error.clear();
        return call();
    } catch (const std::exception& error) {
        remember(error.what());
    } catch (...) {
        remember("unknown error");
    }
    return failed;
}

/// Dereferences a pointer argument. Throws an Error if it is NULL.
template <typename T>
T& require(T* pointer, const char* name)
{
    if (pointer == nullptr)
        throw Error(Fault::usage, EINVAL, "call", "", std::string(name) + " is NULL");
    return *pointer;
}

std::chrono::nanoseconds budget_of(int timeout_ms) noexcept
{
    return timeout_ms < 0 ? kForever : std::chrono::milliseconds(timeout_ms);
}

int result_of(const Summary& summary)
{
    if (summary.error)
        throw *summary.error;
    return 0;
}

} // namespace

const char* iio_stream_version(void)
{
    return iio_stream::version();
}

const char* iio_stream_last_error(void)
{
    return last_error.c_str();
}

iio_stream_reader* iio_stream_reader_open(const char* source, size_t block_size, size_t blocks)
{
    return guarded<iio_stream_reader*>(nullptr, [&] {
        require(source, "source");
        Reader reader({.source = source, .block_size = block_size, .blocks = blocks});
        std::string format = reader.format().name();
        return new iio_stream_reader{std::move(reader), std::move(format)};
    });
}

const char* iio_stream_reader_format(const iio_stream_reader* reader, size_t* sample_bytes,
                                     double* sample_rate)
{
    if (sample_bytes != nullptr)
        *sample_bytes = 0;
    if (sample_rate != nullptr)
        *sample_rate = 0;
    if (reader == nullptr) {
        remember("call: reader is NULL");
        return nullptr;
    }
    const Format& format = reader->reader.format();
    if (sample_bytes != nullptr)
        *sample_bytes = format.sample_bytes;
    if (sample_rate != nullptr)
        *sample_rate = format.sample_rate;
    return reader->format.c_str();
}

iio_stream_result iio_stream_reader_next(iio_stream_reader* reader, int timeout_ms,
                                         iio_stream_block** block)
{
    return guarded(IIO_STREAM_ERROR, [&] {
        require(block, "block") = nullptr;
        Next<Block> next = require(reader, "reader").reader.next(budget_of(timeout_ms));
        if (!next)
            return next.ended() ? IIO_STREAM_ENDED : IIO_STREAM_TIMEOUT;
        *block = new iio_stream_block(std::move(*next));
        return IIO_STREAM_BLOCK;
    });
}

void iio_stream_block_get_info(const iio_stream_block* block, struct iio_stream_block_info* info)
{
    if (info == nullptr)
        return;
    *info = {};
    if (block == nullptr)
        return;
    const Block& b = block->block;
    const auto bytes = block->read.bytes();
    *info = {bytes.data(),
             bytes.size(),
             b.samples(),
             b.sample_index(),
             b.index_exact() ? 1 : 0,
             b.gaps().size(),
             0,
             0,
             b.time().ns};
    for (const Gap& gap : b.gaps()) {
        info->lost_min = detail::add_least(info->lost_min, gap.lost_min);
        info->lost_max = detail::add_losses(info->lost_max, gap.lost_max);
    }
}

void iio_stream_block_release(iio_stream_block* block)
{
    delete block;
}

int iio_stream_reader_close(iio_stream_reader* reader)
{
    const std::unique_ptr<iio_stream_reader> last(reader);
    return last ? guarded(-1, [&] { return result_of(last->reader.close()); }) : 0;
}

iio_stream_writer* iio_stream_writer_open(const char* sink, const char* format, double sample_rate)
{
    return guarded<iio_stream_writer*>(nullptr, [&] {
        require(sink, "sink");
        require(format, "format");
        if (!std::isfinite(sample_rate) || sample_rate < 0)
            fail_usage("sample_rate is " + std::to_string(sample_rate) +
                       ": it must be positive, or 0 for unknown");
        Format samples = Format::parse(format);
        samples.sample_rate = sample_rate;
        return new iio_stream_writer{Writer({.sinks = {sink}}, samples)};
    });
}

ptrdiff_t iio_stream_writer_write(iio_stream_writer* writer, const void* samples, size_t bytes,
                                  int timeout_ms)
{
    return guarded<ptrdiff_t>(-1, [&] {
        if (bytes != 0)
            require(static_cast<const std::byte*>(samples), "samples");
        if (bytes > PTRDIFF_MAX)
            fail_usage(std::to_string(bytes) + " bytes are more than any buffer can hold");
        const std::span all(static_cast<const std::byte*>(samples), bytes);
        return static_cast<ptrdiff_t>(
            require(writer, "writer").writer.write(all, budget_of(timeout_ms)));
    });
}

int iio_stream_writer_close(iio_stream_writer* writer)
{
    const std::unique_ptr<iio_stream_writer> last(writer);
    return last ? guarded(-1, [&] { return result_of(last->writer.close()); }) : 0;
}
