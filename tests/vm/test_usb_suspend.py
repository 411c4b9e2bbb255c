# SPDX-License-Identifier: MIT
"""A board that its host suspends while no program uses it (docs/lab-findings.md describes the other
cases)."""
from usb import board, configured, end, gadget, host, listener, transfers
from waiting import until

RADIO = "sim: pattern=ramp channels=4 rate=200k"


def test_a_suspended_board_streams_after_each_resume():
    with gadget(speed="high"):  # dummy_hcd does not suspend SuperSpeed devices
        process = board("--block-size 64Ki", source=RADIO)
        power = until(configured, "the board's configuration") / "power"
        (power / "autosuspend_delay_ms").write_text("100")
        (power / "control").write_text("auto")

        def is_in(state):
            return (power / "runtime_status").read_text().strip() == state

        # The later streams do not get the beginning of the ramp.
        for sink in ("verify:ramp", "null:", "null:"):
            until(lambda: is_in("suspended"), "the board is suspended")
            result = host(sink, "--bytes 2Mi")
            assert result.json["bytes"] == 2 << 20
            assert result.gaps["certain"] == result.gaps["possible"] == 0
        until(lambda: is_in("suspended"), "the board is suspended")
        reader = listener("null:")
        begun = transfers()
        while transfers() < begun + 40:  # much longer than autosuspend_delay_ms
            assert is_in("active") and reader.poll() is None
        reader.terminate()
        end(reader)
        until(lambda: is_in("suspended"), "the board is suspended")
        process.terminate()
        report = end(process).json["sinks"][0]["report"]
    assert report["failed_blocks"] == 0
