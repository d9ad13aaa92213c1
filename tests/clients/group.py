"""The lock nodes that a library is tried on: one or five real ones, and what is true at them.

A library's answers are not taken on trust: whether a lock is held is asked at the nodes, over a
connection of our own.
"""

import pathlib
import signal
import subprocess
import sys

from library import BUILD

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "process"))

import harness  # noqa: E402  (tests/process: Node, Client)
from certificates import Certificates  # noqa: E402
from ports import give_back_ports, reserve_ports  # noqa: E402

SOON_S = 0.5


class Group:
    def __init__(self, folder, count, *flags):
        self.folder = pathlib.Path(folder)
        self.flags = flags
        self.environment = {}  # of drivers
        self.nodes = [self._new_node() for _ in range(count)]

    def _new_node(self):
        place = self.folder / f"node-{len(list(self.folder.glob('node-*'))) + 1}"
        place.mkdir()
        return harness.Node(place, *self.flags)

    @property
    def addresses(self):
        return [f"127.0.0.1:{node.port}" for node in self.nodes]

    @property
    def ports(self):
        return [node.port for node in self.nodes]

    @property
    def quorum(self):
        return len(self.nodes) // 2 + 1

    def start(self, recovering=0):
        """The last `recovering` of them know nothing of their past: they grant nothing for max-ttl
        (rule R1), which is longer than any scenario."""
        for number, node in enumerate(self.nodes, 1):
            if number <= len(self.nodes) - recovering:
                node.bootstrap()
            node.start()

    def kill_all(self):
        self.kill_from(0)

    def kill_from(self, index):
        """kill -9 of this node and all after it."""
        for node in self.nodes[index:]:
            node.kill()

    def end(self):
        for node in self.nodes:
            node.end()
        give_back_ports(self.ports)

    # --- what is true ---

    def ttls_ms(self, key):
        """PTTL of the key at each node that runs."""
        found = []
        for node in self.nodes:
            if node.runs():
                with harness.Client(node.port) as client:
                    found.append(client("PTTL", key))
        return found

    def holding(self, key):
        """How many nodes hold the key."""
        return sum(ttl_ms > 0 for ttl_ms in Group.ttls_ms(self, key))

    def soon(self, key, count):
        """Whether so many nodes hold the key within a moment: at a quorum, some libraries answer
        and leave the rest of their requests to themselves."""
        return harness.eventually(lambda: self.holding(key) == count, SOON_S)

    def wait_until_gone(self, key):
        if not harness.eventually(lambda: self.holding(key) == 0):
            raise AssertionError(f"{key} is still held")

    def wait_until_idle(self):
        """No node holds any lock."""
        if not harness.eventually(lambda: self.held() == 0):
            raise AssertionError("locks of an earlier scenario are still held")

    def held(self):
        total = 0
        for node in self.nodes:
            with harness.Client(node.port) as client:
                total += int(client.info("locks")["held"])
        return total


def new_certificates(folder):
    """A node's or a door's, and alice's; and what tells a driver of them."""
    place = pathlib.Path(folder) / "tls"
    environment = {"CLIENT_TLS_CA": str(place / "ca.pem"),
                   "CLIENT_TLS_CERT": str(place / "alice.pem"),
                   "CLIENT_TLS_KEY": str(place / "alice.key")}
    return Certificates(place).sign("node").sign("alice"), environment


# All rights are alice's; whoever is nobody can look at what is true, and cannot release a lock.
PASSWORD = "secret-of-alice"
USERS = ("user default on nopass ~* -@all +ping +pttl +info +set\n"
         f"user alice on >{PASSWORD} ~* &* +@all\n")


def users_flags(folder):
    file = pathlib.Path(folder) / "users.acl"
    file.write_text(USERS)
    return ["--aclfile", file]


class TlsGroup(Group):
    """Nodes that speak TLS to their clients, who show a certificate and log in with a password. We
    ask them in the clear, as nobody."""

    def __init__(self, folder, count, *flags):
        self.certificates, environment = new_certificates(folder)
        super().__init__(folder, count, *flags)
        self.environment = {**environment, "CLIENT_USER": "alice", "CLIENT_PASSWORD": PASSWORD}

    def _new_node(self):
        node = super()._new_node()
        [node.tls_port] = reserve_ports(1)
        node.flags = (*node.flags, *self.certificates.node_flags(node.tls_port),
                      *users_flags(self.folder))
        return node

    @property
    def addresses(self):
        return [f"127.0.0.1:{node.tls_port}" for node in self.nodes]

    @property
    def ports(self):
        return [*super().ports, *(node.tls_port for node in self.nodes)]


class Door:
    """A front door over nodes: `redlock serve`."""

    def __init__(self, nodes, *flags):
        [self.port] = reserve_ports(1)
        self.command = [BUILD / "redlock", "serve", "--nodes",
                        ",".join(f"redis://{address}" for address in nodes),
                        "--listen", f"127.0.0.1:{self.port}", *flags]
        self.process = None

    def start(self):
        self.process = subprocess.Popen(self.command, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        if not harness.eventually(self._answers):
            raise AssertionError("no front door")

    def _answers(self):
        try:
            with harness.Client(self.port) as client:
                return client("PING") == "PONG"
        except OSError:
            return False

    def kill(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    def end(self):
        self.kill()
        give_back_ports([self.port])


class DoorGroup(Group):
    """Five nodes behind a front door: a library sees one address, and what is left of a lock's TTL
    is asked there, as the nodes hold it for longer (rule D2)."""

    def __init__(self, folder, *flags):
        super().__init__(folder, 5, *flags)
        self.door = Door([f"127.0.0.1:{node.port}" for node in self.nodes])

    @property
    def addresses(self):
        return [f"127.0.0.1:{self.door.port}"]

    def start(self, recovering=0):
        super().start(recovering)
        self.door.start()

    def stop_from(self, index):
        """SIGSTOP: their ports still accept, nobody answers."""
        for node in self.nodes[index:]:
            node.process.send_signal(signal.SIGSTOP)

    def proceed(self):
        for node in self.nodes:
            node.process.send_signal(signal.SIGCONT)

    def end(self):
        self.door.end()
        super().end()

    def ttls_ms(self, key):
        with harness.Client(self.door.port) as client:
            return [client("PTTL", key)]


class TlsDoorGroup(DoorGroup):
    """The door speaks TLS to its clients, and knows them by their certificates. We ask it in the
    clear, as nobody."""

    def __init__(self, folder, *flags):
        super().__init__(folder, *flags)
        certificates, self.environment = new_certificates(folder)
        [self.tls_port] = reserve_ports(1)
        self.door.command += [
            "--listen-tls", f"127.0.0.1:{self.tls_port}", *certificates.node_flags(0)[2:],
            "--tls-auth-clients-user", "CN", *users_flags(self.folder)]

    @property
    def addresses(self):
        return [f"127.0.0.1:{self.tls_port}"]

    def end(self):
        super().end()
        give_back_ports([self.tls_port])
