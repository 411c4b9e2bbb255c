// SPDX-License-Identifier: MIT
#include "conformance/run.hpp"
namespace iio_stream::conformance {
void check_loopback(Run&, Subject*) {}
void check_transmit_safety(Run&, Subject*) {}
void check_play(Run&, Subject*) {}
void check_cyclic(Run&, Subject*) {}
void check_underflow(Run&, Subject*) {}
void measure_throughput(Run&, Subject*) {}
void measure_highest_rate(Run&, Subject*) {}
void measure_disk(Run&, Subject*) {}
void measure_usb(Run&, Subject*) {}
void measure_latency(Run&, Subject*) {}
void measure_clock(Run&, Subject*) {}
} // namespace iio_stream::conformance
