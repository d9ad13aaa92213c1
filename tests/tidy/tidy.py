#!/usr/bin/env python3
"""The style test: tidy.py ROOT. Layers, purity and shape of every file; complaints end with 1.

What may stand where is declared in house.py, what is checked in layers.py and shape.py.
"""

import sys

sys.dont_write_bytecode = True

import layers  # noqa: E402,F401
import shape  # noqa: E402,F401
import tree  # noqa: E402
from checks import CHECKS  # noqa: E402


def unproven_checks():
    """A complaint for every example that its check does not judge as it should."""
    for function, bad, good in CHECKS:
        if not bad:
            yield f"{function.__name__} has no bad example"
        for example in bad:
            if not list(function(example)):
                yield f"{function.__name__} accepts the bad {dict(example)!r:.300}"
        for example in good:
            for complaint in function(example):
                yield f"{function.__name__} refuses the good {dict(example)!r:.300}: {complaint}"


def main(root):
    repository = tree.load(root)
    complaints = list(unproven_checks())
    for function, _, _ in CHECKS:
        complaints += function(repository)
    for complaint in complaints:
        print(complaint)
    print(f"{len(repository)} files, {len(CHECKS)} checks, {len(complaints)} complaints")
    return 1 if complaints or not repository else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
