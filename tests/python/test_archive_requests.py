# SPDX-License-Identifier: MIT
"""`iio-stream archive push` uploads several parts at once, with few requests for each."""
import collections
import signal
import subprocess
import threading
import time
import urllib.parse

import pytest
from archives import record
from conftest import DEADLINE

import iio_stream as ios

pytest.importorskip("s3fs", reason="needs s3fs, which script/test installs")
pytest.importorskip("moto.server", reason="needs moto, which script/test installs")
import s3fs  # noqa: E402
from pushing import COMMAND, digests, large, push, stored  # noqa: E402

CONNECTIONS = 4
PARTS = 16


@pytest.fixture
def folder(tmp_path):
    """A recording of 16 parts."""
    made = tmp_path / "rec"
    made.mkdir()
    record(made / "a.sigmf-meta", samples=16_384 * PARTS)
    return made


def requests(server):
    """Returns how many requests of each method the server has had since the last call."""
    found = collections.Counter(method for method, *_ in server.bodies)
    server.bodies.clear()
    return found


class Uploads:
    """Watches the uploads of samples, as a fault of the server. Holds the first ones until as many have
    arrived as there are connections, and then until `released` is set."""

    def __init__(self):
        self.arrived, self.released, self._lock = threading.Event(), threading.Event(), threading.Lock()
        self.waiting, self.most, self.late = 0, 0, 0

    def __call__(self, environ, body):
        if environ["REQUEST_METHOD"] != "PUT" or not environ["RAW_URI"].endswith("-data"):
            return
        with self._lock:
            self.waiting += 1
            self.most = max(self.most, self.waiting)
            if self.waiting == CONNECTIONS:
                self.arrived.set()
        self.late += not (self.arrived.wait(DEADLINE) and self.released.wait(DEADLINE))
        with self._lock:
            self.waiting -= 1


@pytest.mark.parametrize("keep", ["all", "none"])
def test_parts_are_uploaded_at_once_with_two_requests_each(server, folder, keep):
    """A part that is to be removed needs a third request, which shows that the store still has it."""
    before, url, uploads = digests(folder), f"s3://{server.bucket}/roof", Uploads()
    order = []

    def note(environ, body):
        kind = environ["RAW_URI"][-4:]
        if environ["REQUEST_METHOD"] == "PUT" and kind == "meta":
            order.append([path for method, path, *_ in server.asked
                          if method == "PUT" and path == environ["PATH_INFO"][:-4] + "data"])

    server.asked.clear()
    server.faults += [uploads, note]
    uploads.released.set()
    said, _ = push(folder, url, "--keep", keep)
    assert said["stored"] == PARTS and not uploads.late and uploads.most == CONNECTIONS
    assert requests(server) == {"GET": 1, "PUT": 2 * PARTS} | ({"HEAD": PARTS} if keep == "none" else {})
    assert stored(url) == before and all(order) and len(order) == PARTS
    assert digests(folder) == (before if keep == "all" else {})


def test_parts_that_are_stored_need_no_request_of_their_own(server, folder):
    url = f"s3://{server.bucket}/roof"
    push(folder, url)
    requests(server)
    said, _ = push(folder, url)
    assert said["already"] == PARTS and requests(server) == {"GET": 1}

    def shorten(environ, body):
        environ["QUERY_STRING"] = environ["QUERY_STRING"].replace("max-keys=1000", "max-keys=3")

    server.faults.append(shorten)  # three parts need two pages of three objects
    said, _ = push(folder, url)
    assert said["already"] == PARTS and requests(server) == {"GET": 11}


def without_permission(environ, body):
    if "list-type" in environ["QUERY_STRING"]:
        return "403 Forbidden", {}, [b"<Error><Code>AccessDenied</Code><Message>no list</Message></Error>"]
    return None


def from_the_start(environ, body):
    words = dict(urllib.parse.parse_qsl(environ["QUERY_STRING"]))
    words.pop("start-after", None)
    environ["QUERY_STRING"] = urllib.parse.urlencode(words)


@pytest.mark.parametrize("fault", [without_permission, from_the_start])
def test_without_a_usable_list_each_object_is_requested(server, folder, fault):
    """Some credentials do not permit the list, and some stores list everything from the first key on."""
    before, url = digests(folder), f"s3://{server.bucket}"
    s3fs.S3FileSystem(skip_instance_cache=True).pipe(f"{server.bucket}/0", b"an object before the others")
    requests(server)
    server.faults.append(fault)
    assert push(folder, url)[0]["stored"] == PARTS
    assert requests(server) == {"GET": 1, "HEAD": 2 * PARTS, "PUT": 2 * PARTS}
    assert push(folder, url)[0]["already"] == PARTS
    assert requests(server) == {"GET": 1, "HEAD": 2 * PARTS}
    server.faults.clear()
    assert {name: one for name, one in stored(url).items() if name != "0"} == before


def test_a_store_without_an_etag_in_its_answer_is_asked_for_it(server, folder, monkeypatch):
    app = server._app

    def silent(environ, start):
        def without_etag(status, headers, *rest):
            kept = [one for one in headers if one[0].lower() != "etag" or environ["REQUEST_METHOD"] != "PUT"]
            return start(status, kept, *rest)

        return app(environ, without_etag)

    monkeypatch.setattr(server, "_app", silent)
    before, url = digests(folder), f"s3://{server.bucket}"
    assert push(folder, url)[0]["stored"] == PARTS
    assert requests(server) == {"GET": 1, "PUT": 2 * PARTS, "HEAD": 2 * PARTS}
    assert stored(url) == before


def test_a_large_file_is_confirmed_by_the_answer_to_its_last_request(server, tmp_path):
    before, url = large(tmp_path / "rec"), f"s3://{server.bucket}"
    assert push(tmp_path / "rec", url)[0]["stored"] == 1
    assert [(method, path.partition("?")[0][-4:]) for method, path, _ in server.bodies] == [
        ("GET", f"/{server.bucket}"[-4:]), ("GET", f"/{server.bucket}"[-4:]), ("POST", "data"),
        *[("PUT", "data")] * 3, ("POST", "data"), ("PUT", "meta")]
    assert stored(url) == before


def test_an_object_that_is_removed_after_the_list_is_not_counted_as_stored(server, folder):
    """It is stored again before its local files are removed."""
    url = f"s3://{server.bucket}"
    push(folder, url)
    before, gone = digests(folder), []

    def fault(environ, body):  # the list has been answered
        if environ["REQUEST_METHOD"] == "HEAD" and "a.0009.sigmf-data" in environ["RAW_URI"] and not gone:
            gone.append(True)
            s3fs.S3FileSystem(skip_instance_cache=True).rm(f"{server.bucket}/a.0009.sigmf-data")

    server.faults.append(fault)
    said, _ = push(folder, url, "--keep", "none")
    assert said["already"] == PARTS - 1 and said["stored"] == 1 and said["removed"] == PARTS
    assert stored(url) == before and not digests(folder)


def test_ctrl_c_ends_all_uploads(server, folder):
    before, url, uploads = digests(folder), f"s3://{server.bucket}", Uploads()
    server.faults.append(uploads)
    with subprocess.Popen([COMMAND, "archive", "push", folder, url, "--keep", "none"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as pushing:
        assert uploads.arrived.wait(DEADLINE)
        pushing.send_signal(signal.SIGINT)
        out, err = pushing.communicate(timeout=DEADLINE)
    assert pushing.returncode == 1 and "push again to continue" in err, f"{pushing.returncode} {out} {err}"
    assert digests(folder) == before and not stored(url)
    uploads.released.set()
    assert push(folder, url)[0]["problems"] == [] and stored(url) == before


def test_an_error_ends_all_uploads_and_is_reported_once(server, folder):
    """The others can end in the middle. Everything that the push has removed is stored."""
    before, url = digests(folder), f"s3://{server.bucket}"
    refused = b"<Error><Code>AccessDenied</Code><Message>read only</Message></Error>"
    server.faults.append(lambda environ, body: ("403 Forbidden", {}, [refused])
                         if environ["REQUEST_METHOD"] == "PUT" and "a.0005" in environ["RAW_URI"] else None)
    said, err = push(folder, url, "--keep", "none", status=5)
    assert "a.0005.sigmf-data" in said["error"] and err.count("read only") == 1
    there, here = stored(url), digests(folder)
    assert {**there, **here} == before and said["removed"] == said["stored"] == PARTS - len(here) / 2
    assert "a.0005.sigmf-data" in here and "a.0005.sigmf-meta" not in there


def test_the_bandwidth_is_shared_by_all_uploads(server, tmp_path):
    """Without a limit for all of them, the uploads would take a quarter of the time."""
    (tmp_path / "rec").mkdir()
    ios.record("sim:", tmp_path / "rec" / "a.sigmf-meta", rate=0, bytes="4Mi",
               file_options={"rotate_bytes": "1Mi"})
    began = time.monotonic()
    assert push(tmp_path / "rec", f"s3://{server.bucket}", "--bandwidth", "2Mi")[0]["stored"] == 4
    assert time.monotonic() - began > 1.2


def test_a_recorder_needs_three_requests_for_each_part(server, folder):
    """The first shows what the store has. A part that is to be removed needs a fourth."""
    samples = str(16_384 * PARTS)
    for number, (keep, more) in enumerate([("all", {}), ("none", {"HEAD": PARTS})]):
        subprocess.run([COMMAND, "record", "sim:", "rate=0", folder / f"{number}.sigmf-meta",
                        "rotate_bytes=64Ki", f"archive=s3://{server.bucket}/{number}", f"keep={keep}",
                        "--samples", samples, "--block-size", "4096", "--quiet"],
                       timeout=DEADLINE, check=True)
        assert requests(server) == {"GET": PARTS, "PUT": 2 * PARTS} | more
        assert len(stored(f"s3://{server.bucket}/{number}")) == 2 * PARTS
        requests(server)
