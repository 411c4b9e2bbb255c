# SPDX-License-Identifier: MIT
# guest: --buffers legacy --disk 2Gi
# guest: --buffers legacy:broken --disk 2Gi
# guest: --buffers legacy:single --disk 2Gi
"""Capture and playback through the kernel's own blocks, on kernels with legacy blocks such as Analog
Devices'. With `broken` any read() or write() of a DMA buffer, and enabling one without blocks, panics the
guest.

    script/vm --buffers legacy --disk 2Gi -- /usr/bin/python3 -m pytest -q tests/vm/test_legacy_blocks.py
"""
import json
import os
import pathlib
import subprocess
import sys

import counts
import numpy as np
import pytest
from conftest import ADC, DAC, DISK, finish, interrupt, iio_dir, knob, run, sim, start, stream, truth
from errors import as_nobody
from libiio_programs import SAMPLE
from playing import RAMP, RAW, count, no_gap, play, playback, ramp_file
from serving import URI, Serving, readdev, said
from waiting import until

MODE = pathlib.Path("/sys/module/industrialio_buffer_dmaengine/parameters/mode").read_text().strip()
CMA = pathlib.Path("/sys/module/industrialio_buffer_dmaengine/parameters/cma")
HERE = pathlib.Path(__file__).resolve().parent
OPTION = "CONFIG_IIO_DMA_BUF_MMAP_LEGACY"


@pytest.fixture(autouse=True)
def fresh():
    CMA.write_text("0")
    sim()


def in_place(summary):
    hop = summary["route"][0]
    assert (hop["mechanism"], hop["memory"], hop["copies"]) == ("mmap", "kernel", 0)
    assert OPTION in hop["reason"]


def test_a_recording_contains_every_sample_and_costs_one_copy():
    file = DISK / "a.ci16"
    summary = run(f"record iio:{ADC} {file} overwrite=on --bytes 64Mi --json").json
    source, disk = summary["route"]
    assert (source["mechanism"], source["memory"], source["copies"]) == ("mmap", "pages", 1)
    assert OPTION in source["reason"]
    assert disk["mechanism"] == "io_uring-direct" and summary["copies"] == 1
    assert file.stat().st_size == 64 << 20
    words = memoryview(file.read_bytes()).cast("Q")
    assert words[0] == 0 and words[-1] == len(words) - 1 and all(words[i] == i for i in range(0, len(words), 97))
    assert "every sample in place" in run(f"verify --pattern ramp {file}").out


@pytest.mark.parametrize("blocks", ["--block-size 4Ki --blocks 64", "--block-size 2000 --blocks 64", "--block-size 16Mi --blocks 4", ""])
def test_a_reader_sees_the_kernels_blocks_without_a_copy(blocks):
    # The kernel hands out a block only when it is full, so large blocks need a high rate.
    sim(rate=2_000_000 if "16Mi" in blocks else 50_000)
    summary = stream(f"iio:{ADC} verify:ramp --bytes 1000000 {blocks}").json
    in_place(summary)
    assert summary["copies"] == 0 and summary["samples"] == 125_000
    report = summary["sinks"][0]["report"]
    assert report["samples"] == 125_000 and report["mismatches"] == report["gaps"] == 0


def test_path_dmabuf_is_refused_by_a_device_with_legacy_blocks():
    assert OPTION in run(f"stream iio:{ADC} path=dmabuf null: --bytes 1Mi", status=3).err


def test_the_summary_has_the_number_of_blocks_that_the_kernel_could_allocate():
    CMA.write_text(str(6 << 20))
    summary = stream(f"iio:{ADC} verify:ramp --bytes 8Mi --block-size 1Mi --blocks 16").json
    in_place(summary)
    assert summary["block_count"] == 6
    assert "6 of 16 blocks of 1Mi" in summary["route"][0]["reason"]
    assert summary["sinks"][0]["report"]["mismatches"] == 0


def test_read_is_not_used_if_the_kernel_has_no_memory_for_a_block():
    """Another stream might hold all of the memory. With `broken`, read() and write() panic the guest."""
    CMA.write_text("100")
    for words in (f"record iio:{ADC} {DISK}/none.ci16 --samples 1000", f"stream iio:{ADC} null: --samples 1000",
                  f"stream sim: pattern=ramp rate=1M channels=4 iio:{DAC} --samples 1000"):
        error = run(words, status=3).err
        assert "memory" in error and "read()" not in error, error
    assert not (DISK / "none.ci16").exists()
    report = run(f"info iio:{ADC} --json").json
    assert "mmap" in json.dumps(report) and "fileio" not in json.dumps(report)
    readdev_by = ["iio-stream", "run", "--", "iio_readdev", "-u", "local:", "-b", "1024", "-s", "1024", ADC]
    done = subprocess.run(readdev_by, capture_output=True, timeout=60, check=False)
    assert done.returncode != 0 and done.stdout == b"", done.stderr  # libiio has no other memory either


def test_little_kernel_memory_is_used_in_smaller_blocks_and_costs_a_copy():
    CMA.write_text(str(2 << 20))
    summary = stream(f"iio:{ADC} verify:ramp --bytes 16Mi --block-size 2Mi --blocks 8").json
    source = summary["route"][0]
    assert (source["mechanism"], source["copies"], summary["block_count"]) == ("mmap", 1, 8)
    assert "1 of 8 blocks of 2Mi" in source["reason"] and "512Ki" in source["reason"]
    report = summary["sinks"][0]["report"]
    assert report["samples"] == 2 << 20 and report["mismatches"] == report["gaps"] == 0


def test_a_view_outlives_its_stream_without_keeping_the_device_open():
    """The view's address does not change. A second stream reads the same samples as the first, because the
    ramp starts again."""
    sim(rate=4_000_000)
    done = subprocess.run(["/usr/bin/python3", "-B", "-c", f"""
import numpy as np
import iio_stream as ios
rx = ios.source("iio:{ADC}", block_size="64Ki", blocks=8)
held = [next(iter(rx)) for _ in range(3)]
views = [block.array for block in held]
address = views[2].__array_interface__["data"][0]
before = [view.copy() for view in views]
assert str(rx.route).count("mmap") == 1 and rx.route[0].copies == 0, rx.route
rx.close()
with ios.source("iio:{ADC}", block_size="64Ki", blocks=8) as again:
    first = next(iter(again)).array.copy()
assert (first == before[0]).all(), "the second stream starts the ramp again"
for view, copy in zip(views, before):
    assert (view == copy).all()
assert views[2].__array_interface__["data"][0] == address
words = np.concatenate([view.reshape(-1).view(np.uint64) for view in views])
assert (words == np.arange(len(words))).all()
print("held", len(words))
"""], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("held")


@pytest.mark.parametrize("fifo", [0, 4096])
@pytest.mark.parametrize("sink", ["", f"{DISK}/loss.ci16 overwrite=on"])
def test_a_stall_is_reported_as_a_gap_that_contains_the_true_loss(fifo, sink):
    """Tests both the blocks in place and copies of them. Eight blocks of 8 ms do not bridge 300 ms."""
    sim(rate=250_000, fifo=fifo)
    result = stream(f"iio:{ADC} verify:ramp {sink} null: stall_at=50000 stall_for=300ms "
                    "--duration 1s --block-size 16Ki --blocks 8")
    report = result.json["sinks"][0]["report"]
    lost = sum(lost for at, lost in truth()[0] if at < result.json["samples"])
    assert lost > 0 and report["lost"] == lost and report["unreported"] == 0
    assert result.gaps["lost_min"] <= lost <= result.gaps["lost_max"]
    assert "starvation" in result.gaps["evidence"]


def test_a_steady_stream_reports_no_loss():
    sim(rate=100_000)
    result = stream(f"iio:{ADC} verify:ramp --duration 2s")
    assert truth()[1] == 0 and result.json["samples"] == 200_000
    assert result.gaps["certain"] == result.gaps["possible"] == 0


def test_a_stream_whose_buffer_another_process_disables_reports_it():
    process = start(f"stream iio:{ADC} null: --json")
    until(lambda: int(knob("delivered")) > 0)
    (iio_dir(ADC) / "buffer0/enable").write_text("0")
    result = finish(process)
    assert result.status == 3 and "another process disabled the buffer" in result.err


def test_an_unplugged_device_ends_the_stream():
    process = start(f"stream iio:{ADC} null: --json")
    until(lambda: int(knob("delivered")) > 0)
    knob("unplug", 1)
    result = finish(process)
    assert result.status == 3 and "the device is gone" in result.err


def test_ctrl_c_ends_a_recording_and_frees_the_device():
    file = DISK / "c.ci16"
    process = start(f"record iio:{ADC} {file} overwrite=on --json")
    until(lambda: int(knob("delivered")) > 0)
    interrupt(process)
    result = finish(process)
    assert result.status == 0 and result.json["ended"] == "signal"
    assert "every sample in place" in run(f"verify --pattern ramp {file}").out
    assert stream(f"iio:{ADC} null: --bytes 1Mi").status == 0


def test_a_killed_stream_leaves_the_device_usable():
    process = start(f"stream iio:{ADC} null:")
    until(lambda: int(knob("delivered")) > 0)
    process.kill()
    finish(process)
    in_place(stream(f"iio:{ADC} verify:ramp --bytes 8Mi").json)


# Playback, checked by the DAC's own counters.

@pytest.mark.parametrize("size,blocks", [("8Mi", ""), ("64Ki", ""), ("8Mi", "--block-size 64Ki --blocks 4")])
def test_a_file_is_played_to_its_last_sample(size, blocks):
    ramp_file(RAMP, bytes=size)
    result = play(f"file:{RAMP} {RAW} iio:{DAC} {blocks}")
    assert result.json["route"][-1]["mechanism"] == "mmap" and result.json["route"][-1]["copies"] == 1
    assert count("delivered") * SAMPLE == RAMP.stat().st_size
    no_gap()


def test_samples_go_from_the_adc_to_the_dac_with_one_copy():
    summary = stream(f"iio:{ADC} iio:{DAC} --bytes 64Mi").json
    in_place(summary)
    assert summary["route"][1]["mechanism"] == "mmap" and summary["copies"] == 1
    assert count("delivered") * SAMPLE == 64 << 20
    no_gap()


def test_cyclic_samples_are_repeated_in_hardware_without_interrupts():
    sim(dac_rate=1_000_000)
    ramp_file(RAMP, samples=1000)
    result = play(f"file:{RAMP} {RAW} iio:{DAC} cyclic=on --duration 500ms")
    assert "repeated in hardware" in result.json["route"][-1]["reason"]
    assert count("delivered") > 100_000 and count("interrupts") == 0
    # Each repetition is one jump back, and nothing else is wrong.
    rounds = count("delivered") // 1000
    assert count("mismatches") == count("check_repeats") and count("check_repeats") in (rounds - 1, rounds)


@pytest.mark.parametrize("sim_options", [{}, {"sg": 0}])
def test_cyclic_samples_are_repeated_in_software_on_request(sim_options):
    sim(dac_rate=1_000_000, **sim_options)
    ramp_file(RAMP, samples=1000)
    result = play(f"file:{RAMP} {RAW} iio:{DAC} cyclic=software --duration 500ms")
    assert "cyclic=software was given" in result.json["route"][-1]["reason"] and playback(result)["repeats"] > 100
    assert count("mismatches") == count("check_repeats") == (count("delivered") - 1) // 1000


def test_an_underflow_is_counted():
    """The source is slower than the DAC, so the DAC's queue becomes empty."""
    sim(dac_rate=1_000_000)
    result = stream(f"sim: pattern=ramp channels=4 rate=200k iio:{DAC} --duration 1s --block-size 16Ki")
    assert playback(result)["underflows"] > 0 and count("underflows") > 0


# Reports of a kernel with legacy blocks, and refused requests.

def test_info_and_doctor_name_the_path_and_the_kernels_option():
    buffer, = json.loads(run(f"info {ADC} --json").out)["devices"][0]["buffers"]
    assert buffer["path"] == "mmap" and buffer["dmabuf"] is False and OPTION in buffer["reason"]
    checks = {check["name"]: check for check in json.loads(run("doctor --json").out)["checks"]}
    assert "takes no DMABUFs" in checks["kernel"]["detail"] and OPTION in checks["kernel"]["detail"]
    assert f"{ADC} (input, mmap: " in checks["IIO devices"]["detail"]


if MODE != "broken":  # read() panics there
    def test_path_fileio_warns_before_it_streams():
        result = run(f"stream iio:{ADC} path=fileio verify:ramp --samples 1000 --json")
        assert result.mechanism == "fileio"
        assert "can corrupt memory or panic" in result.err
        if MODE == "fixed":
            assert result.json["sinks"][0]["report"]["mismatches"] == 0


@pytest.mark.parametrize("client", ["iio_readdev", "block_client"])
def test_inspecting_a_device_does_not_disturb_a_stream(client, tmp_path):
    """The client uses the device's file (libiio 0.x), or only the buffer's file (libiio 1.x)."""
    sim(rate=250_000)
    out = (tmp_path / "out").open("wb")
    samples = counts.INSPECTED_SAMPLES
    words = (["iio_readdev", "-u", "local:", "-b", "65536", "-s", str(samples), ADC] if client == "iio_readdev" else
             ["/usr/bin/python3", "-B", HERE / "block_client.py", ADC, str(samples / 250_000)])
    process = subprocess.Popen(words, stdout=out, stderr=subprocess.PIPE)
    until(lambda: int(knob("delivered")) > 0)
    rounds = 0
    while process.poll() is None and rounds < 100:
        assert run("info --json", timeout=20).status == 0
        if rounds == 0:  # the stream continues for some seconds
            buffer, = next(device for device in json.loads(run("info --json").out)["devices"]
                           if device["name"] == ADC)["buffers"]
            assert buffer["path"] is None and "in use" in buffer["reason"] and "not probed" in buffer["reason"]
        if rounds % 20 == 0:
            assert run("doctor", timeout=20, status=None).status in (0, 1)
            checked = run(f"check {ADC} --report none --only paths", timeout=60, status=None)
            assert "in use, not probed" in checked.out or process.poll() is not None, checked.out
        rounds += 1
    _, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert rounds >= 10 and truth()[1] == 0
    data = (tmp_path / "out").read_bytes()
    if client == "iio_readdev":
        words = memoryview(data).cast("Q")
        assert len(words) == samples and words[-1] == samples - 1 and words[12345] == 12345
    else:
        told = json.loads(data.splitlines()[-1])
        assert told["missing"] == 0 and told["samples"] > samples // 2


def test_a_user_who_cannot_see_other_programs_does_not_open_an_enabled_device(tmp_path):
    """Closing the device's file would free the blocks of a program that only has the buffer's file."""
    sim(rate=100_000)
    device = iio_dir(ADC)
    os.chmod(f"/dev/{device.name}", 0o666)
    with (tmp_path / "out").open("wb") as out:
        client = subprocess.Popen(["/usr/bin/python3", "-B", HERE / "block_client.py", ADC, "6"], stdout=out)
        until(lambda: int(knob("delivered")) > 0)
        refused = as_nobody(f"stream iio:{ADC} null: --samples 1000")
        assert refused.status == 3 and "echo 0 | sudo tee" in refused.err
        assert client.wait(timeout=60) == 0
    assert json.loads((tmp_path / "out").read_bytes().splitlines()[-1])["missing"] == 0


# Other interfaces.

def test_a_flowgraph_of_gnu_radio_receives_every_sample():
    sys.path.insert(0, os.environ.get("IIO_STREAM_BUILD", str(HERE.parents[1] / "build")) + "/gr")
    gr = pytest.importorskip("gnuradio.gr")
    from gnuradio import blocks, iio_stream  # noqa: PLC0415
    sim(rate=250_000, pattern="ramp")
    top, sinks = gr.top_block(), [blocks.vector_sink_s(2), blocks.vector_sink_s(2)]
    source = iio_stream.source(f"iio:{ADC}", "sc16", samples=100_000)
    for port, sink in enumerate(sinks):
        top.connect((source, port), blocks.head(4, 100_000), sink)
    top.run()
    assert truth()[1] == 0
    # A word of the ramp is four values of 16 bits. The values of the first pair are its lower half.
    low, high = (np.array(sink.data(), dtype=np.int16).view(np.uint32).astype(np.uint64) for sink in sinks)
    assert np.array_equal(low | high << np.uint64(32), np.arange(100_000, dtype=np.uint64))
    del top, source


@pytest.mark.parametrize("path", [[], ["--path", "mmap"]])
def test_a_libiio_program_uses_the_blocks_under_run(path):
    done = subprocess.run(["iio-stream", "run", *path, "--", "iio_readdev", "-u", "local:", "-b", "8192", "-s", "262144", ADC],
                          capture_output=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    words = memoryview(done.stdout).cast("Q")
    assert len(words) == 262_144 and all(words[i] == i for i in range(len(words)))


def test_serve_reads_and_plays_through_the_blocks():
    sim(rate=250_000)
    with Serving("--allow", f"play:{DAC}") as server:
        words = memoryview(said(readdev(262_144))).cast("Q")
        assert len(words) == 262_144 and all(words[i] == i for i in range(len(words)))
        ramp_file(RAMP, bytes="1Mi")
        with RAMP.open("rb") as file:
            said(["iio_writedev", "-u", URI, "-b", "8192", "-s", "131072", DAC], stdin=file)
    assert "mmap" in json.dumps(server.end())
    assert count("delivered") == 131_072
    no_gap()



def test_a_loss_is_reported_even_if_the_driver_clears_the_overflow_bit_with_each_block():
    """Analog Devices' driver does this. The bit is set when the queue becomes empty, and read before the next
    block clears it."""
    sim(rate=250_000, fifo=0, xflow="adi", xflow_clear=1)
    result = stream(f"iio:{ADC} verify:ramp null: stall_at=50000 stall_for=300ms "
                    "--duration 1s --block-size 16Ki --blocks 8")
    lost = sum(lost for at, lost in truth()[0] if at < result.json["samples"])
    assert lost > 0 and result.json["sinks"][0]["report"]["unreported"] == 0
    assert result.gaps["lost_min"] <= lost <= result.gaps["lost_max"]
    assert result.gaps["certain"] >= 1 and result.gaps["evidence"] == ["overflow-bit", "starvation"]


@pytest.mark.parametrize("sink", ["", f"{DISK}/lost.ci16 overwrite=on"])
def test_a_loss_while_the_device_has_blocks_is_found_before_the_driver_clears_the_register(sink):
    """Samples are lost between converter and DMA. No queue becomes empty, and the driver clears the bit some
    milliseconds later. A loss between our read and the driver's clearing is not detected, so each loss is
    placed three quarters of a block after our read."""
    block = 16384
    sim(rate=1_000_000, fifo=4096, xflow="adi", xflow_clear=1, drop_at=18 * block + 12288, drop=123, drop_every=15 * block,
        drop_xflow=1)
    result = stream(f"iio:{ADC} verify:ramp {sink} --samples 1200000 --block-size {block * SAMPLE} --blocks 16")
    losses = [(at, lost) for at, lost in truth()[0] if at < result.json["samples"]]
    lost = sum(lost for _, lost in losses)
    assert len(losses) >= 4 and result.json["sinks"][0]["report"]["unreported"] == 0
    assert result.gaps["certain"] >= len(losses)
    assert "overflow-bit" in result.gaps["evidence"]
    assert result.gaps["lost_min"] <= lost <= result.gaps["lost_max"]
    assert "it is read before each" in result.json["route"][0]["reason"]


def test_the_devices_of_a_pluto_stream_through_the_blocks():
    sim(board="pluto")
    file = DISK / "pluto.bin"
    recorded = run(f"record iio:cf-ad9361-lpc frequency=2.4G {file} overwrite=on --samples 1000000 --json").json
    assert recorded["route"][0]["mechanism"] == "mmap" and recorded["copies"] == 1
    words = np.fromfile(file, dtype=np.uint64)
    assert len(words) == 500_000 and np.array_equal(words, np.arange(len(words), dtype=np.uint64))
    dac = "cf-ad9361-dds-core-lpc"
    played = play(f"file:{file} format=ci16_le iio:{dac}").json
    assert played["route"][-1]["mechanism"] == "mmap"
    assert int(knob("delivered", device=dac)) == 1_000_000 and int(knob("mismatches", device=dac)) == 0


@pytest.mark.parametrize("sink", ["", f"{DISK}/short.ci16 overwrite=on"])
def test_a_short_block_is_delivered_with_its_length_and_a_possible_loss(sink):
    """Tests both the block in place and a copy of it. Only a core without scatter-gather reports the
    transferred length."""
    sim(rate=100_000, sg=0, short_at=5, short_bytes=1024)
    result = stream(f"iio:{ADC} verify:ramp {sink} --samples 100000 --block-size 32Ki --blocks 16")
    report = result.json["sinks"][0]["report"]
    assert report["samples"] == 100_000 and report["unreported"] == report["repeats"] == report["reorders"] == 0
    assert report["lost"] <= result.gaps["lost_max"] == 1024 // SAMPLE  # the missing bytes of the block
    assert result.json["blocks_bad"]["error"] == 1
