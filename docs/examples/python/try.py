#!/usr/bin/env python3
"""Tries the module beside it: REDLOCK_NODES=redis://host:port,… ./try.py

It takes a lock, is refused it a second time, hands it on by its value, keeps it, and lets it go.
"""

import os
import sys
import threading

import redlock

NAME = "example:python"


def refused(client):
    try:
        client.acquire(NAME)
    except redlock.Error as error:
        return error.code == redlock.HELD
    return False


def main():
    with redlock.Client(os.environ["REDLOCK_NODES"]) as client:
        print(*(f"{node['address']} {node['state']}" for node in client.status()), sep="\n")
        first = client.acquire(NAME, ttl=10, wait=5)
        print(f"acquired, token {first.token}, valid for {first.validity_left():.3f} s")
        if not refused(client):
            return "it was given to two"

        # As another process would, that was told the lock's value; the first gives it up.
        lost = threading.Event()
        second = client.lock_of(NAME, first.value, ttl=10)
        if second.valid():
            return "it counts as valid before a quorum said so"
        first.abandon()
        second.keep(on_loss=lambda text: (print(text), lost.set()))
        if first.valid() or not second.valid() or not refused(client):
            return "it was not handed on"
        second.release()
        if second.valid() or lost.is_set():
            return "a release is no loss"

        with client.acquire(NAME, ttl=10) as third:
            third.extend()
            print(f"again, token {third.token}")
            if third.token <= first.token:
                return "the token did not rise"
    return None


if __name__ == "__main__":
    sys.exit(main())
