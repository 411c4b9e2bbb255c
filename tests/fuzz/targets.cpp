// SPDX-License-Identifier: MIT
#include "fuzz/files.hpp"
#include "fuzz/samples.hpp"
#include "fuzz/text.hpp"
#include "fuzz/usb.hpp"

namespace iio_stream::fuzz {

std::span<const Target> targets()
{
    static constexpr Target kTargets[] = {{"uri", &uri},
                                          {"endpoint", &endpoint},
                                          {"scan-type", &scan_type},
                                          {"units", &units},
                                          {"conversion", &conversion},
                                          {"serve-request", &serve_request},
                                          {"store-answer", &store_answer},
                                          {"archive-index", &archive_index},
                                          {"sigmf", &sigmf},
                                          {"journal", &journal},
                                          {"wav", &wav},
                                          {"sigmf-archive", &sigmf_archive},
                                          {"context", &context},
                                          {"usb-header", &usb_header},
                                          {"usb-text", &usb_text},
                                          {"usb-board", &usb_board},
                                          {"usb-host", &usb_host}};
    return kTargets;
}

} // namespace iio_stream::fuzz
