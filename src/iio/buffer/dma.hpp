// SPDX-License-Identifier: MIT
// The DMA controller behind a buffer: which one it is, and which memory it reaches.
#pragma once

#include "iio/buffer/buffer_dir.hpp"
#include "iio_stream/block.hpp"

#include <string>

namespace iio_stream::iio {

/// The name of the controller that captures a device's samples, as in its interrupt line
/// (sys::interrupt_count); "" if unknown.
std::string dma_controller_of(const std::string& device_id);

/// Returns why the DMA behind a buffer uses, or might use, copies of these blocks that are not kept
/// in sync (core/memory/bounce.hpp). Returns "" if it uses the blocks themselves, or if ATTACH will
/// report the reason. Call it while nothing is attached and the device is off. Overwrites the
/// blocks.
std::string why_not_reached(BufferDir& dir, int buffer_fd, const BlockPool& pool);

} // namespace iio_stream::iio
