# SPDX-License-Identifier: MIT
"""An object store in a thread. It serves the S3 requests of the command, and injects faults into them.

A fault is [number, kind]. It hits the first request, from that number on, that can have this kind of fault.

    500, 503, 403, 404     the answer is that error, and the request is not performed
    500 after              the request is performed, and the answer is an error
    cut, cut after         the connection ends without an answer, before or after the request is performed
    cut body               the answer ends too early
    stall                  the answer is late
    kill, kill after       the program is killed, before or after the request is performed
    other bytes            one bit of the body is changed, in an upload or in an object that is read
    fewer bytes            the end of the body is missing, in an upload or in an object that is read
    other range, no range  the answer to a request for a range has another range, or does not state its range
"""
import base64
import contextlib
import dataclasses
import hashlib
import http.server
import os
import re
import signal
import sys
import threading
import time
import traceback
import urllib.parse
from xml.sax.saxutils import escape

BUCKET = "board"
BEFORE = ["500", "503", "403", "404", "cut", "stall", "kill"]
AFTER = ["500 after", "cut after", "kill after"]
UPLOAD = [*BEFORE, *AFTER, *["other bytes"] * 4, *["fewer bytes"] * 2]
DOWNLOAD = [*BEFORE, *["cut body"] * 3, *["other bytes"] * 2, "fewer bytes", "other range", "no range"]


@dataclasses.dataclass
class Object:
    data: bytes
    etag: str
    first_piece: int  # bytes


class Refused(Exception):
    """An error answer: its status and the error's code."""


class Store:
    """A store of objects by their key. `settings` is a scenario's `store`. Thread: any."""

    def __init__(self, settings, has_hash):
        self.settings, self.has_hash, self.objects, self.uploads = settings, has_hash, {}, {}
        self.faults, self.happened = [], []  # kind, method and path of each request that a fault has hit
        self.victim, self.requests, self.lock = None, 0, threading.RLock()
        self._server = Server(("127.0.0.1", 0), Handler)
        self._server.store = self
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()

    def environment(self):
        """Returns the environment by which the command finds the store."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
        return {**kept, "AWS_ENDPOINT_URL": self.url, "AWS_ACCESS_KEY_ID": "key",
                "AWS_SECRET_ACCESS_KEY": "secret", "HOME": "/nonexistent"}

    def set_faults(self, faults):
        with self.lock:
            self.faults, self.happened, self.requests = [*faults], [], 0

    def take_fault(self, request):
        """Returns the kind of the fault that hits a request, or None."""
        with self.lock:
            self.requests += 1
            for fault in self.faults:
                if fault[0] < self.requests and request.can_have(fault[1]):
                    self.faults.remove(fault)
                    self.happened.append((fault[1], request.method, request.path))
                    return fault[1]
        return None

    def can_be_known(self, key):
        """Returns whether the store's MD5 or the metadata's hash reveals that an object's bytes have
        changed."""
        return self.settings.get("etags", "md5") == "md5" or (key.endswith("-data") and self.has_hash)

    def watch(self, process):
        """Sets the program that a fault can kill."""
        self.victim = process.pid

    def kill(self):
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.victim, signal.SIGKILL)

    def answer(self, request):
        """Performs a request, and returns status, headers and body."""
        with self.lock:
            try:
                return self._answer(request)
            except Refused as refused:
                return refused.args[0], {}, error_of(refused.args[1])

    def _answer(self, request):
        query, key, body = request.query, request.key, request.body
        if key == "":
            return 200, {}, self._uploads() if "uploads" in query else self._list(query)
        if "uploadId" in query and query["uploadId"] not in self.uploads:
            raise Refused(404, "NoSuchUpload")
        if request.method == "POST" and "uploads" in query:
            self.uploads[name := f"upload{len(self.uploads)}-{self.requests}"] = (key, {})
            return 200, {}, document("InitiateMultipartUploadResult", "<UploadId>", name, "</UploadId>")
        if request.method == "PUT" and "uploadId" in query:
            self._check(request)
            self.uploads[query["uploadId"]][1][int(query["partNumber"])] = body
            return 200, {"ETag": f'"{hashlib.md5(body).hexdigest()}"'}, b""
        if request.method == "GET" and "uploadId" in query:
            pieces = self.uploads[query["uploadId"]][1]
            listed = "".join(f"<Part><PartNumber>{n}</PartNumber><Size>{len(one)}</Size>"
                             f"<ETag>{hashlib.md5(one).hexdigest()}</ETag></Part>"
                             for n, one in sorted(pieces.items()))
            return 200, {}, document("ListPartsResult", listed)
        if request.method == "POST":
            self._finish(request)
            return 200, {}, document("CompleteMultipartUploadResult", "")
        if request.method == "PUT":
            self._check(request)
            self._put(request, key, body, hashlib.md5(body).hexdigest(), len(body))
            return 200, {"ETag": f'"{self.objects[key].etag}"'}, b""
        if request.method == "DELETE":
            self.objects.pop(key, None)
            return 204, {}, b""
        return self._read(request, key)

    def _check(self, request):
        wanted = request.headers.get("Content-MD5")
        md5 = base64.b64encode(hashlib.md5(request.body).digest()).decode()
        if self.settings.get("checks", True) and wanted not in (None, md5):
            raise Refused(400, "BadDigest")

    def _put(self, request, key, data, md5, first_piece):
        there, headers = self.objects.get(key), request.headers
        absent, match = "If-None-Match" in headers, headers.get("If-Match")
        if (absent or match) and not self.settings.get("conditions", True):
            raise Refused(501, "NotImplemented")
        if (absent and there) or (match and (not there or match.strip('"') != there.etag)):
            raise Refused(412, "PreconditionFailed")
        etags = self.settings.get("etags", "md5")
        etag = md5 if etags == "md5" else hashlib.sha1(data).hexdigest()[:32 if etags == "encrypted" else 40]
        self.objects[key] = Object(data, etag, first_piece)

    def _finish(self, request):
        key, pieces = self.uploads[request.query["uploadId"]]
        wanted = re.findall(r"<PartNumber>(\d+)</PartNumber><ETag>\"(\w+)\"</ETag>", request.body.decode())
        if any(hashlib.md5(pieces.get(int(n), b"")).hexdigest() != etag for n, etag in wanted):
            raise Refused(400, "InvalidPart")
        chosen = [pieces[int(n)] for n, _ in wanted]
        md5 = hashlib.md5(b"".join(hashlib.md5(one).digest() for one in chosen)).hexdigest()
        self._put(request, key, b"".join(chosen), f"{md5}-{len(chosen)}", len(chosen[0]))
        del self.uploads[request.query["uploadId"]]

    def _read(self, request, key):
        if key not in self.objects:
            raise Refused(404, "NoSuchKey")
        stored = self.objects[key]
        headers, data, status = {"ETag": f'"{stored.etag}"'}, stored.data, 200
        if self.settings.get("etags") == "encrypted":
            headers["x-amz-server-side-encryption"] = "aws:kms"
        if request.headers.get("If-Match", stored.etag).strip('"') != stored.etag:
            raise Refused(412, "PreconditionFailed")
        if request.query.get("partNumber") == "1":
            data = data[:stored.first_piece]
        if request.first is not None:
            if request.first >= len(data):
                raise Refused(416, "InvalidRange")
            headers["Content-Range"] = f"bytes {request.first}-{len(data) - 1}/{len(data)}"
            data, status = data[request.first:], 206
        return status, headers, data

    def _uploads(self):
        listed = (f"<Upload><Key>{escape(key)}</Key><UploadId>{name}</UploadId></Upload>"
                  for name, (key, _) in self.uploads.items())
        return document("ListMultipartUploadsResult", *listed)

    def _list(self, query):
        keys = sorted(key for key in self.objects if key.startswith(query.get("prefix", "")))
        after = query.get("start-after", "") if self.settings.get("start_after", True) else ""
        rest = [key for key in keys if key > query.get("continuation-token", after)]
        page = rest[:min(self.settings.get("page", 1000), int(query.get("max-keys", 1000)))]
        more = "<IsTruncated>false</IsTruncated>"
        if len(page) < len(rest):
            more = (f"<IsTruncated>true</IsTruncated><NextContinuationToken>{escape(page[-1])}"
                    "</NextContinuationToken>")
        listed = "".join(f"<Contents><Key>{urllib.parse.quote(key)}</Key>"
                         f"<Size>{len(self.objects[key].data)}</Size>"
                         f"<ETag>\"{self.objects[key].etag}\"</ETag>"
                         "<LastModified>2026-01-01T00:00:00.000Z</LastModified></Contents>" for key in page)
        return document("ListBucketResult", "<EncodingType>url</EncodingType>", more, listed)


def document(name, *content):
    return f'<?xml version="1.0" encoding="UTF-8"?><{name}>{"".join(content)}</{name}>'.encode()


def error_of(code):
    return document("Error", f"<Code>{code}</Code><Message>a fault</Message>")


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        """Ignores connections that a killed or finished program has closed."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            traceback.print_exc()


class Handler(http.server.BaseHTTPRequestHandler):
    """One request. `key` is "" for the bucket, and `first` is the first byte of a range."""

    protocol_version = "HTTP/1.1"

    def _handle(self):
        self.method, (self.path, _, query) = self.command, self.path.partition("?")
        self.query = dict(urllib.parse.parse_qsl(query, keep_blank_values=True))
        self.key = urllib.parse.unquote(self.path).removeprefix(f"/{BUCKET}").removeprefix("/")
        found = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        self.first = int(found[1]) if found else None
        length = int(self.headers.get("Content-Length", 0))
        self.body = self.rfile.read(length)
        if len(self.body) < length:  # the program has ended in the meantime
            self.close_connection = True
            return None
        store = self.server.store
        fault = store.take_fault(self)
        if fault in ("kill", "cut"):
            return self._cut(fault)
        if fault == "stall":
            time.sleep(0.3)
        if self.method == "PUT":
            self.body = changed(fault, self.body)
        answer = (int(fault), {}, error_of(f"Fault{fault}")) if fault in ("500", "503", "403", "404") \
            else store.answer(self)
        if fault in ("kill after", "cut after"):
            return self._cut(fault)
        if fault == "500 after":
            answer = 500, {}, error_of("InternalError")
        return self._send(*answer, fault)

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = _handle

    def can_have(self, kind):
        """Returns whether a fault of this kind can hit this request."""
        reads = self.method == "GET" and self.key != "" and "uploadId" not in self.query
        if kind == "404":  # a client that lists objects takes metadata without samples for a removed part
            return self.key.endswith("-data") or self.method == "PUT"
        if kind in AFTER:
            return self.method in ("PUT", "POST") or kind == "kill after"
        if reads and kind in ("other bytes", "fewer bytes") and not self.server.store.can_be_known(self.key):
            return False
        if kind in ("other range", "no range"):
            return reads and self.first is not None
        if kind in ("cut body", "other bytes", "fewer bytes"):
            stored = self.server.store.objects.get(self.key)
            is_refused = not self.server.store.settings.get("conditions", True) and \
                ("If-None-Match" in self.headers or "If-Match" in self.headers)
            has_body = len(self.body) > 1 and not is_refused if self.method == "PUT" else \
                reads and stored is not None and len(stored.data) > 1 + (self.first or 0)
            return has_body and (reads or kind != "cut body")
        return True

    def _cut(self, fault):
        if fault.startswith("kill"):
            self.server.store.kill()
        self.close_connection = True

    def _send(self, status, headers, body, fault):
        if self.method == "GET" and status in (200, 206):
            # Flips a different bit than in an upload: the same bit would restore the uploaded data.
            body = changed(fault, body, 2)
            if fault == "no range":
                del headers["Content-Range"]
            if fault == "other range":
                headers["Content-Range"] = f"bytes 0-{len(body) - 1}/{len(body) + self.first}"
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        with contextlib.suppress(ConnectionError):
            self.end_headers()
            if self.method != "HEAD":
                self.wfile.write(body[:len(body) // 2] if fault == "cut body" else body)
        self.close_connection = self.close_connection or fault == "cut body"

    def log_message(self, *_):
        """Prints nothing: a line for each request would be noise."""


def changed(fault, body, bit=1):
    if fault == "other bytes":
        at = len(body) * 2 // 3
        return body[:at] + bytes([body[at] ^ bit]) + body[at + 1:]
    return body[:-1] if fault == "fewer bytes" else body
