#!/usr/bin/env python3
"""Machines for the commands of docs/operations.md, in the namespaces of the test that runs them.

    set_the_stage()
    machine = Machine("10.0.0.4")
    machine.kill_node()
    machine.lose_disk()

A machine is a folder of two: its /etc/redlock, its /var/lib/redlock-node. Whoever works at it, by
the `ssh` below, sees these under their names, in a mount namespace. All have one network. Its
`systemctl` is this file: it starts what ExecStart of config/redlock-node@.service says, and waits
for READY=1 as systemd does; it starts nothing again that has ended.
"""

import contextlib
import os
import pathlib
import re
import select
import shlex
import shutil
import signal
import socket
import subprocess
import sys

from group import BUILD, PATIENCE_S, ROOT

MACHINES = pathlib.Path("/srv/machines")
UNIT = pathlib.Path(ROOT, "config/redlock-node@.service")

SSH = """#!/bin/sh
# ssh [-n] root@ADDRESS COMMAND ...
if [ "$1" = -n ]; then shift; exec </dev/null; fi
export MACHINE=/srv/machines/${1#root@}
shift
mkdir -p "$MACHINE/etc" "$MACHINE/state"
exec unshare --mount sh -c '
  mount --bind "$MACHINE/etc" /etc/redlock &&
    mount --bind "$MACHINE/state" /var/lib/redlock-node && exec sh -c "$0"' "$*"
"""


def run(*words):
    subprocess.run(words, check=True)


def set_the_stage():
    """Addresses, `ssh`, `systemctl` and the programs; a machine is there as soon as it is used."""
    run("ip", "link", "set", "lo", "up")
    for i in range(1, 16):
        run("ip", "addr", "add", f"10.0.0.{i}/32", "dev", "lo")
    for folder in ("/srv", "/var/lib", "/usr/local/bin"):
        run("mount", "-t", "tmpfs", "none", folder)
    MACHINES.mkdir()
    os.mkdir("/var/lib/redlock-node")
    subprocess.run(["cp", "-a", "/etc", "/srv/etc"], stderr=subprocess.DEVNULL, check=False)
    os.makedirs("/srv/etc/redlock", exist_ok=True)
    run("mount", "--bind", "/srv/etc", "/etc")
    systemctl = f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {shlex.quote(__file__)} "$@"\n'
    for name, text in (("ssh", SSH), ("systemctl", systemctl)):
        program = pathlib.Path("/usr/local/bin", name)
        program.write_text(text)
        program.chmod(0o755)
    os.environ["PATH"] = f"/usr/local/bin:{BUILD}:{os.environ['PATH']}"


class Machine:
    def __init__(self, folder):
        """By its address, or its folder."""
        self.folder = MACHINES / folder

    # --- what happens to machines ---

    def kill_node(self):
        self._end(signal.SIGKILL)

    def lose_disk(self):
        self.kill_node()
        shutil.rmtree(self.folder, ignore_errors=True)

    # --- systemctl ---

    def start(self, name):
        if self._pid() is not None:
            return
        [line] = re.findall(r"^ExecStart=/usr/bin/(.*)$", UNIT.read_text(), re.M)
        words = line.replace("%i", name).split()
        notified = self.folder / "notify"
        notified.unlink(missing_ok=True)
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as supervisor, \
                open(self.folder / "log", "ab") as log:
            supervisor.bind(str(notified))
            node = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                    env={**os.environ, "NOTIFY_SOCKET": str(notified)},
                                    start_new_session=True)
            (self.folder / "pid").write_text(str(node.pid))
            while not select.select([supervisor], [], [], 0.1)[0] or \
                    b"READY=1" not in supervisor.recv(4096):
                if node.poll() is not None:
                    raise AssertionError((self.folder / "log").read_text())

    def stop(self, _name):
        self._end(signal.SIGTERM)

    def restart(self, name):
        self.stop(name)
        self.start(name)

    def hang_up(self, _name):
        os.kill(self._pid(), signal.SIGHUP)

    def _pid(self):
        """Of the node, unless it has ended."""
        with contextlib.suppress(FileNotFoundError):
            pid = int((self.folder / "pid").read_text())
            state = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
            return pid if state not in "ZX" else None
        return None

    def _end(self, number):
        pid = self._pid()
        if pid is None:
            return
        handle = os.pidfd_open(pid)
        os.kill(pid, number)
        ended, _, _ = select.select([handle], [], [], PATIENCE_S)
        os.close(handle)
        if not ended:
            raise AssertionError(f"the node of {self.folder.name} does not end")


SYSTEMCTL = {("enable", "--now"): Machine.start, ("disable", "--now"): Machine.stop,
             ("start",): Machine.start, ("stop",): Machine.stop, ("restart",): Machine.restart,
             ("kill", "-s", "HUP"): Machine.hang_up}


if __name__ == "__main__":
    *deed, unit = sys.argv[1:]
    SYSTEMCTL[tuple(deed)](Machine(os.environ["MACHINE"]), unit.removeprefix("redlock-node@"))
