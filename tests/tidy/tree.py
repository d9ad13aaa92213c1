"""The repository as the checks see it: a path and a text for every file that git would keep."""

import os
import re
from fnmatch import fnmatch

CPP = (".h", ".cpp")
SCRIPTS = (".py", ".sh")

_INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.M)

# A comment, a raw string, a string, or a character (not the ' within 1'000'000).
_NO_CODE = re.compile(
    r"""//[^\n]* | /\*.*?\*/
      | R"(?P<end>[^(\s]*)\((?P<raw>.*?)\)(?P=end)"
      | "(?:\\.|[^"\\\n])*"
      | (?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'""",
    re.X | re.S)


class Tree(dict):
    """{path: text}; paths are relative to the root and use slashes."""

    def paths(self, *suffixes):
        return sorted(p for p in self if not suffixes or p.endswith(suffixes))

    def sources(self):
        """C++, Python and shell: what people write by hand and read by line."""
        return [p for p in self.paths() if p.endswith(CPP + SCRIPTS) or self[p].startswith("#!")]

    def includes(self, path):
        """(line, "<" or '"', name) of every #include of a file."""
        for match in _INCLUDE.finditer(self[path]):
            yield line_of(self[path], match.start()), match.group(1), match.group(2)

    def public_header(self, name):
        """The path of what <redlock/…> names, or None."""
        return next((p for p in self.paths(".h") if p.endswith("/include/" + name)), None)

    def code(self, path):
        """The text without comments and strings; lines stay where they are."""
        return _NO_CODE.sub(_blank, self[path])

    def layout(self, path):
        """The text as it was laid out by us: what stands in raw strings was laid out by others."""
        if not path.endswith(CPP):
            return self[path]
        return _NO_CODE.sub(lambda m: m.group() if m["raw"] is None else _blank(m), self[path])


def _blank(match):
    text = match.group()
    filler = "" if text.startswith(("//", "/*")) else '""'
    return filler + "\n" * text.count("\n")


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


def load(root):
    """Reads the tree below root, without .git and what .gitignore names."""
    ignored = _ignored_names(root)
    tree = Tree()
    for folder, folders, files in os.walk(root):
        here = os.path.relpath(folder, root).replace(os.sep, "/")
        prefix = "" if here == "." else here + "/"
        folders[:] = [d for d in folders if d != ".git" and not ignored(prefix + d + "/")]
        for name in files:
            if ignored(prefix + name) or os.path.islink(os.path.join(folder, name)):
                continue
            with open(os.path.join(folder, name), "rb") as file:
                tree[prefix + name] = file.read().decode("utf-8", "surrogateescape")
    return tree


def _ignored_names(root):
    """A predicate for the patterns that our .gitignore keeps to: a name, or /path from the top."""
    with open(os.path.join(root, ".gitignore"), encoding="utf-8") as file:
        patterns = [line.strip() for line in file if line.strip() and line[0] != "#"]

    def ignored(path):
        name = path.rstrip("/").rsplit("/", 1)[-1] + ("/" if path.endswith("/") else "")
        return any(fnmatch("/" + path if pattern[0] == "/" else name, pattern)
                   for pattern in patterns)

    return ignored
