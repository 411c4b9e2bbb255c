// SPDX-License-Identifier: MIT
#include "file/io/output.hpp"
#include "sys/stream_file.hpp"

#include <cerrno>
#include <unistd.h>

namespace iio_stream::file {

namespace {

class BufferedOutput final : public Output {
public:
    BufferedOutput(const OpenFile& file, int cancel, std::uint64_t sync_every)
        : file_(file), cancel_(cancel), sync_every_(sync_every)
    {
        if (file_.begin != 0 && ::lseek(file_.fd, static_cast<off_t>(file_.begin), SEEK_SET) < 0)
            throw Error(Fault::storage, errno, "seek", file_.path);
    }

    bool may_block() const noexcept override { return true; }
    void submit(Block filled) override;
    void finish(Stop) override {}
    std::uint64_t valid() const noexcept override { return bytes_; }

private:
    OpenFile file_;
    int cancel_;
    std::uint64_t sync_every_, bytes_ = 0, synced_ = 0;
};

void BufferedOutput::submit(Block filled)
{
    const CpuRead data{filled};
    std::size_t done = 0;
    try {
        if (!sys::write_all(file_.fd, file_.path, data.bytes(), cancel_, done))
            throw Error(Fault::storage, ECANCELED, "write", file_.path,
                        "stopped before all was written");
    } catch (...) {
        bytes_ += done;
        throw;
    }
    bytes_ += done;
    if (sync_every_ != 0 && bytes_ - synced_ >= sync_every_) {
        sys::sync_data(file_.fd, file_.path);
        synced_ = bytes_;
    }
}

} // namespace

std::unique_ptr<Output> make_buffered_output(const OpenFile& file, int cancel,
                                             std::uint64_t sync_every)
{
    return std::make_unique<BufferedOutput>(file, cancel, sync_every);
}

} // namespace iio_stream::file
