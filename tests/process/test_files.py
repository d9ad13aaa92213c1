"""What a start makes of files and descriptors that are not as they should be."""

import os
import pathlib
import stat
import subprocess

from harness import BUILD, NODE_PROGRAM, PATIENCE_S, ProcessTest, eventually, main


def without_standard_streams(*command, folder):
    """Runs the command with the descriptors 0 to 2 closed; its exit code."""
    closed = ["sh", "-c", 'exec "$@" 0<&- 1>&- 2>&-', "sh", *map(str, command)]
    return subprocess.run(closed, timeout=PATIENCE_S, cwd=folder).returncode


class Secrets(ProcessTest):
    def test_no_list_of_processes_shows_a_password(self):
        node = self.new_node().exec("--requirepass", "secret", "--loglevel", "notice")
        words = pathlib.Path(f"/proc/{node.process.pid}/cmdline")
        self.assertTrue(eventually(lambda: "--requirepass\0******\0--loglevel\0notice\0"
                                   in words.read_text(encoding="utf-8")))


class Files(ProcessTest):
    def test_a_folder_as_configuration_is_a_clear_error(self):
        folder = self.folder()
        for command in ([NODE_PROGRAM, folder],
                        [BUILD / "redlock", "status", "--config", folder]):
            done = subprocess.run(list(map(str, command)), text=True, capture_output=True,
                                  timeout=PATIENCE_S, cwd=folder)
            self.assertGreater(done.returncode, 0, done)  # below 0: a signal
            self.assertIn("Is a directory", done.stderr)

    def test_a_regular_file_at_the_socket_s_path_stays(self):
        node = self.new_node()
        precious = node.folder / "precious"
        precious.write_text("precious")
        done = node.run_once("--unixsocket", precious)
        self.assertEqual(done.returncode, 1, done)
        self.assertIn("is no socket", done.stderr + done.stdout)
        self.assertEqual(precious.read_text(), "precious")

    def test_the_longest_path_gets_its_mode_and_a_longer_one_is_refused(self):
        node = self.new_node("--unixsocketperm", "600")
        path = str(node.folder) + "/"
        path += "s" * (107 - len(path))
        done = node.run_once("--unixsocket", path + "s")
        self.assertEqual(done.returncode, 1, done)
        self.assertIn("at most 107 bytes", done.stderr + done.stdout)
        node.start("--unixsocket", path)
        self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o600)

    def test_a_ledger_that_was_removed_refuses_locks_and_is_told(self):
        node = self.node()
        client = node.client()
        ledger = node.state / "ledger"
        self.assertEqual(client("SET", "printer", "A", "NX", "PX", 100), "OK")
        ledger.rename(node.folder / "away")
        self.assert_error(client("SET", "lamp", "A", "NX", "PX", 30000), "ERR no lock is granted")
        self.assertTrue(eventually(lambda: f"{ledger} was removed" in node.log()))
        (node.folder / "away").rename(ledger)
        free = lambda: client("SET", "lamp", "A", "NX", "PX", 30000) == "OK"
        self.assertTrue(eventually(free))  # what was refused ends with what the ledger told of

    def test_closed_standard_streams_do_not_hand_their_numbers_on(self):
        """Else the ledger would be descriptor 1, and log lines be written into it."""
        node = self.new_node()
        node.launch(["sh", "-c", 'exec "$@" 0<&- 1>&- 2>&-', "sh", *map(str, node.command())])
        node.wait_for_pong()
        for number in ("0", "1", "2"):
            self.assertEqual(os.readlink(f"/proc/{node.process.pid}/fd/{number}"), "/dev/null")
        self.assertEqual(node.stop(), 0)
        redlock = without_standard_streams(BUILD / "redlock", "--version", folder=node.folder)
        self.assertEqual(redlock, 74)  # it could tell nobody


if __name__ == "__main__":
    main()
