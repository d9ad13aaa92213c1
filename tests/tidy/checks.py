"""The checks: each takes a Tree and yields complaints; each brings examples that it must refuse.

A check that cannot fail proves nothing: tidy.py feeds every bad example to its check before it
looks at the repository, and wants at least one complaint from each.
"""

from tree import Tree

CHECKS = []


def check(*bad, good=()):
    """Registers a check with trees that it must refuse, and trees that look bad but are not."""
    def register(function):
        CHECKS.append((function, [Tree(t) for t in bad], [Tree(t) for t in good]))
        return function
    return register
