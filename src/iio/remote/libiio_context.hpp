// SPDX-License-Identifier: MIT
#pragma once

#include "iio/context/context.hpp"
#include "iio/remote/libiio.hpp"

namespace iio_stream::iio {

/// A context that libiio has opened.
/// Thread: one at a time (libiio's rule).
class LibiioContext final : public Context {
public:
    explicit LibiioContext(const std::string& uri);
    LibiioContext(const LibiioContext&) = delete;
    ~LibiioContext() override;

    bool is_local() const noexcept override { return false; }
    int read(const DeviceNode& device, const DeviceNode::Channel* channel,
             const DeviceNode::Attribute& attribute, std::string& value) const override;
    int write(const DeviceNode& device, const DeviceNode::Channel* channel,
              const DeviceNode::Attribute& attribute, const std::string& value) const override;

    iio_context* raw() const noexcept { return context_; }
    iio_device* raw(const DeviceNode& device) const; ///< one of devices()

private:
    iio_channel* raw(const DeviceNode& device, const DeviceNode::Channel& channel) const;

    const Libiio& libiio_;
    iio_context* context_;
};

} // namespace iio_stream::iio
