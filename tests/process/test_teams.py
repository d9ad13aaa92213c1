"""Two teams on one node: neither sees, takes, extends or ends the other's locks.

Every command that COMMAND tells is sent by team b with the key of team a's lock, in its place and
in every other, plain, in MULTI, and by a script. Whatever is answered, the lock is as it was, and
the answer tells nothing of it.
"""

import pathlib
import subprocess
import tempfile

from harness import BUILD, PATIENCE_S, ROOT, ProcessTest, RedisError, eventually, main

KEY = b"a:lock"
VALUE = b"value-of-team-a"
# All that a team may have that is no operator.
TEAM = "on >{0} ~{0}:* &{0}:* +@all -@admin"

# They end or change the connection that they come by, or wait: each has a client of its own.
ALONE = {"quit", "reset", "hello", "auth", "monitor", "multi", "exec", "discard", "subscribe",
         "psubscribe", "ssubscribe", "lock.wait", "client|reply", "script|debug", "client|kill",
         "unsubscribe", "punsubscribe", "sunsubscribe", "client|setname", "client|setinfo",
         "lock.group|hello"}


def specs(client):
    """name, arity, first key, last key, step of all commands and subcommands."""
    todo = client("COMMAND")
    while todo:
        name, arity, _, first, last, step, _, _, _, inner = todo.pop()
        todo += inner
        if not inner:
            yield name.decode(), arity, first, last, step


def fillings(name, arity, first):
    """Words behind the command's name: numbers and options that get as many commands as can be to
    the point of looking at a key, with the other's key at each place in turn."""
    words = name.split("|")
    least = abs(arity) - len(words)
    for size in range(max(least, 1), max(least, 1) + 5):
        for filler in ("1", "PX", "0"):
            for place in range(size):
                rest = [filler] * size
                rest[place] = KEY
                yield words + rest
    if first > 0:
        usual = {"set": [VALUE, "PX", "1000"], "lock.acquire": ["x", "PX", "1000"],
                 "lock.extend": [VALUE, "PX", "1000"], "lock.replace": [VALUE, "x", "PX", "1000"],
                 "lock.release": [VALUE], "delifeq": [VALUE], "lock.wait": ["0"]}
        yield words + [KEY] + usual.get(name, ["1"] * max(least - 1, 0))


def leaves(reply):
    """All texts of a reply."""
    if isinstance(reply, (list, tuple, set)):
        for one in reply:
            yield from leaves(one)
    elif isinstance(reply, dict):
        for key, value in reply.items():
            yield from leaves(key)
            yield from leaves(value)
    elif isinstance(reply, RedisError):
        yield reply.text.encode()
    elif isinstance(reply, bytes):
        yield reply


class Teams(ProcessTest):
    def setUp(self):
        super().setUp()
        self.server = self.node("--max-ttl", "1h", "--notify-keyspace-events", "KEA",
                                "--slowlog-log-slower-than", "0")
        self.operator = self.server.client()
        for team in "ab":
            self.assertEqual(
                self.operator("ACL", "SETUSER", team, *TEAM.format(team).split()), "OK")
        self.a = self.of("a")
        self.assertEqual(self.a("SET", KEY, VALUE, "NX", "PX", 3_000_000), "OK")
        self.token = self.a("LOCK.HOLDER", KEY)[2]

    def of(self, team):
        client = self.server.client()
        self.assertEqual(client("AUTH", team, team), "OK")
        return client

    def assert_untouched(self, *words):
        value, left, token = self.operator("LOCK.HOLDER", KEY)[:3]
        self.assertEqual((value, token), (VALUE, self.token), words)
        self.assertTrue(2_000_000 < left <= 3_000_000, (words, left))

    def assert_tells_nothing(self, reply, words):
        """Nothing of the value, and no key of team a's but what the request itself named."""
        named = b" ".join(w if isinstance(w, bytes) else str(w).encode() for w in words)
        for text in leaves(reply):
            if VALUE not in named:
                self.assertNotIn(VALUE, text, words)
            if KEY not in named:
                self.assertNotIn(KEY, text, words)

    def answer_of(self, server, *words):
        """None as long as nobody listens."""
        try:
            with server.client() as client:
                return client(*words)
        except OSError:
            return None

    def ask(self, client, words):
        """The reply, of a connection that may end."""
        try:
            return client(*words)
        except (ConnectionError, EOFError, OSError):
            return None

    def test_every_command_plain_in_a_transaction_and_by_a_script(self):
        tried = refused = 0
        client = self.of("b")
        in_script = "return redis.pcall(unpack(ARGV))"
        for name, arity, first, _, _ in specs(self.operator):
            for words in fillings(name, arity, first):
                if name in ALONE:
                    with self.of("b") as own:
                        own.socket.settimeout(0.2)
                        self.assert_tells_nothing(self.ask(own, words), words)
                    self.assert_untouched(*words)
                    break
                reply = client(*words)
                tried += 1
                refused += isinstance(reply, RedisError) and reply.text.startswith("NOPERM")
                self.assert_tells_nothing(reply, words)
                if first > 0 and words[first] == KEY:
                    # The right number of words, and its key: refused for the key, if not before.
                    self.assertIsInstance(reply, RedisError, words)
                self.assert_tells_nothing(client("EVAL", in_script, 0, *words), words)
                self.assertEqual(client("MULTI"), "OK")
                self.assert_tells_nothing(client(*words), words)
                self.assert_tells_nothing(client("EXEC"), words)
            self.assert_untouched(name)
        self.assertGreater(tried, 1500)
        self.assertGreater(refused, 300)

    def test_keys_at_their_places_are_refused_for_what_they_are(self):
        client = self.of("b")
        for name, arity, first, _, _ in specs(self.operator):
            if first == 0 or "subscribe" in name or name == "spublish":
                continue
            words = name.split("|")
            words += ["b:own"] * (abs(arity) - len(words))
            words[first] = KEY
            reply = client(*words)
            self.assertIsInstance(reply, RedisError, words)
            self.assertTrue(reply.text.startswith("NOPERM"), (words, reply.text))

    def test_no_list_and_no_listener_is_told_of_the_other_team(self):
        client = self.of("b")
        self.assertEqual(client("SET", "b:1", "x", "NX", "PX", 100_000), "OK")
        cursor, found = b"0", []
        while True:
            cursor, some = client("SCAN", cursor, "COUNT", 1)
            found += some
            if cursor == b"0":
                break
        self.assertEqual(found, [b"b:1"])
        self.assertEqual(client("KEYS", "*"), [b"b:1"])
        for words in (["DBSIZE"], ["RANDOMKEY"], ["FLUSHALL"], ["FLUSHDB"]):
            self.assert_error(client(*words), "NOPERM")
        self.assertEqual(self.operator("ACL", "SETUSER", "b", "+monitor", "+slowlog", "&*"), "OK")
        self.assert_error(client("SLOWLOG", "GET"), "NOPERM")
        monitor, listener = self.of("b"), self.of("b")
        self.assertEqual(monitor("MONITOR"), "OK")
        listener("PSUBSCRIBE", "*")
        self.assertEqual(self.a("SET", "a:2", "y", "NX", "PX", 1000), "OK")
        self.assertEqual(self.a("EVAL", "return redis.call('del', 'a:2')", 0), 1)
        self.assertEqual(client("DEL", "b:1"), 1)
        shown = [monitor.reply() for _ in range(2)]
        self.assertTrue(shown[0].endswith('"PSUBSCRIBE" "*"'), shown)
        self.assertTrue(shown[1].endswith('"DEL" "b:1"'), shown)
        self.assertEqual(listener.reply()[2:], [b"__keyspace@0__:b:1", b"del"])
        self.assert_untouched()

    def test_a_made_password_has_so_many_bits_and_no_other_is_the_same(self):
        self.assertEqual(len(self.operator("ACL", "GENPASS")), 64)
        self.assertEqual(len(self.operator("ACL", "GENPASS", 5)), 2)
        made = {self.operator("ACL", "GENPASS", 4096) for _ in range(20)}
        self.assertEqual({len(password) for password in made}, {1024})
        self.assertEqual(len(made), 20)

    def test_the_shipped_users_do_what_they_are_for(self):
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.folder()))
        shipped = (ROOT / "config" / "users.acl").read_text()
        lines = []
        for line in shipped.splitlines():
            words = line.split()
            if line.startswith("user ") and words[1] != "default":
                words[2:3] = ["on", ">" + words[1]]
            lines.append(" ".join(words))
        file = folder / "users.acl"
        file.write_text("\n".join(lines) + "\n")
        server = self.new_node("--aclfile", file)
        server.exec()
        self.assert_error(eventually(lambda: self.answer_of(server, "PING")), "NOAUTH")
        as_user = {}
        for name in ("holder", "observer", "operator", "coordinator"):
            as_user[name] = server.client()
            self.assertEqual(as_user[name]("AUTH", name, name), "OK")
        holder, observer, operator, _ = as_user.values()
        self.assertEqual(holder("LOCK.ACQUIRE", "team:x", "v", "PX", 1000)[0], 1)
        self.assertEqual(holder("SET", "team:y", "v", "NX", "PX", 1000), "OK")
        self.assert_error(holder("SET", "other", "v", "NX", "PX", 1000), "NOPERM")
        self.assert_error(holder("SET", "team:z", "v", "PX", 61_000), "ERR a TTL of 61000 ms")
        for words in (["FLUSHALL"], ["SHUTDOWN"], ["CONFIG", "GET", "*"], ["ACL", "LIST"],
                      ["LOCK.FENCE", "ADMIT", 9], ["EVAL", "return 1", 0]):
            self.assert_error(holder(*words), "NOPERM")
        self.assertIn(b"redis_version", observer("INFO"))
        address = f"redis://coordinator:coordinator@127.0.0.1:{server.port}"
        ran = subprocess.run([BUILD / "redlock", "run", "--nodes", address, "job", "--", "true"],
                             timeout=PATIENCE_S)
        self.assertEqual(ran.returncode, 0)
        denied = [e for e in operator("ACL", "LOG", 100) if b"coordinator" in e]
        self.assertEqual(denied, [])
        for words in (["GET", "team:x"], ["DEL", "team:x"], ["SHUTDOWN"]):
            self.assert_error(observer(*words), "NOPERM")
        self.assertEqual(operator("CONFIG", "SET", "eval", "known"), "OK")
        # What an operator changes is saved whole, and read back the same.
        self.assertEqual(operator("ACL", "SETUSER", "new", "on", ">x", "~n:*", "+get"), "OK")
        self.assertEqual(operator("ACL", "SAVE"), "OK")
        before = operator("ACL", "LIST")
        self.assertEqual(operator("ACL", "LOAD"), "OK")
        self.assertEqual(operator("ACL", "LIST"), before)
        self.assertEqual(holder("PING"), "PONG")  # its rules are as they were: it stays
        saved = file.read_text()
        file.write_text(saved + "user broken +nope\n")
        reply = operator("ACL", "LOAD")
        self.assert_error(reply, "ERR")
        self.assertIn(f":{len(saved.splitlines()) + 1}: Unknown command", reply.text)
        self.assertEqual(operator("ACL", "LIST"), before)
        self.assertEqual([entry.name for entry in folder.iterdir()], ["users.acl"])


if __name__ == "__main__":
    main()
