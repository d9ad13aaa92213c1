"""What the Python drivers share: the protocol of tests/clients/contender.py.

    class User:
        def open(self, addresses): ...               # [(host, port)]
        def acquire(self, name, ttl_s, wait_s): ...  # true or false
        def extend(self, name, ttl_s): ...
        def release(self, name): ...
        def pipeline(self): ...                      # any other public method is a feature

    serve(User())

A method may be a coroutine function. The event loop runs on between the answers, so that what a
library does in the background goes on.
"""

import asyncio
import inspect
import os
import sys
import time


def serve(user):
    # What a library prints must not get between the answers.
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    asyncio.run(answer_all(user, answers))


async def answer_all(user, answers):
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        print("=", *await answer(user, line.split()), file=answers)


async def answer(user, words):
    method, values = getattr(user, words[0]), arguments(*words)
    started = time.monotonic()
    try:
        done = method(*values)
        if inspect.isawaitable(done):
            done = await done
        word, text = ("no" if done is False else "yes"), ""
    except Exception as error:
        word, text = "error", tell(error)
    took_ms = (time.monotonic() - started) * 1000
    if words[0] == "open" and word == "yes":
        text = " ".join(known_words(user))
    return word, f"{took_ms:.3f}", text


def arguments(word, *values):
    if word == "open":
        return [[(host, int(port)) for host, port in (value.split(":") for value in values)]]
    return [*values[:1], *(int(value) / 1000 for value in values[1:])]


def tls():
    """What redis-py is to be told where nodes speak TLS, and know users by a password or by their
    certificates; nothing where they do not."""
    if "CLIENT_TLS_CA" not in os.environ:
        return {}
    return {"ssl": True, "ssl_ca_certs": os.environ["CLIENT_TLS_CA"],
            "ssl_certfile": os.environ["CLIENT_TLS_CERT"],
            "ssl_keyfile": os.environ["CLIENT_TLS_KEY"],
            "username": os.environ.get("CLIENT_USER"),
            "password": os.environ.get("CLIENT_PASSWORD")}


def known_words(user):
    return [name for name, member in inspect.getmembers(type(user), inspect.isfunction)
            if name != "open" and not name.startswith("_")]


def tell(error):
    module = type(error).__module__
    name = type(error).__qualname__ if module == "builtins" else f"{module}.{type(error).__name__}"
    return " ".join(f"{name}: {error}".split())
