#!/usr/bin/env python3
"""image.py BUILD [FILE]: writes the container image of the programs in BUILD/static.

The image is a file: an OCI image layout 1.0 in a tar, which podman load and skopeo take, with the
manifest.json that docker load asks for beside it. It is made of the two programs, their licences,
and what a system without other users has to say in /etc. No engine, no registry and no right of
root takes part in it.

The same tree and programs give the same bytes: entries are sorted, owners are numbers, and every
time is that of the commit (SOURCE_DATE_EPOCH, where it is given).
"""

import collections
import datetime
import gzip
import hashlib
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import tarfile

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Of the user that the programs run as: one of the numbers that Debian gives to nobody, so that a
# volume is no user's of its host.
USER = 65532
STATE = "/var/lib/redlock-node"
PORT = 6379

# Where Debian and the makers of images have a name each for a machine.
MACHINES = {"amd64": {"architecture": "amd64"}, "arm64": {"architecture": "arm64"},
            "armhf": {"architecture": "arm", "variant": "v7"}, "i386": {"architecture": "386"},
            "riscv64": {"architecture": "riscv64"}, "s390x": {"architecture": "s390x"},
            "ppc64el": {"architecture": "ppc64le"}}

# Of what is linked into the programs, ours first. usr/share/doc/redlock/copyright has the texts.
LICENCES = ("MIT AND BSD-2-Clause AND BSD-3-Clause AND ISC AND LGPL-2.1-or-later "
            "AND (GPL-3.0-or-later WITH GCC-exception-3.1)")

ETC = {
    "etc/passwd": "root:x:0:0:root:/:/usr/sbin/nologin\n"
                  f"redlock:x:{USER}:{USER}:Redlock lock nodes:{STATE}:/usr/sbin/nologin\n",
    "etc/group": f"root:x:0:\nredlock:x:{USER}:\n",
    # What is within the programs; see CMakeLists.txt.
    "etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
}

# One file, or one folder (content None), of the image.
Entry = collections.namedtuple("Entry", "path mode owner content")


def entries(build):
    """All that the image holds, sorted by path."""
    copyright_text = (build / "config/image/copyright").read_bytes()
    files = {path: text.encode() for path, text in ETC.items()}
    files["usr/share/doc/redlock/copyright"] = copyright_text
    files.update(licence_texts(copyright_text))
    found = [Entry(path, 0o644, 0, content) for path, content in files.items()]
    found += [Entry(f"usr/bin/{name}", 0o755, 0, (build / "static" / name).read_bytes())
              for name in ("redlock", "redlock-node")]
    found.append(Entry(STATE.lstrip("/"), 0o700, USER, None))
    # Where an engine mounts what every process expects.
    found += [Entry(path, 0o755, 0, None) for path in ("dev", "proc", "sys")]
    named = {entry.path for entry in found}
    above = {str(parent) for path in named for parent in pathlib.PurePath(path).parents}
    found += [Entry(path, 0o755, 0, None) for path in above - named - {"."}]
    return sorted(found)


def licence_texts(copyright_text):
    """The licences that Debian's copyright files leave out, as every Debian has their texts."""
    names = re.findall(rb"usr/share/common-licenses/([A-Za-z]+(?:-[0-9.]*[0-9])?)", copyright_text)
    paths = {f"usr/share/common-licenses/{name.decode()}" for name in names}
    return {path: pathlib.Path("/", path).read_bytes()
            for path in paths if pathlib.Path("/", path).is_file()}


def tar(listed, date):
    """The bytes of a tar of these entries."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for entry in listed:
            header = tarfile.TarInfo(entry.path)
            header.mode, header.uid, header.gid = entry.mode, entry.owner, entry.owner
            header.mtime = date
            header.type = tarfile.DIRTYPE if entry.content is None else tarfile.REGTYPE
            header.size = len(entry.content or b"")
            archive.addfile(header, io.BytesIO(entry.content or b""))
    return packed.getvalue()


def git(*words):
    """What git says of the tree; nothing where there is no git, or no repository."""
    try:
        done = subprocess.run(["git", "-C", ROOT, *words], check=True, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return done.stdout.strip()


def date_of_tree():
    """Seconds since 1970."""
    return int(os.environ.get("SOURCE_DATE_EPOCH") or git("log", "-1", "--format=%ct") or 0)


def revision():
    """The commit; with changes beside it that is said, as nobody could find them there."""
    commit = git("rev-parse", "HEAD")
    return commit + "-dirty" if commit and git("status", "--porcelain") else commit


def version_of(build):
    cache = (build / "CMakeCache.txt").read_text()
    return re.search(r"^CMAKE_PROJECT_VERSION:\w+=(.+)$", cache, re.M).group(1)


def debian_machine():
    return subprocess.run(["dpkg", "--print-architecture"], check=True, text=True,
                          stdout=subprocess.PIPE).stdout.strip()


def annotations(version, created):
    said = {
        "title": "redlock",
        "description": "A lock node that speaks the Redis protocol, and Redlock over five of them",
        "version": version, "revision": revision(), "created": created, "licenses": LICENCES}
    return {f"org.opencontainers.image.{name}": text for name, text in said.items() if text}


def configuration(layer, said, created):
    """What an engine is to do with the image: as whom to start what, and how to end it."""
    return {
        "created": created, "os": "linux", **MACHINES[debian_machine()],
        "config": {
            "User": f"{USER}:{USER}",
            "Entrypoint": ["/usr/bin/redlock-node"],
            # Settings are variables, so that whoever runs it can say otherwise. Clients of a
            # container are of other machines: without a password they are refused.
            "Env": ["PATH=/usr/bin", "REDLOCK_NODE_BIND=* -::*", f"REDLOCK_NODE_DIR={STATE}"],
            "ExposedPorts": {f"{PORT}/tcp": {}},
            "Volumes": {STATE: {}},
            "WorkingDir": "/",
            "StopSignal": "SIGTERM",
            "Labels": said,
        },
        "rootfs": {"type": "layers", "diff_ids": [digest(layer)]},
        "history": [{"created": created, "created_by": "./dev image"}],
    }


def digest(content):
    return "sha256:" + hashlib.sha256(content).hexdigest()


def as_json(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


class Layout:
    """The files of an image layout, as they are added."""

    def __init__(self):
        self.files = {"oci-layout": as_json({"imageLayoutVersion": "1.0.0"})}

    def add(self, kind, content):
        """Adds a blob; its descriptor."""
        self.files["blobs/" + digest(content).replace(":", "/")] = content
        return {"mediaType": f"application/vnd.oci.image.{kind}", "digest": digest(content),
                "size": len(content)}

    def entries(self):
        folders = [Entry(path, 0o755, 0, None) for path in ("blobs", "blobs/sha256")]
        return sorted(folders + [Entry(path, 0o644, 0, content)
                                 for path, content in self.files.items()])


def image(listed, version, date):
    """The bytes of the whole image of these entries."""
    created = datetime.datetime.utcfromtimestamp(date).strftime("%Y-%m-%dT%H:%M:%SZ")
    said = annotations(version, created)
    unpacked = tar(listed, date)
    layout = Layout()
    layer = layout.add("layer.v1.tar+gzip", gzip.compress(unpacked, 9, mtime=0))
    config = layout.add("config.v1+json", as_json(configuration(unpacked, said, created)))
    manifest = layout.add("manifest.v1+json", as_json({
        "schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": config, "layers": [layer], "annotations": said}))
    name = f"localhost/redlock:{version}"
    layout.files["index.json"] = as_json({
        "schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json",
        "manifests": [{**manifest, "annotations": {"org.opencontainers.image.ref.name": name}}]})
    layout.files["manifest.json"] = as_json([
        {"Config": blob_path(config), "RepoTags": [name], "Layers": [blob_path(layer)]}])
    return tar(layout.entries(), date)


def blob_path(descriptor):
    return "blobs/" + descriptor["digest"].replace(":", "/")


def write(build, file=None):
    """Writes the image; where it is, and the digest that engines know it by."""
    version = version_of(build)
    file = file or build / f"redlock_{version}_{debian_machine()}.oci.tar"
    content = image(entries(build), version, date_of_tree())
    file.write_bytes(content)
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        index = json.load(archive.extractfile("index.json"))
    return file, index["manifests"][0]["digest"]


def main(build, *file):
    path, known_as = write(pathlib.Path(build), *map(pathlib.Path, file))
    print(f"{path} {known_as}")


if __name__ == "__main__":
    main(*sys.argv[1:])
