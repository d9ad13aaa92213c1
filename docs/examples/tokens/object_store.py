#!/usr/bin/env python3
"""An object store that checks fencing tokens: a small HTTP service, and how to write to it.

    object_store.py serve PORT      keeps objects in memory, at 127.0.0.1, until Ctrl-C
    object_store.py put URL TEXT    writes under the token in REDLOCK_TOKEN; exit status 0, or 1

    PUT /NAME     with `Fencing-Token: 34` and the object as body
                  204 written
                  412 a holder with a larger token wrote since; Fencing-Token tells which
                  428 no token: whoever writes here holds a lock
                  400 no token that is a number
    GET /NAME     200 with the token that wrote it, or 404

    $ redlock run report -- ./object_store.py put http://127.0.0.1:8080/report 'all is well'

A real store keeps the token with the object, as durably, and longer: an object that is deleted
leaves its token behind, or a late writer would find the name free.
"""

import http.server
import os
import sys
import threading
import urllib.error
import urllib.request

HEADER = "Fencing-Token"
DIGITS_MAX = 16  # tokens are below 2**53


class Objects:
    """What is stored: name -> (token, content)."""

    def __init__(self):
        self.lock = threading.Lock()
        self.stored = {}

    def put(self, name, token, content):
        """The token that the object has now: the given one, or a larger one, which refused it.

        Looking and writing is one step, under a mutex: two holders may be here at once.
        """
        with self.lock:
            largest, _ = self.stored.get(name, (0, b""))
            if token < largest:
                return largest
            self.stored[name] = (token, content)  # an equal one is the same holder again
            return token

    def get(self, name):
        """(token, content), or None."""
        with self.lock:
            return self.stored.get(name)


class Handler(http.server.BaseHTTPRequestHandler):
    """One connection's requests. The objects are the server's."""

    protocol_version = "HTTP/1.1"

    def do_PUT(self):
        content = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        told = self.headers.get(HEADER)
        if told is None:
            self.answer(428, b"a Fencing-Token is needed: take the lock first\n")
        elif not told.isascii() or not told.isdigit() or len(told) > DIGITS_MAX:
            self.answer(400, b"a Fencing-Token is a whole number\n")
        else:
            self.put(int(told), content)

    def put(self, token, content):
        now = self.server.objects.put(self.path, token, content)
        if now > token:
            text = f"refused: token {token} is older than {now}, which wrote since\n"
            self.answer(412, text.encode(), now)
        else:
            self.answer(204, b"", now)

    def do_GET(self):
        found = self.server.objects.get(self.path)
        if found is None:
            self.answer(404, b"no such object\n")
        else:
            token, content = found
            self.answer(200, content, token)

    def answer(self, status, body, token=None):
        self.send_response(status)
        if token is not None:
            self.send_header(HEADER, str(token))
        if status != 204:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def serve(port):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
    server.objects = Objects()
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass


def put(url, text):
    token = os.environ.get("REDLOCK_TOKEN") or sys.exit("no REDLOCK_TOKEN: take the lock first")
    request = urllib.request.Request(url, text.encode(), {HEADER: token}, method="PUT")
    try:
        urllib.request.urlopen(request, timeout=10).close()
    except urllib.error.HTTPError as error:
        sys.exit(error.read().decode().strip())


def main(arguments):
    match arguments:
        case ["serve", port]:
            serve(int(port))
        case ["put", url, text]:
            put(url, text)
        case _:
            print(__doc__, file=sys.stderr)
            sys.exit(64)


if __name__ == "__main__":
    main(sys.argv[1:])
