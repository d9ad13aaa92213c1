"""redis-cli: a lock from a shell script, and each of its modes, beside a redis-server.

What both can do must print the same; what a node refuses must say so.
"""

import re
import uuid

import driver
from beside import HERE, Beside, Terminal, run, want, want_match, want_same
from harness import eventually, request

CLI = "redis-cli"
TTL_MS = 60_000
RETRY_S = 0.02
KEYS = {"small": "v", "large": "v" * 5000, "lock:1": "alice", "lock:2": "bob"}
HASH = "reentrant"
AT = r"127\.0\.0\.1:\d+"
PROMPT, PROMPT_IN_MULTI, NO_PROMPT = AT + "> ", AT + r"\(TX\)> ", "not connected> "
NO_REPLICA = ("unknown command 'REPLCONF', with args beginning with: 'capa' 'eof'",
              "unknown command 'SYNC'")


class Failure(Exception):
    """redis-cli's own, by its exit status or its text."""


class User:
    def open(self, addresses):
        self._port = addresses[0][1]
        self._values = {}
        self._beside = None
        self._shell("PING")

    # --- the lock, as a shell script takes it ---

    def acquire(self, name, ttl_s, wait_s):
        value = str(uuid.uuid4())
        taken = eventually(lambda: self._shell(
            "SET", name, value, "NX", "PX", round(ttl_s * 1000)) == "OK", wait_s, RETRY_S)
        if taken:
            self._values[name] = value
        return taken

    def extend(self, name, ttl_s):
        return self._script("extend.lua", name, self._values[name], round(ttl_s * 1000)) == "1"

    def release(self, name):
        return self._script("release.lua", name, self._values[name]) == "1"

    def _script(self, file, name, *values):
        return self._shell("--eval", HERE / file, name, ",", *values)

    def _shell(self, *words):
        said = run(self._port, CLI, "-e", *words)
        if said.status != 0:
            raise Failure(f"exit {said.status}: {said.out}{said.err}".strip())
        return said.out.strip()

    # --- its modes ---

    def arguments(self):
        with Keys(self):
            want_same(self._run("GET", "small"), "v\n")
            want_same(self._run("GET", "absent"), "\n")
            want_same(self._run("SET", "small", "w", "NX", "PX", TTL_MS), "\n")
            want_same(self._run("EXISTS", "small", "large", "absent"), "2\n")
            want_same(self._run("HGETALL", HASH), "a\n1\nb\n2\n")
            want_same(self._run("nosuch", "x"))
            want(want_same(self._run("-e", "nosuch")).status == 1)
            want_match("ERR wrong number of arguments for 'get'", self._run("GET"))

    def standard_input(self):
        lines = ["set piped v px 60000", "get piped", "multi", "get piped", "pttl absent", "exec",
                 "nosuch", 'set "a b" "\\x00" px 60000', 'get "a b"', "# no comment",
                 'del piped "a b"']
        said = want_same(self._run(given="\n".join(lines).encode() + b"\n"))
        want(said.lines[:7] == ["OK", "v", "OK", "QUEUED", "QUEUED", "v", "-2"], said)
        want("ERR unknown command 'nosuch'" in said.out and said.lines[-1] == "2", said)

    def formats(self):
        with Keys(self):
            want_same(self._run("--csv", "HGETALL", HASH), '"a","1","b","2"\n')
            want_same(self._run("--json", "HGETALL", HASH), '{"a":"1","b":"2"}\n')
            want_same(self._run("--json", "MGET", "small", "absent"), '["v",null]\n')
            want_same(self._run("--quoted-json", "GET", "small"), '"v"\n')
            want_same(self._run("--no-raw", "HGETALL", HASH), '1) "a"\n2) "1"\n3) "b"\n4) "2"\n')
            want_same(self._run("--raw", "HGETALL", HASH), "a\n1\nb\n2\n")
            want_same(self._run("-d", ";", "HKEYS", HASH), "a;b\n")
            want_same(self._run("--no-raw", "EXISTS", "small"), "(integer) 1\n")
            want_same(self._run("--no-raw", "GET", "absent"), "(nil)\n")

    def resp3(self):
        with Keys(self):
            want_same(self._run("-3", "GET", "small"), "v\n")
            want_same(self._run("-3", "--no-raw", "HGETALL", HASH),
                      '1# "a" => "1"\n2# "b" => "2"\n')
            want_same(self._run("-3", "--json", "HGETALL", HASH), '{"a":"1","b":"2"}\n')
            want_same(self._run("-3", "--no-raw", "CONFIG", "GET", "maxmemory-policy"),
                      '1# "maxmemory-policy" => "noeviction"\n')
            hello = self._run("-3", "--no-raw", "HELLO")[0]
            want_match(r'# "proto" => \(integer\) 3', hello)

    def repeat(self):
        want_same(self._run("-r", 3, "-i", 0.01, "PING"), "PONG\nPONG\nPONG\n")
        with Terminal(self._port, CLI, "-r", -1, "-i", 0.01, "PING") as terminal:
            terminal.read_until("(PONG\r\n){3}")
            terminal.interrupt()
            terminal.read_to_end()

    def eval_file(self):
        file = self._file("script.lua", 'return {KEYS[1], ARGV[1], redis.call("get", KEYS[1])}')
        with Keys(self):
            want_same(self._run("--eval", file, "small", ",", "arg"), "small\narg\nv\n")
            want_same(self._run("-3", "--eval", file, "small", ",", "arg"), "small\narg\nv\n")
            want_same(self._run("--eval", file, ",", "arg"))
            broken = self._file("broken.lua", "no script")
            want_match("ERR Error compiling script", self._run("--eval", broken, ","))

    def debugger(self):
        """--ldb runs a script beside the data, which a node cannot: it runs nothing."""
        file = self._file("writes.lua", 'return redis.call("set", KEYS[1], "v", "PX", 60000)')
        for mode in ("--ldb", "--ldb-sync-mode"):
            said = run(self._port, CLI, mode, "--eval", file, "debugged", ",")
            want_match("Eval debugging session can't start:.*This node has no script debugger, "
                       "the script was not run", said)
        want(self._both().node("EXISTS", "debugged") == 0, "a debugged script was run")

    def scan(self):
        with Keys(self):
            wanted = sorted([*KEYS, HASH])
            for said in self._run("--scan"):
                want(sorted(said.lines) == wanted, said)
            for said in self._run("--scan", "--pattern", "lock:*"):
                want(sorted(said.lines) == ["lock:1", "lock:2"], said)
            for said in self._run("--scan", "--quoted-pattern", r'"loc\x6b:1"'):
                want(said.out in ("lock:1\n", '"lock:1"\n'), said)

    def bigkeys(self):
        with Keys(self):
            said = want_same(tuple(map(summary, self._run("--bigkeys"))))
            want_match('Biggest   hash found \'"reentrant"\' has 2 fields', said)
            want_match('Biggest string found \'"large"\' has 5000 bytes', said)
            want_match("Sampled 5 keys in the keyspace!", said)
            want_match("4 strings with 5009 bytes", said)

    def memkeys(self):
        """The sizes are each server's own."""
        with Keys(self):
            for said in self._run("--memkeys"):
                want_match("Biggest string found '\"large\"' has 5[0-3][0-9]{2} bytes", said)
                want_match("Biggest   hash found '\"reentrant\"' has [0-9]{2,3} bytes", said)
                want_match("Sampled 5 keys in the keyspace!", said)
            self._run("--memkeys-samples", 5)

    def hotkeys(self):
        with Keys(self):
            said = want_same(self._run("--hotkeys"))
        want(said.status == 1, said)
        want_match("ERR An LFU maxmemory policy is not selected, access frequency not tracked",
                   said)

    def stat(self):
        with Keys(self):
            for port in self._ports():
                with Terminal(port, CLI, "--stat", "-i", 0.05) as terminal:
                    terminal.read_until("keys +mem +clients +blocked +requests +connections")
                    rows = [terminal.read_until(r"\n5 +[0-9.]+[KM] +(\d+) +0 +(\d+) \(\+\d+\) +\d+")
                            for _ in range(3)]
                    asked = [int(row[2]) for row in rows]
                    want(asked[0] < asked[1] < asked[2] and int(rows[0][1]) >= 1, terminal.text)
                    end_by_interrupt(terminal)

    def latency(self):
        figures = r"min: \d+, max: \d+, avg: \d+\.\d+ \((\d+) samples\)"
        for port in self._ports():
            with Terminal(port, CLI, "--latency") as terminal:
                while int(terminal.read_until(figures)[1]) < 5:
                    pass
                end_by_interrupt(terminal)
            with Terminal(port, CLI, "--latency-history", "-i", 0.2) as terminal:
                for _ in range(2):
                    terminal.read_until(figures + r" -- 0\.\d+ seconds range")
                end_by_interrupt(terminal)
            with Terminal(port, CLI, "--latency-dist", "-i", 0.1) as terminal:
                terminal.read_until("From 0 to 100%")
                end_by_interrupt(terminal)
        for said in self._run("--latency", "--raw", "-i", 0.1):
            want_match(r"^\d+ \d+ \d+\.\d+ \d+\n", said)

    def pipe(self):
        commands = b"".join(request("SET", f"piped:{i}", "v", "PX", TTL_MS) for i in range(1000))
        said = want_same(self._run("--pipe", given=commands))
        want_match("errors: 0, replies: 1000", said)
        commands = b"".join(request("DEL", f"piped:{i}") for i in range(1000))
        said = want_same(self._run("--pipe", given=commands + request("NOSUCH")))
        want(said.status == 1, said)
        want_match("ERR unknown command 'NOSUCH'", said)
        want_match("errors: 1, replies: 1001", said)

    def input_argument(self):
        want_same(self._run("-x", "PSETEX", "given", TTL_MS, given=b"a\nb"), "OK\n")
        want_same(self._run("-X", "VALUE", "SET", "given", "VALUE", "XX", "PX", TTL_MS,
                            given=b"\0c"), "OK\n")
        want_same(self._run("--no-raw", "GETDEL", "given"), '"\\x00c"\n')

    def monitor(self):
        for port, ask in self._askers():
            with Terminal(port, CLI, "MONITOR") as terminal:
                terminal.read_until("OK\r\n")
                ask("SET", "a b", "\x01", "PX", 1)
                ask("EVAL", "return redis.call('get', KEYS[1])", 1, "k")
                terminal.read_until(rf'\d+\.\d{{6}} \[0 {AT}\] "SET" "a b" "\\x01" "PX" "1"\r\n')
                terminal.read_until(rf'\[0 {AT}\] "EVAL" "return redis.call\(\'get\', KEYS\[1\]\)"')
                terminal.read_until(r'\[0 lua\] "get" "k"\r\n')
                end_by_interrupt(terminal)

    def subscribe(self):
        for port, ask in self._askers():
            with Terminal(port, CLI, "SUBSCRIBE", "news", "more") as terminal:
                terminal.read_until('1\\) "subscribe"\r\n2\\) "more"\r\n3\\) \\(integer\\) 2\r\n')
                want(ask("PUBLISH", "news", "hello") == 1)
                terminal.read_until('1\\) "message"\r\n2\\) "news"\r\n3\\) "hello"\r\n')
                end_by_interrupt(terminal)
            with Terminal(port, CLI, "-3", "PSUBSCRIBE", "n?ws") as terminal:
                terminal.read_until('1\\) "psubscribe"')
                terminal.read_until(r"\(integer\) 1\r\n")
                want(ask("PUBLISH", "news", "hello") == 1)
                terminal.read_until('"pmessage"\r\n.*"n\\?ws"\r\n.*"news"\r\n.*"hello"\r\n')
                end_by_interrupt(terminal)

    def interactive(self):
        for port in self._ports():
            with Terminal(port, CLI) as terminal:
                terminal.read_until(PROMPT)
                terminal.type("pexpire ")  # the hint comes from COMMAND DOCS
                terminal.read_until("key milliseconds")
                terminal.type("\x15")      # Ctrl-U: the line is taken back
                enter(terminal, "set lock v nx px 60000", "OK")
                enter(terminal, "get lock", '"v"')
                enter(terminal, "multi", "OK", PROMPT_IN_MULTI)
                enter(terminal, "pttl lock", "QUEUED", PROMPT_IN_MULTI)
                enter(terminal, "exec", r"1\) \(integer\) \d+")
                enter(terminal, "select 0", "OK")
                enter(terminal, "2 ping", r"PONG\r\nPONG")
                enter(terminal, "nosuch", r"\(error\) ERR unknown command 'nosuch'")
                enter(terminal, "help del", r"DEL.*key \[key \.\.\.\].*summary:.*group:.* generic")
                enter(terminal, "help @hash", "HINCRBY")
                enter(terminal, "del lock", r"\(integer\) 1")
                terminal.enter("quit")
                want(terminal.read_to_end() == 0, terminal.text)

    def databases(self):
        """A node has one."""
        with Terminal(self._port, CLI) as terminal:
            terminal.read_until(PROMPT)
            enter(terminal, "select 1", r"\(error\) ERR DB index is out of range")
        said = run(self._port, CLI, "-n", 1, "PING")
        want_match("SELECT 1 failed: ERR DB index is out of range", said)

    def reconnect(self):
        """A prompt that outlives the node."""
        node = self._both().new_node().wait_for_pong()
        with Terminal(node.port, CLI) as terminal:
            terminal.read_until(PROMPT)
            node.stop()
            enter(terminal, "get lock", "Error: ", NO_PROMPT)
            enter(terminal, "get lock", "Could not connect to Redis at .*: Connection refused",
                  NO_PROMPT)
            node.exec().wait_for_pong()
            enter(terminal, "ping", "PONG")
        node.end()

    def address(self):
        url = ("-u", "redis://127.0.0.1:PORT")
        want_same(self._run("PING", address=url), "PONG\n")
        want_same(self._run("PING", address=("-u", "redis://127.0.0.1:PORT/0")), "PONG\n")
        want_same(self._run("ECHO", "x", address=("-h", "localhost", "-p", "PORT")), "x\n")

    def passwords(self):
        """A node with a password: by -a, by --user and --pass, by REDISCLI_AUTH, in a URL."""
        port = self._both().new_node("--requirepass", "secret").port
        quiet = "--no-auth-warning"
        want(eventually(lambda: run(port, CLI, "PING").status == 0), "it does not start")
        want_match("NOAUTH Authentication required", run(port, CLI, "PING"))
        for said in (run(port, CLI, "-a", "secret", quiet, "PING"),
                     run(port, CLI, "--user", "default", "--pass", "secret", quiet, "PING"),
                     run(port, CLI, "-3", "-a", "secret", quiet, "PING"),
                     run(port, CLI, "PING", environment={"REDISCLI_AUTH": "secret"}),
                     run(port, CLI, quiet, "PING", address=(
                         "-u", "redis://default:secret@127.0.0.1:PORT"))):
            want(said.out == "PONG\n" and not said.err, said)
        want_match("AUTH failed: WRONGPASS", run(port, CLI, "-a", "wrong", quiet, "PING"))
        # Without one, both say that there is none.
        want_match("AUTH failed: ERR AUTH <password> called without any password configured",
                   want_same(self._run("-a", "secret", quiet, "PING")))

    def replication(self):
        """What a node has not: redis-cli says so and ends with exit status 1."""
        for words in (("--rdb", "dump.rdb"), ("--functions-rdb", "dump.rdb"), ("--replica",)):
            said = run(self._port, CLI, *words)
            want(said.status == 1, said)
            want_match(NO_REPLICA[0], said)
            want("functions" in words[0] or NO_REPLICA[1] in said.out + said.err, said)

    # --- what they need ---

    def _both(self):
        if self._beside is None:
            self._beside = Beside(self._port)
        return self._beside

    def _ports(self):
        return self._port, self._both().redis_port

    def _askers(self):
        return (self._port, self._both().node), (self._both().redis_port, self._both().redis)

    def _run(self, *words, **more):
        return self._both().run(CLI, *words, **more)

    def _file(self, name, text):
        path = self._both().folder / name
        path.write_text(text)
        return path


class Keys:
    """Some keys, the same at both, for as long as it lasts."""

    def __init__(self, user):
        self._both = user._both()

    def __enter__(self):
        for key, value in KEYS.items():
            self._both.both("SET", key, value, "PX", TTL_MS)
        self._both.both("HSET", HASH, "a", 1, "b", 2)
        self._both.both("PEXPIRE", HASH, TTL_MS)

    def __exit__(self, *_):
        self._both.both("DEL", *KEYS, HASH)


def summary(said):
    """What --bigkeys found, in an order of its own: that of the keys is the server's."""
    found = said.out.split("-------- summary -------")[1]
    said.out = "\n".join(sorted(line for line in found.splitlines() if re.search(r"\d", line)))
    return said


def enter(terminal, line, pattern, prompt=PROMPT):
    """A line at the prompt, what it prints, and the prompt that follows on a line of its own."""
    terminal.enter(line)
    terminal.read_until(rf"\n[^\n]*{pattern}.*\n{prompt}")


def end_by_interrupt(terminal):
    terminal.interrupt()
    terminal.read_to_end()


if __name__ == "__main__":
    driver.serve(User())
