// SPDX-License-Identifier: MIT
#include "file/output.hpp"
#include "sys/stream_file.hpp"

#include <cerrno>

namespace iio_stream::file {

namespace {

class BufferedOutput final : public Output {
public:
    BufferedOutput(const OpenFile& file, int cancel, std::uint64_t sync_every)
        : file_(file), cancel_(cancel), sync_every_(sync_every)
    {}

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
