# SPDX-License-Identifier: MIT
"""Real boards for the simulator: converts libiio contexts of real boards to the descriptions that the
simulator reads (tests/kernel/sim_board_text.c). board.py NAME|FILE.xml prints one. See docs/simulator.md."""

import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree
from pathlib import Path

import drivers
import kernel

PACKAGE = "pytest-libiio"  # from PyPI, fetched once; it is not part of the project
TYPES = """voltage current power accel anglvel magn illuminance intensity proximity temp incli rot angl
    timestamp capacitance altvoltage cct pressure humidityrelative activity steps energy distance velocity
    concentration resistance ph uvindex electricalconductivity count index gravity positionrelative phase
    massconcentration""".split()  # in the order of the kernel's enum iio_chan_type
MODIFIERS = {"x": 1, "y": 2, "z": 3, "both": 12, "ir": 13, "clear": 16, "red": 17, "green": 18, "blue": 19,
             "quaternion": 20, "ambient": 21, "object": 22, "i": 32, "q": 33, "co2": 34, "voc": 35, "uv": 36}
CHANNEL = re.compile(rf"({'|'.join(TYPES)})(\d+)?(?:-\1(\d+))?(?:_({'|'.join(MODIFIERS)}))?")
FORMAT = re.compile(r"([bl]e):(\w)(\d+)/(\d+)(?:X(\d+))?>>(\d+)")
READ_ONLY = re.compile(r"\w+_available|label|rssi|input|[rt]x_path_rates|(pll|vcxo)\w+_(present|missing|locked)")


def folder():
    """Returns the folder of the package's contexts. Fetches it if it does not exist."""
    made = kernel.cache_root() / "boards"
    if not made.exists():
        with kernel.locked("boards"):
            if not made.exists():
                _fetch(made)
    return made


def _fetch(made):
    kernel.note(f"fetching the contexts of real boards ({PACKAGE}, once)")
    with tempfile.TemporaryDirectory(dir=kernel.cache_root(), prefix="boards-") as name:
        work = Path(name)
        kernel.run([sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "-q",
                    "--no-deps", "-d", work, PACKAGE])
        for wheel in work.glob("*.whl"):
            shutil.unpack_archive(wheel, work / "tree", "zip")
        found = list((work / "tree").rglob("devices/*.xml"))
        if not found:
            raise kernel.LabError(f"{PACKAGE} has no contexts of boards any more")
        (work / "out").mkdir()
        for path in found:
            shutil.copy(path, work / "out")
        (work / "out").rename(made)


def fill(archive, sim):
    """Adds the descriptions of boards to the guest's files. Returns the parameters of --sim as the guest
    needs them."""
    words = sim.split(",")
    for number, word in enumerate(words):
        if word.startswith("board="):
            path = find(word.removeprefix("board="))
            archive.file(f"job/boards/{path.stem}", describe(path.read_bytes()))
            words[number] = f"board={path.stem}"
    for name in known():
        if f"board={name}" not in words:
            archive.file(f"job/boards/{name}", describe((kernel.cache_root() / "boards" / f"{name}.xml").read_bytes()))
    return ",".join(words)


def known():
    """Returns the names of all boards that are available without fetching anything."""
    made = kernel.cache_root() / "boards"
    return sorted(path.stem for path in made.glob("*.xml"))


def find(board):
    """Returns the path of a context, by a board's name or the path of a file."""
    path = Path(board) if "/" in board or board.endswith(".xml") else folder() / f"{board}.xml"
    if not path.is_file():
        raise kernel.LabError(f"no board {board}; known: {' '.join(known())}, or the path of a context")
    return path


def context(data):
    """Returns the XML tree of a context. Other text may precede it."""
    text = data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8", "replace")
    begins = [match.start() for match in re.finditer(r"<context[\s>]", text)]
    if not begins:
        raise kernel.LabError("no libiio context: there is no <context …> in it")
    try:
        return xml.etree.ElementTree.fromstring(text[begins[-1]:])
    except xml.etree.ElementTree.ParseError as error:
        raise kernel.LabError(f"no libiio context: {error}") from error


def describe(data):
    """Converts a file's bytes to the description that the simulator reads."""
    lines, clocks = [], {}
    for device in context(data).iter("device"):
        if not device.get("id").startswith("hwmon"):
            lines += _device(device, drivers.Rules(device, clocks))
    return "\n".join("\t".join(_plain(word) for word in line) for line in lines).encode() + b"\n"


def _plain(word):
    """Replaces characters that would end a word or a line."""
    return "-" if word is None else re.sub(r"[\t\n]", " ", str(word))


def _device(device, rules):
    name, scans = device.get("name"), _scans(device)
    kind, output = _kind(device, scans), any(output for output, _ in scans)
    align = next((a.get("value") for a in device.iter("buffer-attribute")
                  if a.get("name") == "length_align_bytes"), None)
    yield ("device", device.get("id") if kind == "bus" else name, kind, "out" if output else "in", align or 0,
           rules.clock("out" if output else "in"))
    if kind == "trigger":
        return
    label = device.get("label") or next((a.get("value") for a in device.findall("attribute")
                                         if a.get("name") == "label"), None)
    if label:
        yield "label", label
    if kind in ("dma", "fifo"):
        yield from (scan for _, scan in scans)
        if rules.masks(len(scans)):
            yield ("masks", *rules.masks(len(scans)))
    yield from _attributes(device, rules, timestamp=any(scan[2] == TYPES.index("timestamp") for _, scan in scans))
    yield from _debug(device, kind, output)


def _kind(device, scans):
    if device.get("id").startswith("trigger"):
        return "trigger"
    if not device.get("id").startswith("iio:device"):
        return "bus"
    if not scans:
        return "plain"
    # Only buffers with a DMA engine report the alignment of their lengths.
    aligned = any(a.get("name") == "length_align_bytes" for a in device.iter("buffer-attribute"))
    return "dma" if aligned or re.match("axi-|cf-", device.get("name") or "") else "fifo"


def _scans(device):
    """Returns (output, the words of its line) for each supported scan element, in the order of the scan."""
    found = []
    for channel in device.iter("channel"):
        element = channel.find("scan-element")
        if element is None:
            continue
        name, form = CHANNEL.fullmatch(channel.get("id")), FORMAT.fullmatch(element.get("format"))
        if not name or not form or not _can_be_made(*map(int, form.groups("1")[2:])):
            kernel.note(f"{device.get('name') or device.get('id')}: left out, because the simulator does not "
                        f"support the scan element: {channel.get('id')} {element.get('format')}")
            continue
        output = channel.get("type") == "output"
        endian, sign, real, storage, repeat, shift = form.groups()
        found.append((output, ("scan", element.get("index"), TYPES.index(name[1]), name[2], name[3],
                               MODIFIERS.get(name[4], 0), None, endian, sign, real, storage, repeat or 1, shift)))
    return sorted(found, key=lambda scan: int(scan[1][1]))


def _can_be_made(real, storage, repeat, shift):
    return 0 < real <= real + shift <= storage and storage in (8, 16, 32, 64) and repeat == 1


def _attributes(device, rules, timestamp):
    """Yields each file once. libiio lists a file that several channels share for each of them."""
    seen = {"label", "name"} | ({"current_timestamp_clock"} if timestamp else set())
    for owner in [device, *device.iter("channel")]:
        files = {a.get("name"): a.get("filename") or a.get("name") for a in owner.findall("attribute")}
        for attribute in owner.findall("attribute"):
            name = attribute.get("name")
            file = files[name]
            if file in seen:
                continue
            seen.add(file)
            readable = attribute.get("value") != "ERROR"
            output = owner.get("type") == "output"
            fixed = READ_ONLY.fullmatch(name) or (name == "raw" and not output)
            clock, value = rules.clock_of(file)
            yield ("attr", file, "0444" if fixed else "0644", files.get(f"{name}_available"),
                   clock, rules.guard(file, files), "ok" if readable else "error", value or _value(attribute))


def _value(attribute):
    """Returns the value of an attribute. If the context has none, returns a value that a driver could
    show."""
    value = attribute.get("value")
    if value is None:
        return "" if attribute.get("name").endswith("available") else "0"
    return "" if value == "ERROR" else value.rstrip()


def _debug(device, kind, output):
    found = {a.get("name"): a for a in device.iter("debug-attribute")}
    registers = found.pop("direct_reg_access", None)
    if registers is not None:
        try:
            zero = int(registers.get("value") or "0", 0)
        except ValueError:
            zero = 0
        plausible = 6 <= zero >> 16 <= 0x20
        version = zero if plausible else 0x90162 if output else 0xA0162
        yield "registers", zero, version if kind == "dma" or plausible else None
    for name, attribute in found.items():
        yield "debug", name, "error" if attribute.get("value") == "ERROR" else "ok", _value(attribute)


if __name__ == "__main__":
    try:
        sys.stdout.buffer.write(describe(find(sys.argv[1]).read_bytes()))
    except kernel.LabError as error:
        kernel.note(error)
        sys.exit(1)
    except subprocess.CalledProcessError as error:
        kernel.note(error)
        sys.exit(1)
