"""What a verifier's output says, and whether to believe it.

Spin's verifier ends with status 0 whatever it found, and calls a search that was cut short a
success. So a claim is verified only if every line that tells of a full search is there as it must
be, and none that tells of anything else.
"""

import re
from dataclasses import dataclass

# Any of these, and the search was cut short.
TROUBLE = [
    "max search depth too small",
    "out of memory",
    "reached -DMEMLIM bound",
    "Search not completed",
    "aborting",
]
# All of these, or it was another kind of search: -DBITSTATE and -DHC take states for each other.
FULL_SEARCH = [
    r"^Full statespace search for:$",
    r"^\tassertion violations\t\+",
    r"^\tinvalid end states\t\+",
]


@dataclass(frozen=True)
class Verdict:
    problems: tuple  # why it is not verified; none: it is
    is_refuted: bool
    states: int = 0
    depth: int = 0
    megabytes: float = 0.0

    @property
    def is_verified(self):
        return not self.problems and not self.is_refuted


def read(output, status):
    found = re.search(r"^State-vector \d+ byte, depth reached (\d+), errors: (\d+)$", output, re.M)
    errors = int(found[2]) if found else None
    violations = re.findall(r"^pan:1: (.*) \(at depth \d+\)$", output, re.M)
    is_refuted = errors == 1 and any(v.startswith("assertion violated") for v in violations)
    return Verdict(tuple(_problems(output, status, errors, violations)), is_refuted,
                   states=int(_number(r"^ *(\d+) states, stored", output)),
                   depth=int(found[1]) if found else 0,
                   megabytes=_number(r"^ *([\d.]+)\ttotal actual memory usage", output))


def _problems(output, status, errors, violations):
    if status != 0:
        yield f"the verifier ended with {status}"
    if errors is None:
        yield "no line tells of errors"
    elif errors > 0:
        yield f"errors: {errors}: {'; '.join(violations)}"
    for line in FULL_SEARCH:
        if not re.search(line, output, re.M):
            yield f"no line is like {line}"
    for text in TROUBLE:
        if text in output:
            yield text
    if not re.search(r"^ *[1-9]\d* states, stored", output, re.M):
        yield "no line tells of states"


def untaken(coverage):
    """The steps that no run takes, from gcov's account of the verifier.

    The verifier's own list of what was unreached counts a d_step as reached where it stands.
    """
    step = None
    for line in coverage.split("\n"):
        begins = re.search(r"// STATE \d+ - (\S+\.pml:\d+) - ", line)
        step = begins[1] if begins else step
        if re.match(r" +#####: *\d+:\t*(now\.|Printf)", line):
            yield f"never taken, in the step at {step}: {line.split(':', 2)[2].strip()}"


def _number(pattern, output):
    found = re.search(pattern, output, re.M)
    return float(found[1]) if found else 0.0
