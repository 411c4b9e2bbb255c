# SPDX-License-Identifier: MIT
"""Runs moto's S3 server in a thread. The server can simulate errors of the network and of the store."""
import contextlib
import io
import os
import re
import threading

import pytest
import s3fs
from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from moto import server as moto
from werkzeug.serving import make_server

KEY, SECRET = "testing", "testing/secret+of=40"


class Server:
    """moto's server, with a record of its requests.

    Calls each of ``faults`` with the environ and body of a request. A fault can return an answer to send
    instead: (status, headers, body), or an Exception that cuts the connection."""

    def __init__(self, **options):
        self._app = moto.DomainDispatcherApplication(moto.create_backend_app)
        self._server = make_server("127.0.0.1", 0, self._counted, threaded=True, **options)
        scheme = "https" if options.get("ssl_context") else "http"
        self.url = f"{scheme}://127.0.0.1:{self._server.server_port}"
        self.asked = []  # method, path, range, size of the answer in bytes
        self.bodies = []  # method, path with query, size of the request in bytes
        self.faults = []
        self.damage = lambda environ, body: body  # changes the body that reaches the store
        self.badly_signed = []
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def _counted(self, environ, start):
        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        if "HTTP_AUTHORIZATION" in environ and not is_signed(environ, body):
            self.badly_signed.append(environ["RAW_URI"])
        self.bodies.append((environ["REQUEST_METHOD"], environ["RAW_URI"], len(body)))
        for fault in self.faults:
            answer = fault(environ, body)
            if isinstance(answer, Exception):
                raise answer
            if answer:
                start(answer[0], list(answer[1].items()))
                return answer[2]
        body = self.damage(environ, body)
        environ["wsgi.input"] = io.BytesIO(body)
        answer = list(self._app(environ, start))
        self.asked.append((environ["REQUEST_METHOD"], environ["PATH_INFO"], environ.get("HTTP_RANGE"),
                           sum(len(part) for part in answer)))
        return answer

    def sent(self, ending=""):
        """Returns the method, path and query of each PUT request."""
        return [(method, path) for method, path, _ in self.bodies
                if method == "PUT" and path.endswith(ending)]

    def be_found(self, patch):
        """Sets the environment variables by which clients find the server. ``patch`` is pytest's
        monkeypatch."""
        for name in list(os.environ):
            if name.startswith("AWS_"):
                patch.delenv(name)
        for name, value in {"AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET,
                            "AWS_DEFAULT_REGION": "us-east-1", "AWS_ENDPOINT_URL": self.url}.items():
            patch.setenv(name, value)
        s3fs.S3FileSystem.clear_instance_cache()  # removes instances that use the server of another test

    def stop(self):
        self._server.shutdown()


@contextlib.contextmanager
def serving():
    """Runs a server that clients find by environment variables."""
    made = Server()
    with pytest.MonkeyPatch.context() as patch:
        made.be_found(patch)
        yield made
    made.stop()


def is_signed(environ, body):
    """Returns whether the signature equals that of botocore, which Amazon's own clients use."""
    said = re.fullmatch(r"AWS4-HMAC-SHA256 Credential=(\w+)/\d+/([\w-]+)/s3/aws4_request, *"
                        r"SignedHeaders=([^,]+), *Signature=(\w+)", environ["HTTP_AUTHORIZATION"])
    if not said:
        return environ["HTTP_AUTHORIZATION"].startswith("AWS4-HMAC-SHA256 Credential=")
    _, region, names, signature = said.groups()
    headers = {name: environ[{"content-type": "CONTENT_TYPE", "content-length": "CONTENT_LENGTH"}.get(
        name, "HTTP_" + name.upper().replace("-", "_"))] for name in names.split(";")}
    request = AWSRequest(environ["REQUEST_METHOD"], f"http://{environ['HTTP_HOST']}{environ['RAW_URI']}",
                         headers=headers, data=body)
    request.context["timestamp"] = environ["HTTP_X_AMZ_DATE"]
    auth = S3SigV4Auth(Credentials(KEY, SECRET), "s3", region)
    return auth.signature(auth.string_to_sign(request, auth.canonical_request(request)), request) == signature
