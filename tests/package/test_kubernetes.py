#!/usr/bin/env python3
"""config/kubernetes/redlock.yaml: its parts fit each other, and what it starts are nodes and doors.

No cluster is there to try it. So the programs are started as the file says, on this machine, and a
group is made of them as docs/containers.md says.
"""

import contextlib
import json
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

import yaml

import programs

sys.path.insert(0, str(programs.ROOT / "tests/process"))

import ports  # noqa: E402

FILE = programs.ROOT / "config/kubernetes/redlock.yaml"
USER = 65532
PASSWORD = "of this test"
MAX_TTL_S = 4  # in place of the usual, as a first start waits for it


def load():
    return {(each["kind"], each["metadata"]["name"]): each
            for each in yaml.safe_load_all(FILE.read_text(encoding="utf-8"))}


def pod_of(workload):
    return workload["spec"]["template"]["spec"]


def env_of(container):
    """What the container's variables are, the password filled in."""
    return {each["name"]: each.get("value", PASSWORD) for each in container["env"]}


class Parts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.all = load()
        cls.nodes = cls.all["StatefulSet", "redlock"]
        cls.doors = cls.all["Deployment", "redlock-door"]

    def labels_of(self, workload):
        return workload["spec"]["template"]["metadata"]["labels"]

    def test_whatever_selects_meets_just_its_pods(self):
        for (kind, name), workload, others in (
                (("StatefulSet", "redlock"), self.nodes, self.doors),
                (("Deployment", "redlock-door"), self.doors, self.nodes),
                (("PodDisruptionBudget", "redlock"), self.nodes, self.doors),
                (("Service", "redlock"), self.nodes, self.doors),
                (("Service", "redlock-door"), self.doors, self.nodes)):
            selector = self.all[kind, name]["spec"]["selector"]
            wanted = selector.get("matchLabels", selector).items()
            self.assertLessEqual(wanted, self.labels_of(workload).items(), (kind, name))
            self.assertFalse(wanted <= self.labels_of(others).items(), (kind, name))
        rule, = pod_of(self.nodes)["affinity"]["podAntiAffinity"][
            "requiredDuringSchedulingIgnoredDuringExecution"]
        self.assertEqual(rule["labelSelector"]["matchLabels"], self.labels_of(self.nodes))
        self.assertEqual(rule["topologyKey"], "kubernetes.io/hostname")

    def test_all_is_in_one_namespace(self):
        for (kind, name), each in self.all.items():
            if kind != "Namespace":
                self.assertIn(("Namespace", each["metadata"]["namespace"]), self.all, (kind, name))

    def test_the_doors_know_each_node_by_the_name_that_it_has(self):
        env = env_of(pod_of(self.doors)["containers"][0])
        service = self.nodes["spec"]["serviceName"]
        namespace = self.nodes["metadata"]["namespace"]
        self.assertEqual(self.all["Service", service]["spec"]["clusterIP"], "None")
        self.assertTrue(self.all["Service", service]["spec"]["publishNotReadyAddresses"])
        self.assertEqual(env["REDLOCK_NODES"].split(","),
                         [f"redlock-{number}.{service}.{namespace}.svc:6379"
                          for number in range(self.nodes["spec"]["replicas"])])

    def test_services_and_probes_lead_to_ports_that_are_there(self):
        for workload, service in ((self.nodes, "redlock"), (self.doors, "redlock-door")):
            container, = pod_of(workload)["containers"]
            open_ports = {each["name"]: each["containerPort"] for each in container["ports"]}
            for each in self.all["Service", service]["spec"]["ports"]:
                self.assertEqual(open_ports[each["name"]], each["port"])
            for probe in ("readinessProbe", "livenessProbe"):
                asked = container[probe].get("tcpSocket") or container[probe]["httpGet"]
                self.assertIn(asked["port"], open_ports)

    def test_nothing_is_writable_but_the_state(self):
        for workload in (self.nodes, self.doors):
            pod = pod_of(workload)
            container, = pod["containers"]
            self.assertEqual(pod["securityContext"]["runAsUser"], USER)
            self.assertTrue(pod["securityContext"]["runAsNonRoot"])
            self.assertIs(pod["enableServiceLinks"], False)
            self.assertTrue(container["securityContext"]["readOnlyRootFilesystem"])
            self.assertEqual(container["securityContext"]["capabilities"], {"drop": ["ALL"]})
        pod = pod_of(self.nodes)
        mount, = pod["containers"][0]["volumeMounts"]
        claim, = self.nodes["spec"]["volumeClaimTemplates"]
        self.assertEqual(mount["name"], claim["metadata"]["name"])
        state = pathlib.PurePath(env_of(pod["containers"][0])["REDLOCK_NODE_DIR"])
        self.assertEqual(state.parent, pathlib.PurePath(mount["mountPath"]))
        self.assertEqual(pod["securityContext"]["fsGroup"], USER)

    def test_an_update_waits_until_a_node_grants_again(self):
        ready = pod_of(self.nodes)["containers"][0]["readinessProbe"]["httpGet"]
        self.assertEqual(ready, {"path": "/ready", "port": "metrics"})
        self.assertEqual(self.nodes["spec"]["podManagementPolicy"], "OrderedReady")
        self.assertEqual(self.all["PodDisruptionBudget", "redlock"]["spec"]["maxUnavailable"], 1)

    def test_the_image_is_of_this_version(self):
        version = programs.run(programs.BUILD / "redlock", "--version").split()[1]
        for workload in (self.nodes, self.doors):
            self.assertEqual(pod_of(workload)["containers"][0]["image"], f"redlock:{version}")


class Group(unittest.TestCase):
    """The programs, each with the variables and arguments of its container."""

    def setUp(self):
        found = load()
        self.node = pod_of(found["StatefulSet", "redlock"])["containers"][0]
        self.door = pod_of(found["Deployment", "redlock-door"])["containers"][0]
        self.count = found["StatefulSet", "redlock"]["spec"]["replicas"]
        folder = tempfile.TemporaryDirectory(prefix="redlock-test.")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def start(self, name, words, env):
        log = open(self.folder / f"{name}.log", "wb")
        self.addCleanup(log.close)
        process = subprocess.Popen([str(word) for word in words], env=env, stdout=log, stderr=log)
        self.addCleanup(process.communicate)
        self.addCleanup(process.terminate)
        return process

    def start_node(self, number, port, metrics_port):
        folder = self.folder / f"volume-{number}"
        folder.mkdir()
        env = {**env_of(self.node), "REDLOCK_NODE_DIR": str(folder / "state"),
               "REDLOCK_NODE_METRICS_PORT": str(metrics_port), "REDLOCK_NODE_PORT": str(port),
               "REDLOCK_NODE_MAX_TTL": f"{MAX_TTL_S}s"}
        return self.start(f"node-{number}", [programs.BUILD / "redlock-node"], env)

    def password_file(self):
        """As the secret's volume has it: its key, without a line's end."""
        mounts = {each["name"]: each["mountPath"] for each in self.door["volumeMounts"]}
        self.assertEqual(mounts["secret"], "/run/redlock-secret")
        file = self.folder / "password"
        file.write_text(PASSWORD, encoding="utf-8")
        return file

    def start_door(self, env, port, http_port):
        program, *words = self.door["command"] + self.door["args"]
        self.assertEqual(program, "redlock")
        given = {"--listen=0.0.0.0:6379": f"--listen=127.0.0.1:{port}",
                 "--http=0.0.0.0:9122": f"--http=127.0.0.1:{http_port}",
                 "--requirepass-file=/run/redlock-secret/password":
                     f"--requirepass-file={self.password_file()}"}
        self.assertLessEqual(given.keys(), set(words))
        return self.start("door", [programs.BUILD / program] + [given.get(word, word)
                                                                for word in words], env)

    def redlock(self, env, *words):
        return subprocess.run([str(programs.BUILD / "redlock"), *words], env=env, text=True,
                              capture_output=True, check=False)

    def until(self, env, *words):
        """Says it again until it ends with 0."""
        for _ in range(200):
            ended = self.redlock(env, *words)
            if ended.returncode == 0:
                return ended.stdout
            time.sleep(0.1)
        self.fail(f"{words}: {ended.stdout}{ended.stderr}{self.logs()}")

    def logs(self):
        return "".join(f"\n{each.name}: {each.read_text()}" for each in self.folder.glob("*.log"))

    def ask_door(self, port, *words):
        return subprocess.run(["redis-cli", "-p", str(port), *words], text=True, check=True,
                              env={"REDISCLI_AUTH": PASSWORD, "PATH": "/usr/bin:/bin"},
                              capture_output=True).stdout.strip()

    def is_ready(self, port):
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/ready", timeout=5) as page:
            return page.status == 200

    def metrics(self, port):
        with contextlib.closing(urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics")) as page:
            return page.read().decode()

    def test_a_group_is_made_and_gives_locks(self):
        taken = ports.reserve_ports(2 * self.count + 2)
        nodes, metrics = taken[:self.count], taken[self.count:2 * self.count]
        door, http = taken[2 * self.count:]
        for number in range(self.count):
            self.start_node(number, nodes[number], metrics[number])
        env = env_of(self.door)
        self.assertEqual(len(env["REDLOCK_NODES"].split(",")), self.count)
        env["REDLOCK_NODES"] = ",".join(f"127.0.0.1:{port}" for port in nodes)
        self.start_door(env, door, http)
        self.until(env, "admit", "--new-group", "--floor", "0")
        self.assertTrue(all(self.is_ready(port) for port in metrics))
        self.until(env, "group", "create")
        self.assertIn(f"{self.count} of {self.count} grant", self.until(env, "status"))
        self.assertRegex(self.ask_door(door, "LOCK.ACQUIRE", "x", "me", "PX", "1000"),
                         r"^1\n[1-9]\d*\n1000$")
        refused = subprocess.run(["redis-cli", "-p", str(door), "GET", "x"], text=True,
                                 capture_output=True, check=False)
        self.assertIn("NOAUTH", refused.stdout + refused.stderr)
        self.assertIn("\nredlock_door_", self.metrics(http))
        self.assertIn("\nredlock_", self.metrics(metrics[0]))
        self.assertEqual(json.loads(self.until(env, "group", "--json"))["epoch"], 1)


if __name__ == "__main__":
    unittest.main()
