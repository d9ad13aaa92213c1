"""What the tests of TLS share: nodes that speak it, and whoever dials them."""

import subprocess

from certificates import Certificates, TlsClient
from harness import PATIENCE_S, ProcessTest, eventually
from ports import reserve_ports


class TlsTest(ProcessTest):
    """Certificates of a test's own: node's and alice's, both for this machine."""

    def setUp(self):
        self.certificates = Certificates(self.folder())
        self.certificates.sign("node").sign("alice")

    def tls_node(self, *flags, **options):
        """It speaks TLS at node.tls_port, and at node.port in the clear."""
        [port] = reserve_ports(1)
        node = self.node(*self.certificates.node_flags(port), *flags, **options)
        node.tls_port = port
        return node

    def tls_client(self, node, who="alice"):
        client = TlsClient(node.tls_port, self.certificates.context(who))
        self.addCleanup(client.close)
        return client

    def assert_logged(self, node, text):
        """The log is written by a thread of its own."""
        self.assertTrue(eventually(lambda: text in node.log()), (text, node.log()))

    def redis_cli(self, port, *words):
        done = subprocess.run(["redis-cli", "-p", str(port), *map(str, words)], text=True,
                              capture_output=True, timeout=PATIENCE_S, check=False)
        return (done.stdout + done.stderr).strip()
