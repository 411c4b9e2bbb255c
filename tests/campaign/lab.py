# SPDX-License-Identifier: MIT
"""The lab's converter as a source: its settings, and its own count of lost samples (docs/simulator.md)."""
import pathlib

DEVICE = "iios-sim-adc"
DEBUG = pathlib.Path("/sys/kernel/debug/iios-sim") / DEVICE
KNOBS = ["rate", "fifo", "stall_at", "stall_ms", "drop_at", "drop", "drop_xflow", "refuse_at"]
DEFAULTS = {"rate": "200000", "fifo": "4096", "stall_at": "off", "stall_ms": "0", "drop_at": "off", "drop": "0",
            "drop_xflow": "1", "refuse_at": "off"}


def generate(chance, maybe):
    """Returns a scenario's source: two I/Q pairs of 16 bits. Positions are in samples."""
    made = {"source": "iio", "format": "ci16_le", "channels": 4, "samples": chance.randrange(1000, 300_000)}
    knobs = {"rate": chance.choice([100_000, 200_000, 500_000])}
    if maybe(chance, 0.3):
        knobs["fifo"] = chance.choice([0, 64, 4096])
    if maybe(chance, 0.3):
        knobs["stall_at"], knobs["stall_ms"] = chance.randrange(made["samples"]), chance.choice([5, 60, 300])
    if maybe(chance, 0.4):
        knobs["drop_at"], knobs["drop"] = chance.randrange(made["samples"]), chance.choice([1, 77, 20_000])
    if maybe(chance, 0.2):
        knobs["refuse_at"] = chance.randrange(40)
    made["knobs"] = knobs
    if maybe(chance, 0.3):
        made["path"] = chance.choice(["dmabuf", "fileio"])
    return made


def prepare(made):
    (DEBUG / "reset").write_text("1")
    for name in KNOBS:
        (DEBUG / name).write_text(str(made["knobs"].get(name, DEFAULTS[name])))


def truth():
    """Returns the number of samples that were lost between delivered samples, as the simulator counted
    them."""
    return int((DEBUG / "lost").read_text())
