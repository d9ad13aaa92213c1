"""The page of `redlock status --http` and of a front door: what it tells, to whom, and what not."""

import base64
import http.client
import json
import pathlib
import re
import signal
import socket
import subprocess
import tempfile
import time
import unittest
import urllib.error
import urllib.request

from group import PATIENCE_S, GroupTest, ask, reserve_ports, wait_until


def basic(password):
    return "Basic " + base64.b64encode(f"anybody:{password}".encode()).decode()


def get(port, path="/", host=None, password=None):
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}")
    if password is not None:
        request.add_header("Authorization", basic(password))
    if host:
        request.add_header("Host", host)
    with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
        return answer.headers, answer.read().decode()


def questions_at(port):
    """How often a page has asked this node for its state."""
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S) as link:
        link.sendall(b"INFO commandstats\r\nQUIT\r\n")
        found = re.search(r"^cmdstat_lock.status:calls=(\d+)", link.makefile().read(), re.M)
    return int(found[1]) if found else 0


class Listener:
    """Somebody who looks at the page."""

    def __init__(self, port, password=None):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
        headers = {} if password is None else {"Authorization": basic(password)}
        self.connection.request("GET", "/events", headers=headers)
        self.answer = self.connection.getresponse()

    def next(self):
        line = self.answer.readline().decode()
        assert line.startswith("data: ") and self.answer.readline() == b"\n", line
        return json.loads(line[6:])

    def close(self):
        self.connection.close()


class PageTest(GroupTest):
    def setUp(self):
        super().setUp()
        self.addCleanup(self.drop_group)
        [self.port] = reserve_ports(1)

    def show(self, *words):
        page = self.start_redlock("status", "--http", f"127.0.0.1:{self.port}", *words)
        self.assertEqual(page.stdout.readline(),
                         f"the group is shown at http://127.0.0.1:{self.port}/ until Ctrl-C\n")
        return page

    def listen(self, port=None):
        listener = Listener(port or self.port)
        self.addCleanup(listener.close)
        return listener

    def hold(self, name, **options):
        return self.start_job(name, "sleep 60", "--label", f"who holds {name}", **options)


class Status(PageTest):
    def test_the_page_loads_nothing_from_elsewhere(self):
        self.show()
        headers, page = get(self.port)
        self.assertEqual(headers["Content-Type"], "text/html; charset=utf-8")
        self.assertIn("default-src 'none'; script-src 'self'", headers["Content-Security-Policy"])
        for path in ("/page.js", "/page.css"):
            self.assertIn(path[1:], page)
            self.assertNotIn("http://", get(self.port, path)[1].replace(
                "http://www.w3.org/2000/svg", ""))
        for path in ("/other", "/metrics", "/page.html"):
            with self.assertRaisesRegex(urllib.error.HTTPError, "404"):
                get(self.port, path)
        with self.assertRaisesRegex(urllib.error.HTTPError, "421"):
            get(self.port, "/status.json", host="evil.example")

    def test_a_killed_node_is_seen_within_two_seconds_and_one_that_recovers_counts_down(self):
        self.show()
        listener = self.listen()
        first = listener.next()
        self.assertEqual(first["status"]["level"], "well")
        self.assertEqual(first["title"], "redlock status")
        node = self.group.nodes[2]
        node.kill()
        killed = time.monotonic()
        while listener.next()["status"]["nodes"][2]["up"]:
            pass
        self.assertLess(time.monotonic() - killed, 2)
        node.folder += "-new"  # without its ledger it waits for the longest TTL
        node.start()
        node.await_begun()
        while (told := listener.next()["status"]["nodes"][2])["state"] != "recovering":
            pass
        self.assertLess(listener.next()["status"]["nodes"][2]["delay_left_seconds"],
                        told["delay_left_seconds"])

    def test_hung_nodes_do_not_slow_it(self):
        self.show()
        listener = self.listen()
        self.group.signal((0, 1), signal.SIGSTOP)
        while listener.next()["status"]["nodes_granting"] != 3:
            pass
        began = time.monotonic()
        for _ in range(3):
            listener.next()
        self.assertLess(time.monotonic() - began, 3 * 3)  # a second, or two node timeouts

    def test_locks_are_told_with_their_holders_and_never_with_their_values(self):
        self.show()
        job = self.hold("payroll")
        ask(self.group.nodes[0].port, "SET", "no-quorums", "x", "PX", "5000")
        listener = self.listen()
        while not (told := listener.next())["locks"]:
            pass
        [lock] = told["locks"]
        self.assertEqual((lock["name"], lock["label"], lock["nodes"]),
                         ("payroll", "who holds payroll", 5))
        self.assertLess(0, lock["left_ms"])
        self.assertNotIn("value", lock)
        job.send_signal(signal.SIGTERM)
        job.wait(PATIENCE_S)
        while listener.next()["locks"]:
            pass

    def test_names_are_hidden_as_is_wished(self):
        self.show("--http-names", "hash")
        self.hold("payroll")
        listener = self.listen()
        while not (told := listener.next())["locks"]:
            pass
        self.assertRegex(told["locks"][0]["name"], "^#[0-9a-f]{16}$")
        self.assertNotIn("who holds", json.dumps(told))
        self.assertEqual(told["locks"][0]["name"], listener.next()["locks"][0]["name"])

    def test_no_names_are_no_list(self):
        self.show("--http-names", "no")
        self.hold("payroll")
        told = self.listen().next()
        self.assertEqual((told["locks"], told["why_no_locks"]), (None, "names are not shown"))

    def test_so_many_locks_are_counted_alone(self):
        self.show()
        many = [("SET", f"lock {number}", "x", "PX", "20000") for number in range(501)]
        for node in self.group.nodes[:3]:
            for words in many:
                ask(node.port, *words)
        listener = self.listen()
        while (told := listener.next())["locks"] is not None:
            pass
        self.assertEqual(told["why_no_locks"], "501, more than are listed here")

    def test_what_no_quorum_tells_is_not_told_as_free(self):
        self.show()
        self.group.kill(0, 1, 2)
        listener = self.listen()
        while (told := listener.next())["locks"] is not None:
            pass
        self.assertEqual(told["why_no_locks"], "no quorum tells of them")

    def test_the_nodes_are_asked_while_somebody_looks_and_no_longer(self):
        self.show("--http-names", "no")
        port = self.group.nodes[0].port

        def still():
            before = questions_at(port)
            time.sleep(1.5)
            return questions_at(port) == before

        self.assertTrue(still())
        listener = self.listen()
        listener.next()
        self.assertFalse(still())
        listener.close()
        listener.answer.close()
        wait_until(still, "nobody looks, and the nodes are asked no more")

    def test_names_of_many_kilobytes_are_cut(self):
        self.show()
        name = "\x00" * 60_000
        for node in self.group.nodes[:3]:
            ask(node.port, "SET", name, "x", "PX", "20000")
        listener = self.listen()
        while not (told := listener.next())["locks"]:
            pass
        self.assertLess(len(told["locks"][0]["name"]), 1000)

    def test_who_comes_and_goes_asks_the_nodes_no_more_often(self):
        self.show("--http-names", "no")
        self.listen().next()
        port = self.group.nodes[0].port
        before, began, came = questions_at(port), time.monotonic(), 0
        while time.monotonic() - began < 3:
            other = Listener(self.port)
            other.close()
            other.answer.close()
            came += 1
        most = 2 * (time.monotonic() - began + 2)  # two for a look, at most
        self.assertGreater(came, 10)
        self.assertLessEqual(questions_at(port) - before, most)

    def test_status_json_is_there_for_programs_that_ask_again(self):
        self.show()
        def told():
            try:
                return json.loads(get(self.port, "/status.json")[1])
            except urllib.error.HTTPError as error:
                self.assertEqual(error.code, 503)
                self.assertIn("look again in 1 s", error.read().decode())
                return None
        wait_until(told, "the nodes were asked")
        self.assertEqual(told()["status"]["verdict"],
                         "5 of 5 grant, all of them fenced: all is well; 2 may fail")

    def test_bad_words_are_told_and_a_taken_address_too(self):
        for words in (("--http", "here"), ("--http", "/a.sock"), ("--http", "localhost:80"),
                      ("--http", "127.0.0.1:1", "--watch"), ("--http", "127.0.0.1:1", "--json"),
                      ("--http-names", "some"), ("--http-names", "hash")):
            self.assertExit(64, self.redlock("status", *words))
        taken = self.redlock("status", "--http", f"127.0.0.1:{self.group.nodes[0].port}")
        self.assertExit(1, taken)
        self.assertIn("address already in use", taken.stderr)

    def test_the_password_of_the_nodes_is_asked_for(self):
        for node in self.group.nodes:
            self.assertEqual(ask(node.port, "CONFIG", "SET", "requirepass", "secret"), "+OK")
        self.environment["REDLOCK_PASSWORD"] = "secret"
        self.show()
        for wrong in (None, "", "secre", "secrets"):
            with self.assertRaisesRegex(urllib.error.HTTPError, "401"):
                get(self.port, "/status.json", password=wrong)
        listener = Listener(self.port, password="secret")
        self.addCleanup(listener.close)
        self.assertEqual(len(listener.next()["status"]["nodes"]), 5)

    def test_ctrl_c_ends_it_also_while_somebody_looks(self):
        page = self.show()
        self.listen().next()
        self.group.signal((1, 2), signal.SIGSTOP)  # a look waits for them
        time.sleep(1)
        page.send_signal(signal.SIGINT)
        began = time.monotonic()
        self.assertEqual(page.wait(PATIENCE_S), 130)
        self.assertLess(time.monotonic() - began, 2)


class Door(PageTest):
    def serve(self, *words):
        [port] = reserve_ports(1)
        self.door = self.start_redlock(
            "serve", "--listen", f"127.0.0.1:{port}", "--http", f"127.0.0.1:{self.port}", *words,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until(lambda: is_shown(self.port), "the door shows a page")
        return port

    def test_it_shows_the_group_its_clients_and_who_holds_what(self):
        port = self.serve()
        self.assertEqual(ask(port, "SET", "payroll", "a secret", "NX", "PX", "20000"), "+OK")
        listener = self.listen()
        while not (told := listener.next())["locks"]:
            pass
        self.assertEqual(told["title"], f"front door 127.0.0.1:{port}")
        self.assertEqual(told["locks"][0]["name"], "payroll")
        self.assertEqual((told["door"]["granted"], told["door"]["waiters"]), (1, 0))
        self.assertNotIn("a secret", json.dumps(told))

    def test_it_tells_how_long_locks_took_and_which_nodes_had_no_say(self):
        port = self.serve()
        self.assertEqual(ask(port, "SET", "first", "a", "NX", "PX", "20000"), "+OK")
        self.group.kill(3)
        self.group.signal((4,), signal.SIGSTOP)
        for number in range(20):
            name = f"lock {number}"
            self.assertEqual(ask(port, "SET", name, "a", "NX", "PX", "20000"), "+OK")
        # Whom another has it from is not asked by this door: the vote is what tells.
        for node in self.group.nodes[:3]:
            ask(node.port, "SET", "of another", "b", "NX", "PX", "20000")
        self.assertEqual(ask(port, "SET", "of another", "a", "NX", "PX", "20000"), "$-1")
        self.group.proceed()
        listener = self.listen()

        def votes():
            told = listener.next()["door"]
            self.assertEqual([one["node"] for one in told["votes"]],
                             [f"127.0.0.1:{node.port}" for node in self.group.nodes])
            return told["acquisitions"], [
                (one["yes"], one["no"], one["none"]) for one in told["votes"]]
        acquisitions, told = votes()
        while sum(sum(one) for one in told) < 22 * 5:  # the one that hung answers late
            acquisitions, told = votes()
        self.assertEqual(told[:3], [(21, 1, 0)] * 3)
        self.assertEqual(sum(bucket["count"] for bucket in acquisitions), 21)
        self.assertEqual(told[3][1:], (0, 22 - told[3][0]))
        self.assertLessEqual(told[3][0], 1)  # the first, where it was in time
        self.assertEqual(acquisitions[-1]["up_to_us"], None)
        self.assertEqual([bucket["up_to_us"] for bucket in acquisitions[:-1]],
                         sorted(bucket["up_to_us"] for bucket in acquisitions[:-1]))

    def test_a_node_that_was_never_heard_had_no_say(self):
        self.group.signal((4,), signal.SIGSTOP)
        port = self.serve()
        for number in range(3):
            name = f"lock {number}"
            self.assertEqual(ask(port, "SET", name, "a", "NX", "PX", "20000"), "+OK")
        told = self.listen().next()["door"]["votes"][4]
        self.assertEqual((told["yes"], told["no"], told["none"]), (0, 0, 3))

    def refused(self, path, **options):
        with self.assertRaises(urllib.error.HTTPError) as refused:
            get(self.port, path, **options)
        refused.exception.close()
        self.assertEqual(refused.exception.code, 401)
        return refused.exception

    def test_with_a_password_whoever_gives_it_is_shown_the_page(self):
        port = self.serve("--requirepass", "se:cret ü")
        self.assertEqual(ask(port, "AUTH", "se:cret ü"), "+OK")
        for path in ("/", "/page.js", "/page.css", "/status.json", "/events", "/other"):
            refusal = self.refused(path)
            self.assertEqual(refusal.headers["WWW-Authenticate"],
                             'Basic realm="redlock", charset="UTF-8"')
            for wrong in ("", "se", "se:cret", "se:cret ü ", "Se:cret ü"):
                self.refused(path, password=wrong)
        listener = Listener(self.port, password="se:cret ü")
        self.addCleanup(listener.close)
        told = listener.next()
        self.assertEqual((told["locks"], told["status"]["level"]), ([], "well"))
        self.assertIn("<title>Redlock</title>", get(self.port, password="se:cret ü")[1])
        # Collectors have none at the nodes, and no lock's name is among what they get.
        self.assertIn("redlock_door_info", get(self.port, "/metrics")[1])

    def test_guesses_are_counted_and_logged_and_each_costs_a_connection(self):
        log = tempfile.NamedTemporaryFile()
        self.addCleanup(log.close)
        port = self.serve("--requirepass", "secret", "--logfile", log.name)
        credentials = base64.b64encode(b"default:guess").decode()
        guess = f"GET / HTTP/1.1\r\nHost: localhost\r\nAuthorization: Basic {credentials}\r\n\r\n"
        with socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE_S) as link:
            link.sendall(100 * guess.encode())
            with link.makefile("rb") as answers:
                try:
                    heard = answers.read()
                except ConnectionResetError:
                    heard = b"401"  # what came behind it was not read
        self.assertEqual(heard.count(b"401"), 1)
        self.refused("/")  # says nothing, and guesses nothing
        with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S) as link:
            link.sendall(b"AUTH secret\r\nINFO stats\r\nQUIT\r\n")
            self.assertIn("acl_access_denied_auth:1\n", link.makefile().read())
        self.assertRegex(pathlib.Path(log.name).read_text(),
                         "127.0.0.1:[0-9]+ gave a wrong password")

    def test_a_password_that_is_set_later_is_asked_for_from_then(self):
        port = self.serve()
        self.assertIn("<title>Redlock</title>", get(self.port)[1])
        self.assertEqual(ask(port, "CONFIG", "SET", "requirepass", "secret"), "+OK")
        self.refused("/")
        self.assertIn("<title>Redlock</title>", get(self.port, password="secret")[1])

    def test_a_door_is_ended_while_somebody_looks(self):
        self.serve()
        self.listen().next()
        self.door.send_signal(signal.SIGTERM)
        self.assertEqual(self.door.wait(PATIENCE_S), 0)


def is_shown(port):
    try:
        return get(port)
    except urllib.error.HTTPError as refused:
        refused.close()
        return True
    except OSError:
        return None


if __name__ == "__main__":
    unittest.main()
