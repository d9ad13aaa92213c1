"""The Rust libraries. Their crates come from crates.io, in the versions of Cargo.lock; the drivers
are the programs of one package, so that what they share is compiled once."""

import pathlib

from contender import Program
from library import Library, older, place

HERE = pathlib.Path(__file__).resolve().parent
PLACE = place("rust", "crates")

LANGUAGE = "Rust"
TOOLS = ("cargo", "rustc")

MANIFEST = ("--locked", "--manifest-path", HERE / "Cargo.toml")


def too_old():
    return older("rustc", ("--version",), (1, 88))


def library(name, version, tries, driver, **more):
    return Library(
        LANGUAGE, name, version, tries, place=PLACE,
        pins=(HERE / "Cargo.toml", HERE / "Cargo.lock", *sorted(HERE.glob("src/**/*.rs"))),
        program=Program((PLACE / "debug" / driver,)),
        fetch=(("cargo", "fetch", *MANIFEST),),
        build=(("cargo", "build", "--offline", "--quiet", *MANIFEST, "--target-dir", PLACE),),
        **more)


LIBRARIES = [
    library("redis-rs", "1.8.1", "single-node recipe, RESP2", "redis_rs",
            know="a connection that broke stays broken: ask the client for another"),
    library("redis-rs", "1.8.1", "single-node recipe, RESP2, TLS", "redis_rs", tls=True,
            know="a connection that broke stays broken: ask the client for another"),
    library("redis-rs", "1.8.1", "single-node recipe, tokio, RESP3", "redis_rs_tokio",
            know="tried with its ConnectionManager, which connects again by itself"),
    library("rslock", "0.10.0", "LockManager, tokio", "rslock", nodes=5),
]
