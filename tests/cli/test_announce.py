# SPDX-License-Identifier: MIT
"""`iio-stream serve --announce` with Avahi's own daemon and programs and with libiio's `iio_info -S`. The
tests run in a network namespace."""
import os
import re
import shutil
import subprocess

import pytest

from conftest import COMMAND, DEADLINE

PROGRAMS = ["avahi-daemon", "avahi-publish", "avahi-browse", "dbus-daemon", "iio_info", "ip"]
lacking = [name for name in PROGRAMS if shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin:/sbin") is None]

BUS = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>system</type><listen>unix:path={folder}/bus</listen><auth>EXTERNAL</auth>
<policy context="default"><allow user="*"/><allow own="*"/><allow send_destination="*"/><allow receive_sender="*"/></policy>
</busconfig>"""
AVAHI = "[server]\nuse-ipv6=no\nallow-interfaces=here\n[wide-area]\nenable-wide-area=no\n"
# This script runs in its own network namespace and mount namespace.
NETWORK = """
set -e
ip link set lo up
ip link add here type veth peer name there
ip addr add 10.9.8.1/24 dev here
ip link set here up
ip link set there up
mkdir -p /run/avahi-daemon
mount -t tmpfs none /run/avahi-daemon
dbus-daemon --config-file="$folder/bus.conf" --nofork &
until [ -S "$folder/bus" ]; do sleep 0.1; done
if [ "$1" = late ]; then "$command" serve --listen '*' --announce & server=$!; sleep 2; fi
avahi-daemon -f "$folder/avahi.conf" --no-drop-root --no-chroot --no-rlimits &
if [ "$1" != late ]; then "$command" serve --listen '*' --announce & server=$!; fi
until avahi-browse -prt _iio._tcp | grep -q '^=.*10.9.8.1;30431'; do sleep 0.2; done
until iio_info -S | grep -F '[ip:'; do sleep 0.2; done # iio_info waits for replies only for a short time
kill $server
wait $server
until ! avahi-browse -prt _iio._tcp | grep -q .; do sleep 0.2; done
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to create a network namespace")
@pytest.mark.skipif(lacking != [], reason=f"not installed: {lacking}")
@pytest.mark.parametrize("daemon", ["first", "late"])
def test_libiios_scan_finds_the_server_until_it_ends(tmp_path, daemon):
    (tmp_path / "bus.conf").write_text(BUS.format(folder=tmp_path))
    (tmp_path / "avahi.conf").write_text(AVAHI)
    done = subprocess.run(["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "sh", "-c", NETWORK, "sh",
                           daemon], capture_output=True, text=True, timeout=DEADLINE, check=False,
                          env={**os.environ, "PATH": os.environ["PATH"] + ":/usr/sbin:/sbin", "folder": str(tmp_path),
                               "command": str(COMMAND), "DBUS_SYSTEM_BUS_ADDRESS": f"unix:path={tmp_path}/bus"})
    assert done.returncode == 0, done.stderr
    assert re.search(r"0: 10\.9\.8\.1 Linux .*\[ip:", done.stdout), done.stdout


def test_announcing_a_loopback_address_is_refused(iio):
    refused = iio("serve --announce --listen 127.0.0.1:0 --duration 1s", status=2)
    assert "only this machine can connect to 127.0.0.1:" in refused.err and "--listen '*'" in refused.err


def test_without_avahi_publish_the_error_names_its_package(iio):
    refused = iio("serve --announce --listen *:0 --duration 1s", status=1, env={**os.environ, "PATH": "/nowhere"})
    assert "avahi-publish" in refused.err and "install avahi-utils" in refused.err
