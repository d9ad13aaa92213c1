#!/usr/bin/env python3
"""The container image of the programs in the build folder: what is in it, and that it runs.

It is run without an engine: unpacked into a folder and started in namespaces of its own, as its
configuration says; run_image.py is that part. REDLOCK_IMAGE names an image of this tree to try
instead of one that is made here.
"""

import gzip
import hashlib
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest

import programs

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(programs.ROOT / "config/image"))

import image  # noqa: E402

STATE = "var/lib/redlock-node"
OCI = "application/vnd.oci.image."


def digest(content):
    return "sha256:" + hashlib.sha256(content).hexdigest()


def unpacked(content):
    """The files of a tar by name, in its order; of a folder nothing."""
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        return {each.name: archive.extractfile(each).read() if each.isfile() else None
                for each in archive}


class Image(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="redlock-test.")
        cls.addClassCleanup(cls.folder.cleanup)
        cls.file = os.environ.get("REDLOCK_IMAGE") or cls.make("first")
        cls.packed = pathlib.Path(cls.file).read_bytes()
        cls.layout = unpacked(cls.packed)
        cls.manifest = json.loads(cls.blob(json.loads(cls.layout["index.json"])["manifests"][0]))
        cls.config = json.loads(cls.blob(cls.manifest["config"]))
        cls.layer = gzip.decompress(cls.blob(cls.manifest["layers"][0]))
        with tarfile.open(fileobj=io.BytesIO(cls.layer)) as archive:
            cls.entries = {each.name: each for each in archive}

    @classmethod
    def make(cls, name):
        return image.write(programs.BUILD, pathlib.Path(cls.folder.name, name))[0]

    @classmethod
    def blob(cls, descriptor):
        content = cls.layout["blobs/" + descriptor["digest"].replace(":", "/")]
        assert len(content) == descriptor["size"], descriptor
        return content

    def test_it_is_an_image_layout(self):
        self.assertEqual(json.loads(self.layout["oci-layout"]), {"imageLayoutVersion": "1.0.0"})
        index = json.loads(self.layout["index.json"])
        self.assertEqual((index["schemaVersion"], len(index["manifests"])), (2, 1))
        kinds = [index["manifests"][0], self.manifest["config"], *self.manifest["layers"]]
        self.assertEqual([kind["mediaType"] for kind in kinds],
                         [OCI + "manifest.v1+json", OCI + "config.v1+json",
                          OCI + "layer.v1.tar+gzip"])
        blobs = {name: content for name, content in self.layout.items()
                 if name.startswith("blobs/sha256/")}
        self.assertEqual(len(blobs), 3, "a blob of nobody's")
        for name, content in blobs.items():
            self.assertEqual(name, "blobs/" + digest(content).replace(":", "/"))
        self.assertEqual(self.config["rootfs"],
                         {"type": "layers", "diff_ids": [digest(self.layer)]})

    def test_docker_finds_the_same_image(self):
        [known] = json.loads(self.layout["manifest.json"])
        self.assertEqual(known["RepoTags"], ["localhost/redlock:" + self.version()])
        self.assertEqual(self.layout[known["Config"]], self.blob(self.manifest["config"]))
        self.assertEqual([self.layout[each] for each in known["Layers"]],
                         [self.blob(each) for each in self.manifest["layers"]])

    def version(self):
        return programs.run(programs.BUILD / "redlock", "--version").split()[1]

    def test_it_says_what_it_is(self):
        said = self.manifest["annotations"]
        self.assertEqual(said, self.config["config"]["Labels"])
        self.assertEqual(said["org.opencontainers.image.title"], "redlock")
        self.assertEqual(said["org.opencontainers.image.version"], self.version())
        self.assertRegex(said["org.opencontainers.image.created"], r"^\d{4}-\d\d-\d\dT[\d:]{8}Z$")
        self.assertTrue(said["org.opencontainers.image.licenses"].startswith("MIT AND "))
        if image.git("rev-parse", "HEAD"):
            self.assertRegex(said["org.opencontainers.image.revision"], r"^[0-9a-f]{40}(-dirty)?$")

    def test_what_an_engine_is_told(self):
        config = self.config["config"]
        self.assertEqual(self.config["os"], "linux")
        self.assertRegex(config["User"], r"^[1-9]\d*:[1-9]\d*$")
        self.assertEqual(config["Entrypoint"], ["/usr/bin/redlock-node"])
        self.assertEqual(config["Volumes"], {"/" + STATE: {}})
        self.assertEqual(config["ExposedPorts"], {"6379/tcp": {}})
        self.assertEqual(config["StopSignal"], "SIGTERM")
        self.assertIn("REDLOCK_NODE_DIR=/" + STATE, config["Env"])

    def test_the_volume_is_empty_and_the_users_alone(self):
        uid, gid = map(int, self.config["config"]["User"].split(":"))
        state = self.entries[STATE]
        self.assertTrue(state.isdir())
        self.assertEqual((state.uid, state.gid, oct(state.mode)), (uid, gid, oct(0o700)))
        self.assertEqual([name for name in self.entries if name.startswith(STATE + "/")], [])
        passwd = unpacked(self.layer)["etc/passwd"].decode()
        self.assertIn(f"\nredlock:x:{uid}:{gid}:", passwd)

    def test_the_user_can_change_nothing_else(self):
        for name, entry in self.entries.items():
            with self.subTest(name):
                self.assertTrue(entry.isdir() or entry.isfile())
                self.assertEqual(entry.mode & 0o7000, 0, "setuid, setgid or sticky")
                if name != STATE:
                    self.assertEqual((entry.uid, entry.gid, entry.mode & 0o022), (0, 0, 0))

    def test_every_folder_comes_before_what_is_in_it(self):
        for content in (self.packed, self.layer):
            seen = set()
            for name in unpacked(content):
                above = os.path.dirname(name)
                self.assertTrue(not above or above in seen, name)
                seen.add(name)

    def test_all_that_a_program_needs_is_in_it(self):
        files = unpacked(self.layer)
        names = {os.path.basename(name) for name in files}
        for name in ("usr/bin/redlock", "usr/bin/redlock-node"):
            file = pathlib.Path(self.folder.name, "program")
            file.write_bytes(files[name])
            wanted = re.findall(r"NEEDED +(\S+)", programs.run("objdump", "-p", file))
            if "INTERP" in programs.run("readelf", "--wide", "--segments", file):
                wanted.append(os.path.basename(re.search(
                    r"interpreter: (\S+)\]", programs.run("readelf", "-l", file)).group(1)))
            self.assertEqual(set(wanted) - names, set(), name)

    def test_licences_come_along(self):
        files = unpacked(self.layer)
        text = files["usr/share/doc/redlock/copyright"].decode()
        for package in ("libuv1-dev", "liblua5.4-dev", "libmd-dev", "libssl-dev", "libc6-dev",
                        "libstdc"):
            self.assertIn(f"Parts of {package}", text)
        self.assertIn(b"GNU LESSER GENERAL PUBLIC LICENSE",
                      files["usr/share/common-licenses/LGPL-2.1"])

    def test_the_same_tree_makes_the_same_bytes(self):
        self.assertEqual(digest(self.packed), digest(self.make("second").read_bytes()))
        for content in (self.packed, self.layer):
            with tarfile.open(fileobj=io.BytesIO(content)) as archive:
                self.assertEqual({each.mtime for each in archive}, {image.date_of_tree()})
                self.assertEqual({each.uname + each.gname for each in archive}, {""})
        self.assertEqual(self.blob(self.manifest["layers"][0])[3:8], bytes(5), "a name or a time")

    @unittest.skipUnless(shutil.which("skopeo"), "no skopeo")
    def test_skopeo_takes_it(self):
        for kind in ("oci-archive", "docker-archive"):
            programs.run("skopeo", "--insecure-policy", "copy", f"{kind}:{self.file}",
                         f"dir:{self.folder.name}/{kind}")

    def test_it_runs(self):
        own = ["unshare", "--net", "--pid", "--fork", "--kill-child", "--mount", "--mount-proc"]
        if os.geteuid() != 0:  # root gives the files the owners that they have in the image
            own[1:1] = ["--user", "--map-root-user"]
        tried = subprocess.run([*own, "ip", "link", "set", "lo", "up"], check=False, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if tried.returncode != 0:
            self.skipTest(f"no namespaces here: {tried.stdout.strip()}")
        root = pathlib.Path(self.folder.name, "root")
        config = pathlib.Path(self.folder.name, "config.json")
        layer = pathlib.Path(self.folder.name, "layer.tar")
        config.write_text(json.dumps(self.config["config"]))
        layer.write_bytes(self.layer)
        done = subprocess.run([*own, HERE / "run_image.py", layer, config, root], check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=120)
        self.assertEqual(done.returncode, 0, done.stdout)


if __name__ == "__main__":
    unittest.main()
