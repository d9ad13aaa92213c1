"""redis-cli --tls: a lock from a shell script, over TLS with a certificate."""

import os

import driver
from beside import run
from redis_cli import CLI
from redis_cli import User as PlainUser


class User:
    def open(self, addresses):
        self._plain = _TlsUser()
        self._plain.open(addresses)

    def acquire(self, name, ttl_s, wait_s):
        return self._plain.acquire(name, ttl_s, wait_s)

    def extend(self, name, ttl_s):
        return self._plain.extend(name, ttl_s)

    def release(self, name):
        return self._plain.release(name)

    def pipe(self):
        """Its mass insertion: a stream of requests, and the count of their replies."""
        said = self._plain.piped("SET piped v PX 60000\r\nDEL piped\r\n")
        assert "errors: 0, replies: 2" in said, said


class _TlsUser(PlainUser):
    _FLAGS = ("--tls", "--cacert", os.environ["CLIENT_TLS_CA"], "--cert",
              os.environ["CLIENT_TLS_CERT"], "--key", os.environ["CLIENT_TLS_KEY"])
    if "CLIENT_USER" in os.environ:
        _FLAGS += ("--user", os.environ["CLIENT_USER"], "--pass", os.environ["CLIENT_PASSWORD"],
                   "--no-auth-warning")

    def _shell(self, *words):
        return super()._shell(*self._FLAGS, *words)

    def piped(self, requests):
        return run(self._port, CLI, *self._FLAGS, "--pipe", given=requests.encode()).out


if __name__ == "__main__":
    driver.serve(User())
