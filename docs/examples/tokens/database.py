#!/usr/bin/env python3
"""A database that checks fencing tokens: a column, and a condition in the UPDATE.

    database.py FILE write NAME TEXT    writes under the token in REDLOCK_TOKEN
    database.py FILE claim NAME         prints "TOKEN TEXT"; from now on no older holder writes
    database.py FILE read NAME          prints "TOKEN TEXT"

    $ redlock run report -- ./database.py reports.db write report 'all is well'

Exit status: 0 done; 1 refused, a later holder was here (read: no such row); 64 usage.

The condition stands in the statement that writes, so the database itself looks and writes in one
step. A SELECT of the token before an UPDATE without it would leave a gap for another holder.
"""

import os
import sqlite3
import sys

TABLE = """CREATE TABLE IF NOT EXISTS reports (
    name  TEXT PRIMARY KEY,
    text  TEXT NOT NULL,
    token INTEGER NOT NULL  -- the largest that was here; tokens need 53 bits
)"""

FIRST = "INSERT OR IGNORE INTO reports (name, text, token) VALUES (?, '', 0)"

# An equal token is the same holder again: its second write, or a retry of the first.
WRITE = "UPDATE reports SET text = ?2, token = ?3 WHERE name = ?1 AND token <= ?3"
CLAIM = "UPDATE reports SET token = ?3 WHERE name = ?1 AND token <= ?3"


def update(database, statement, name, text, token):
    """Whether the token was let through."""
    with database:  # a transaction: commit, or roll back if anything fails
        database.execute(FIRST, (name,))
        return database.execute(statement, (name, text, token)).rowcount == 1


def read(database, name):
    """(token, text), or None."""
    query = "SELECT token, text FROM reports WHERE name = ?"
    return database.execute(query, (name,)).fetchone()


def fenced(database, statement, name, text=""):
    """Under the token of the environment, or the end."""
    told = os.environ.get("REDLOCK_TOKEN") or sys.exit("no REDLOCK_TOKEN: take the lock first")
    token = int(told)
    if not update(database, statement, name, text, token):
        largest = read(database, name)[0]
        sys.exit(f"refused: token {token} is older than {largest}, which was here since")


def main(path, word, *rest):
    database = sqlite3.connect(path)
    database.execute(TABLE)
    match word, *rest:
        case "write", name, text:
            fenced(database, WRITE, name, text)
        case "claim", name:
            fenced(database, CLAIM, name)
            print(*read(database, name))
        case "read", name:
            row = read(database, name) or sys.exit(f"no row {name}")
            print(*row)
        case _:
            usage()


def usage():
    print(__doc__, file=sys.stderr)
    sys.exit(64)


if __name__ == "__main__":
    main(*sys.argv[1:]) if len(sys.argv) > 2 else usage()
