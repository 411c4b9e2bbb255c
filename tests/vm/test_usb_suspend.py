# SPDX-License-Identifier: MIT
"""A board that its host suspends while no program has it (docs/lab-findings.md: the other ways)."""
from usb import board, configured, end, gadget, host, listener, transfers
from waiting import until

RADIO = "sim: pattern=ramp channels=4 rate=200k"


def test_a_board_streams_whenever_it_is_woken():
    with gadget(speed="high"):  # dummy_hcd suspends no SuperSpeed device
        process = board("--block-size 64Ki", source=RADIO)
        power = until(configured, "the board's configuration") / "power"
        (power / "autosuspend_delay_ms").write_text("100")
        (power / "control").write_text("auto")

        def is_in(state):
            return (power / "runtime_status").read_text().strip() == state

        for sink in ("verify:ramp", "null:", "null:"):  # the later ones do not get the ramp's beginning
            until(lambda: is_in("suspended"), "the board's sleep")
            result = host(sink, "--bytes 2Mi")
            assert result.json["bytes"] == 2 << 20
            assert result.gaps["certain"] == result.gaps["possible"] == 0
        until(lambda: is_in("suspended"), "the board's sleep")
        reader = listener("null:")
        begun = transfers()
        while transfers() < begun + 40:  # much longer than autosuspend_delay_ms
            assert is_in("active") and reader.poll() is None
        reader.terminate()
        end(reader)
        until(lambda: is_in("suspended"), "the board's sleep")
        process.terminate()
        report = end(process).json["sinks"][0]["report"]
    assert report["failed_blocks"] == 0
