#!/usr/bin/env python3
"""report.py PORT URL TEXT: writes a report under a lock of the front door at PORT."""
import secrets
import sys
import urllib.request

import redis

port, url, text = sys.argv[1:]
door = redis.Redis(port=int(port))
value = secrets.token_urlsafe(18)  # ours alone
held, *told = door.execute_command("LOCK.ACQUIRE", "report", value, "PX", 30_000, "WAIT", 10_000)
if not held:
    sys.exit("another writes the report")
token = told[0]
try:
    urllib.request.urlopen(urllib.request.Request(
        url, text.encode(), {"Fencing-Token": str(token)}, method="PUT"))
    print("written under token", token)
finally:
    door.execute_command("LOCK.RELEASE", "report", value)
