# SPDX-License-Identifier: MIT
"""The faults that `iio-stream check` must find. Each has a cause, the check that fails, and a pattern for
the text of that check."""
import contextlib
import pathlib
import subprocess
import threading
from dataclasses import dataclass, field

from conftest import iio_dir, knob
from converters import debugfs

ADC, DAC, PHY = "iios-sim-adc", "iios-sim-dac", "iios-sim-phy"
PLUTO = {"board": "pluto"}
PLUTO_ADC, PLUTO_DAC = "cf-ad9361-lpc", "cf-ad9361-dds-core-lpc"
CHIP = {"converter": "ad9467"}
MOVING = {"rate": 1_000_000}
EIO, EACCES, EBUSY = 5, 13, 16
SHIM = pathlib.Path("/tmp/fault_shim.so")


@dataclass
class Fault:
    name: str
    check: str       # the check that fails
    text: str        # a pattern that the check's text matches
    device: str = ADC
    sim: dict = field(default_factory=dict)      # parameters of the simulator
    knobs: dict = field(default_factory=dict)    # settings of the device before the check
    shim: dict = field(default_factory=dict)     # environment variables of fault_shim.c
    words: str = ""                              # additional arguments
    around: object = contextlib.nullcontext      # a context manager in which the check runs
    prefix: tuple = ()                           # arguments before the command
    leaves_dmabufs: bool = False                 # whether the kernel leaks DMABUFs
    status: int = 1

    def __str__(self):
        return f"{self.check}-{self.name}"


@contextlib.contextmanager
def over(path, other):
    """Bind-mounts another file over `path`, for all programs."""
    subprocess.run(["mount", "--bind", str(other), str(path)], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", str(path)], check=True)


def text_over(path, text):
    file = pathlib.Path("/tmp/in-place")
    file.write_text(text)
    return over(path, file)


@contextlib.contextmanager
def meanwhile(condition, action):
    """Calls `action` once, as soon as `condition` is true."""
    over_ = threading.Event()

    def look():
        while not over_.is_set():
            with contextlib.suppress(OSError):
                if condition():
                    action()
                    return
            over_.wait(0.002)

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield
    finally:
        over_.set()
        thread.join()


def streams(device):
    return lambda: (iio_dir(device) / "buffer0/enable").read_text().strip() == "1"


def module_parameter(module, name, value):
    path = pathlib.Path(f"/sys/module/{module}/parameters/{name}")

    @contextlib.contextmanager
    def changed():
        before = path.read_text()
        path.write_text(str(value))
        try:
            yield
        finally:
            path.write_text(before)
    return changed()


def test_mode(mode):
    @contextlib.contextmanager
    def set_mode():
        debugfs("ad9467", "in_voltage0_test_mode", mode)
        try:
            yield
        finally:
            debugfs("ad9467", "in_voltage0_test_mode", "off")
    return set_mode()


def bad_delay():
    """Sets the interface's delay outside its good range, so that words arrive corrupted."""
    debugfs("ad9467", "backend0/direct_reg_access", "0x800 0x1f")
    return contextlib.nullcontext()


def pluto_file(name):
    return iio_dir("ad9361-phy") / name


def log_a_fault():
    pathlib.Path("/dev/kmsg").write_text("<4>python: page allocation failure: order:9\n")


def power_up():
    pluto_file("out_altvoltage1_TX_LO_powerdown").write_text("0")


@contextlib.contextmanager
def slow_is_left_enabled():
    yield
    (iio_dir("iios-sim-slow") / "buffer0/enable").write_text("0")


@contextlib.contextmanager
def bad_scan_type(text):
    """Replaces the scan type in both sysfs folders that contain it."""
    with text_over(iio_dir(ADC) / "buffer0/in_voltage0_i_type", text), \
            text_over(iio_dir(ADC) / "scan_elements/in_voltage0_i_type", text):
        yield


AS_NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")

FAULTS = [
    # 1xx: the machine
    Fault("not-a-heap", "heaps", "system.*(Inappropriate ioctl|ENOTTY)|DMA_HEAP", words="--only heaps",
          around=lambda: text_over("/dev/dma_heap/system", "")),
    Fault("limit-of-udmabuf", "udmabuf", "udmabuf", around=lambda: module_parameter("udmabuf", "size_limit_mb", 0)),
    Fault("few-files", "limits", "only 64 files can be open", prefix=("prlimit", "--nofile=64:64")),
    Fault("no-permission", "permissions", "Permission denied.*udev", prefix=AS_NOBODY),
    # 2xx: contexts
    Fault("scan-type", "formats", "not understood.*le:s99/16", around=lambda: bad_scan_type("le:s99/16>>0\n")),
    Fault("rate-is-not-a-number", "settings", "reads 'fast', which is not a number",
          around=lambda: text_over(iio_dir(ADC) / "sampling_frequency", "fast\n")),
    Fault("no-device-file", "available", "Permission denied", prefix=AS_NOBODY, status=3),
    # 3xx: tuning
    Fault("refused-rate", "rate", "refuses 2083333, which its driver lists", device=PLUTO_ADC, sim=PLUTO,
          shim={"FAULT_WRITE": f"in_voltage_sampling_frequency:{EIO}"}),
    Fault("stuck-frequency", "frequency", "RX_LO|out_altvoltage0/frequency reads '2400000000' after 325000000",
          device=PLUTO_ADC, sim=PLUTO, shim={"FAULT_STUCK": "RX_LO_frequency"}),
    Fault("stuck-gain", "gain", "hardwaregain reads '71.000000 dB' after -3 was written", device=PLUTO_ADC, sim=PLUTO,
          shim={"FAULT_STUCK": "in_voltage0_hardwaregain"}),
    Fault("stuck-gain-control", "gain", "gain_control_mode reads 'slow_attack' after manual", device=PLUTO_ADC,
          sim=PLUTO, shim={"FAULT_STUCK": "gain_control_mode"}),
    Fault("stuck-bandwidth", "bandwidth", "rf_bandwidth reads '18000000' after 200000", device=PLUTO_ADC, sim=PLUTO,
          shim={"FAULT_STUCK": "rf_bandwidth"}),
    Fault("stuck-antenna", "antenna", "rf_port_select reads 'A_BALANCED' after B_BALANCED",
          shim={"FAULT_STUCK": "rf_port_select"}),
    # 4xx: capture
    Fault("dead-converter", "capture", "only 1000|Connection timed out|no block", knobs={"dead_at": 1000}, status=3),
    Fault("no-enqueue", "capture", "ENQUEUE", shim={"FAULT_IOCTL": f"0x94:{EIO}:3"}, status=3),
    Fault("no-attach", "capture", "EINVAL from IIO_BUFFER_DMABUF_ATTACH", shim={"FAULT_IOCTL": "0x92:22:1"}, status=None),
    Fault("fourth-start-fails", "start-stop", "start [2-9] of 10|buffer0/enable",
          shim={"FAULT_WRITE": f"buffer0/enable:{EIO}:3", "FAULT_VALUE": "1"}, status=None, leaves_dmabufs=True),
    Fault("second-opener-gets-another-error", "two-openers", "refused with the wrong error.*Permission",
          shim={"FAULT_OPEN": f"/dev/iio:{EBUSY}:{EACCES}"}),
    Fault("dma-refuses-a-descriptor", "block-status", "failed in the DMA|Cannot allocate|No memory|ENOMEM",
          knobs={"refuse_at": 12, "refuse_count": 3}, status=None),
    Fault("short-block", "short-blocks", "block 3 is short: the DMA filled .* reported it as complete",
          knobs={"short_at": 3, "short_bytes": 4096}),
    Fault("late-wait", "deadlines", "a wait of 100 ms took", shim={"FAULT_LATE": "1500"}),
    Fault("dma-writes-nothing", "bounced", "pages were not written by the DMA", knobs={"pattern": 3}),
    Fault("holes-in-blocks", "short-blocks", "bytes were not written by the DMA", knobs={"pattern": 2}),
    Fault("dies-in-a-block", "odd-lengths", "a stream of .* samples", knobs={"dead_at": 5000}, status=3),
    Fault("driver-is-not-bound-again", "unplug", "did not come back", words="--destructive",
          shim={"FAULT_STUCK": "/bind"}, leaves_dmabufs=True),
    # 5xx: samples
    Fault("constant", "statistics", "voltage0 is constant: every sample is 0x8000", device="ad9467", sim=CHIP,
          around=lambda: test_mode("midscale_short")),
    Fault("two-values", "statistics", "only the values .* test mode", device="ad9467", sim=CHIP,
          around=lambda: test_mode("checkerboard")),
    Fault("stuck-bit", "statistics", "bit 4 of voltage0_i is always 0", sim={"pattern": "lanes"},
          knobs={"stuck_low": 0x10}),
    Fault("repeated-blocks", "counter", "repeated|back", knobs={"repeat": 262144}),
    Fault("silent-drop", "counter", "lost|missing|skipped", knobs={"drop_at": 100_000, "drop": 5}),
    Fault("counter-channel-jumps", "counter", "count0 jumps from 49999 to 50010", sim={"counter": 32},
          knobs={"drop_at": 50_000, "drop": 10}),
    Fault("interface-delay", "prbs", "monitor reports", device="ad9467", sim=CHIP, around=bad_delay),
    # 6xx: losses
    Fault("unprovoked", "unprovoked-loss", "although the program kept up, by overflow-bit", sim=MOVING,
          knobs={"drop_at": 100_000, "drop": 20_000, "drop_every": 200_000, "drop_xflow": 1}),
    Fault("unreported", "unprovoked-loss", "missing in the pattern of the data, and none was reported", sim=MOVING,
          knobs={"drop_at": 100_000, "drop": 8}),
    Fault("dies-in-the-stall", "stall", "no block|none arrived", sim=MOVING, knobs={"dead_at": 58_000}, status=3),
    Fault("register-does-not-rise", "overflow-register", "the overflow bit did not rise", sim=MOVING,
          shim={"FAULT_STUCK": "direct_reg_access:0", "FAULT_VALUE": "0x88", "FAULT_INSTEAD": "0x84"}),
    # 7xx: DACs
    Fault("dac-refuses-blocks", "play", "Cannot allocate|failed|took 0|ENOMEM|had no memory", device=DAC, words="--transmit",
          knobs={"refuse_at": 2, "refuse_count": 1000}, status=None),
    Fault("dac-dies", "play", "was not done within", device=DAC, words="--transmit", knobs={"dead_at": 1000}, status=3),
    Fault("dac-dies-while-it-repeats", "cyclic", "no block was finished|nothing was repeated", device=DAC, words="--transmit",
          knobs={"dead_at": 1000}, status=None),
    Fault("oscillator-comes-up", "play", "powerdown reads '0' instead of '1' since the DAC started", device=PLUTO_DAC,
          sim={**PLUTO, "rate": 1_000_000}, around=lambda: meanwhile(streams(PLUTO_DAC), power_up)),
    # 8xx: measurements
    Fault("dead-while-measured", "throughput", "no block arrived", knobs={"dead_at": 1000}, status=3),
    # 9xx: leftovers
    Fault("not-restored", "restored", "RX_LO_frequency reads '.*', but was '2400000000'", device=PLUTO_ADC, sim=PLUTO,
          words="--only frequency", shim={"FAULT_STUCK": "RX_LO_frequency:3"}),
    Fault("left-enabled", "leaks", "the buffer of iios-sim-slow is enabled", device="", sim={"slow": 1},
          words="--only capture", shim={"FAULT_ENABLED": "iios-sim-slow"}, around=slow_is_left_enabled),
    Fault("kernel-complains", "kernel-log", "page allocation failure", words="--only capture",
          around=lambda: meanwhile(streams(ADC), log_a_fault)),
]


def one_of_each_kind(faults):
    """Returns the first fault of each kind of check. The hundreds digit of a check's number is its kind."""
    listed = subprocess.run(["iio-stream", "check", "--list"], check=True, capture_output=True, text=True).stdout
    kinds = {name: int(number) // 100 for number, name, _ in (line.split(maxsplit=2) for line in listed.splitlines())}
    return list({kinds[fault.check]: fault for fault in reversed(faults)}.values())[::-1]


def set_knobs(fault):
    for name, value in fault.knobs.items():
        knob(name, value, device=fault.device)
