# SPDX-License-Identifier: MIT
"""Keys restrict who can receive samples, and whose samples are accepted."""
import json

import pytest
from conftest import DEADLINE, ramp
from test_zmq import all_of, peer, summary_of, values  # noqa: F401

zmq = pytest.importorskip("zmq")
pytest.importorskip("zmq.auth")


@pytest.fixture
def keys(tmp_path):
    """Certificates that another library writes: for the end that binds, an allowed peer, and a peer without
    permission."""
    folder = tmp_path / "keys"
    (folder / "friends").mkdir(parents=True)
    for name in "server", "friend", "stranger":
        zmq.auth.create_certificates(folder, name)
        (folder / f"{name}.key_secret").chmod(0o600)
    (folder / "friend.key").rename(folder / "friends" / "friend.key")
    return folder


def as_client(socket, keys, name):
    socket.curve_publickey, socket.curve_secretkey = zmq.auth.load_certificate(keys / f"{name}.key_secret")
    socket.curve_serverkey, _ = zmq.auth.load_certificate(keys / "server.key")
    return socket


def test_only_subscribers_with_a_known_key_receive_samples(start, peer, keys, tmp_path):
    friend, stranger = (as_client(peer(zmq.SUB), keys, name) for name in ("friend", "stranger"))
    plain = peer(zmq.SUB)
    for socket in friend, stranger, plain:
        socket.rcvhwm = 0
        socket.subscribe(b"")
        socket.connect(f"ipc://{tmp_path}/s")
    giver = start(f"stream sim: pattern=ramp rate=1M zmq:ipc://{tmp_path}/s wait=on curve_key={keys}/server.key_secret"
                  f" curve_clients={keys}/friends --samples 1M --json --timeout 50s")
    heard, *others = all_of(friend, stranger, plain, until=giver)
    summary = summary_of(giver)
    data = b"".join(part for message in heard for part in message)
    assert data and data == ramp(1_000_000)[8 * values(data[:8])[0]:]
    assert others == [[], []]
    subscriber, = summary["sinks"][0]["report"]["subscribers"]
    assert 4 * subscriber["delivered_samples"] == len(data)
    _, secret = zmq.auth.load_certificate(keys / "server.key_secret")
    assert secret.decode() not in json.dumps(summary)


def test_a_foreign_senders_samples_are_accepted_under_its_key(start, peer, keys, tmp_path):
    push = peer(zmq.PUSH)
    push.curve_server = True
    push.curve_publickey, push.curve_secretkey = zmq.auth.load_certificate(keys / "server.key_secret")
    port = push.bind_to_random_port("tcp://127.0.0.1")
    taker = start(f"record zmq:tcp://127.0.0.1:{port} pattern=pull format=ci16_le curve_key={keys}/friend.key_secret"
                  f" curve_server={keys}/server.key x.ci16 --samples 1000 --timeout 50s")
    push.send(ramp(1000))
    assert taker.wait(DEADLINE) == 0
    assert (tmp_path / "x.ci16").read_bytes() == ramp(1000)


def test_errors_of_keys_name_the_option_or_the_fix(iio, keys):
    own = f"curve_key={keys}/server.key_secret"
    sink = "stream sim: zmq:tcp://127.0.0.1:0 --samples 1"
    assert "curve_clients" in iio(f"{sink} {own}", status=2).err
    assert "curve_server" in iio(f"{sink} bind=off {own}", status=2).err
    assert "No such file" in iio(f"{sink} {own} curve_clients={keys}/nowhere", status=2).err
    (keys / "server.key").chmod(0o600)
    assert "has no secret-key" in iio(f"{sink} curve_key={keys}/server.key curve_clients=any", status=2).err
    (keys / "server.key_secret").chmod(0o644)
    assert "chmod 600" in iio(f"{sink} {own} curve_clients=any", status=2).err
