# SPDX-License-Identifier: MIT
"""Tags and messages: time, rate and frequency at the right samples, and every loss at its sample."""
import datetime
import json
import time

import numpy as np
import pmt
import pytest
from conftest import Heard, Received, finish, ramp
from gnuradio import blocks, gr, iio_stream, pdu
from waiting import until

RATE = 1_000_000
DROP = f"sim:?pattern=ramp&rate={RATE}&drop_at=12345&drop=100"
COUNT = 40_000


def seconds(rx_time):
    """Converts the tuple of gr-uhd, which has whole seconds and the fraction."""
    whole, rest = rx_time
    assert isinstance(whole, int) and isinstance(rest, float) and 0 <= rest < 1
    return whole + rest


def is_loss(loss, lost):
    return loss["lost_min"] == loss["lost_max"] == lost and loss["evidence"] == "counter"


def test_time_and_rate_are_tagged_once_at_the_start():
    before = time.time()
    made = Received(f"sim:?pattern=ramp&rate={RATE}", samples=COUNT)
    assert [(offset, key) for offset, key, _ in made.tags] == [(0, "rx_rate"), (0, "rx_time")]
    assert made.tagged("rx_rate") == [(0, 1e6)]
    assert before - 1 < seconds(made.tagged("rx_time")[0][1]) < time.time()


def test_an_unknown_time_and_rate_are_not_tagged():
    assert Received("sim:?rate=0", samples=COUNT).tags == []


def test_a_recordings_frequency_is_tagged(tmp_path):
    top = gr.top_block()
    path = tmp_path / "a.sigmf-meta"
    top.connect(blocks.null_source(8), blocks.head(8, 1000),
                iio_stream.sink(f"file:{path}", sample_rate=RATE))
    top.run()
    metadata = json.loads(path.read_text())
    metadata["captures"][0]["core:frequency"] = 2.4e9
    path.write_text(json.dumps(metadata))
    made = Received(str(path))
    assert made.tagged("rx_freq") == [(0, 2.4e9)] and made.tagged("rx_rate") == [(0, 1e6)]
    first = datetime.datetime.fromisoformat(metadata["captures"][0]["core:datetime"].replace("Z", "+00:00"))
    (offset, said), = made.tagged("rx_time")  # the time of recording, not of reading
    assert offset == 0 and abs(seconds(said) - first.timestamp()) < 2e-6
    metadata["captures"][0].pop("core:datetime")
    path.write_text(json.dumps(metadata))
    assert Received(str(path)).tagged("rx_time") == []


@pytest.mark.parametrize("begin, expected", [("1969-12-31T23:59:59.99Z", [10_000]),
                                             ("1969-12-31T00:00:00Z", []),
                                             ("1970-01-01T00:00:00.25Z", [0, 10_000])])
def test_a_time_before_1970_is_not_tagged(tmp_path, begin, expected):
    """The second capture begins 20 ms after the first one. 10 ms of samples are lost before it."""
    (tmp_path / "a.sigmf-data").write_bytes(bytes(4 * 30_000))
    captures = [{"core:sample_start": 0, "core:datetime": begin},
                {"core:sample_start": 10_000, "core:global_index": 20_000}]
    (tmp_path / "a.sigmf-meta").write_text(json.dumps({
        "global": {"core:datatype": "ci16_le", "core:version": "1.2.5", "core:sample_rate": RATE},
        "captures": captures, "annotations": []}))
    made = Received(str(tmp_path / "a.sigmf-meta"))
    assert [offset for offset, _ in made.tagged("rx_time")] == expected
    first = datetime.datetime.fromisoformat(begin.replace("Z", "+00:00")).timestamp()
    for offset, said in made.tagged("rx_time"):
        assert abs(seconds(said) - first - (0.02 if offset else 0)) < 2e-6
    assert made.tagged("rx_rate") == [(0, 1e6), (10_000, 1e6)]


def test_a_loss_is_at_its_exact_sample():
    made = Received(DROP, "sc16", samples=COUNT)
    (offset, loss), = made.tagged("overflow")
    assert offset == 12345 and is_loss(loss, 100) and loss["before"] == loss["span"] == loss["sample"] == 0
    (first, start), (second, later) = made.tagged("rx_time")
    assert (first, second) == (0, 12345) and made.tagged("rx_rate") == [(0, 1e6), (12345, 1e6)]
    assert abs(seconds(later) - seconds(start) - 12445 / RATE) < 2e-6
    values = ramp(2 * (COUNT + 100)).reshape(-1, 2)
    assert (made.ports[0] == np.delete(values, slice(12345, 12445), axis=0)).all()
    message, = made.said("overflow")
    assert message["item"] == 12345 and is_loss(message, 100)


def test_every_port_has_the_tags():
    made = Received(f"{DROP}&channels=4", samples=COUNT, ports=2)
    assert made.tags_of_ports[0] == made.tags_of_ports[1] and len(made.tags) == 5


def test_the_tag_of_a_loss_in_a_vector_has_the_sample():
    made = Received(DROP, vlen=100, samples=COUNT)
    (offset, loss), = made.tagged("overflow")
    assert (offset, loss["sample"]) == (123, 45)


@pytest.mark.parametrize("vlen", [7, 100, 4096])
def test_the_time_of_an_item_is_the_time_of_its_first_sample(vlen):
    made = Received(DROP, vlen=vlen, samples=COUNT)
    (_, start), (item, later) = made.tagged("rx_time")
    assert item == 12345 // vlen and 12345 % vlen != 0
    assert abs(seconds(later) - seconds(start) - (item * vlen + 100) / RATE) < 2e-6


def test_on_gap_zero_fill_inserts_zeros_for_lost_samples():
    made = Received(DROP, "sc16", samples=COUNT, on_gap="zero-fill")
    values = ramp(2 * (COUNT + 100)).reshape(-1, 2).copy()
    values[12345:12445] = 0
    assert (made.ports[0] == values).all()
    assert made.tagged("overflow")[0][0] == 12345
    (_, start), (second, later) = made.tagged("rx_time")
    assert second == 12445 and abs(seconds(later) - seconds(start) - 12445 / RATE) < 2e-6


def test_a_flowgraph_can_stop_before_a_loss():
    made = Received(DROP, "sc16", samples=COUNT, on_gap="stop")
    assert (made.ports[0].reshape(-1) == ramp(2 * 12345)).all()
    assert is_loss(made.said("overflow")[0], 100) and made.said("ended")[0]["ended"] == "gap"


def test_a_packet_ends_before_a_gap():
    made = Received(DROP, samples=COUNT, packet_len="packet", buffer_size=4096)
    place = 0
    for offset, length in made.tagged("packet"):
        assert offset == place and 0 < length <= 4096
        place += length
    assert place == COUNT and 12345 in [offset for offset, _ in made.tagged("packet")]


def test_packets_become_messages():
    top = gr.top_block()
    source = iio_stream.source(DROP, packet_len="packet_len", samples=COUNT)
    convert = pdu.tagged_stream_to_pdu(gr.types.complex_t, "packet_len")
    heard = blocks.message_debug()
    top.connect(source, convert)
    top.msg_connect(convert, "pdus", heard, "store")
    top.start()
    finish(top)
    lengths = [pmt.length(pmt.cdr(heard.get_message(i))) for i in range(heard.num_messages())]
    assert sum(lengths) == COUNT


def test_statistics_arrive_at_their_interval_and_at_the_end():
    top = gr.top_block()
    source = iio_stream.source(f"sim:?pattern=ramp&rate={RATE}&drop_at=5000&drop=10", stats_interval=0.05)
    top.connect(source, blocks.null_sink(8))
    heard = Heard(top, source, "stats")
    top.start()
    until(lambda: len(heard()) >= 3, "statistics")
    top.stop()
    top.wait()
    *_, last = heard()
    assert last["certain"] == 1 and last["lost_min"] == last["lost_max"] == 10
    counts = [one["samples"] for one in heard()]
    assert counts == sorted(counts) and counts[-1] > 5000


def command(words):
    dictionary = pmt.make_dict()
    for key, value in words.items():
        dictionary = pmt.dict_add(dictionary, pmt.intern(key), pmt.to_pmt(value))
    return dictionary


@pytest.mark.parametrize("message,complaint", [
    (command({"freq": 2.4e9}), "cannot be tuned"),
    (pmt.cons(pmt.intern("gain"), pmt.from_double(3)), "cannot be tuned"),
    (pmt.intern("hello"), "not a dictionary or pair"),
    (pmt.make_dict(), "command is empty"),
    (command({"gain": [1, 2]}), "not a number or text"),
    # Commands of gr-uhd. The error of a source without a radio shows that the block accepts them.
    (command({"freq": 2.4e9, "chan": 0, "lo_offset": 0.0, "mboard": 0}), "cannot be tuned"),
    (command({"gain": 3, "chan": -1}), "cannot be tuned"),
    (pmt.make_tuple(pmt.intern("freq"), pmt.from_double(1e9)), "cannot be tuned"),
    (pmt.make_tuple(pmt.intern("gain"), pmt.from_double(1), pmt.from_long(0)), "cannot be tuned"),
    (command({"tune": (1e9, 0.0)}), "cannot be tuned"),
    (command({"tune": (1e9, 2e6)}), "lo_offset"),
    (command({"freq": 2.4e9, "lo_offset": 1e6}), "lo_offset"),
    (command({"freq": 2.4e9, "chan": 1}), "chan=1: the block has 1 ports"),
    (command({"freq": 2.4e9, "chan": "a"}), "not a valid channel number"),
    (command({"gain": 3, "time": (1, 0.5)}), "executed at once"),
    (command({"gain": np.array([1.0, 2.0])}), "not a number or text")])
def test_a_command_that_fails_is_answered_with_an_error(message, complaint):
    top = gr.top_block()
    source = iio_stream.source(f"sim:?pattern=ramp&rate={RATE}")
    top.connect(source, blocks.null_sink(8))
    heard = Heard(top, source)
    top.start()
    source.to_basic_block()._post(pmt.intern("command"), message)
    until(lambda: heard("answer"), "an answer")
    top.stop()
    top.wait()
    assert complaint in heard("answer")[0]["error"]["message"]
