"""Medians, their intervals, and what a row of the table is: a figure held against its floor."""

import math
import statistics
from dataclasses import asdict, dataclass

import noise


def median_interval(values, confidence=0.90):
    """(low, high): the narrowest pair of the sorted values that holds the median so surely.

    By the order statistics: each value lies below the median with probability one half, whatever
    their distribution. Of too few values it is the least and the largest.
    """
    ordered, count = sorted(values), len(values)
    for rank in range(count // 2, -1, -1):
        outside = 2 * sum(math.comb(count, i) for i in range(rank)) / 2 ** count
        if 1 - outside >= confidence and rank >= 1:
            return ordered[rank - 1], ordered[count - rank]
    return ordered[0], ordered[-1]


@dataclass
class Row:
    """A figure and its floor. The ratio is in the direction that `wants` names."""

    name: str
    what: str            # unit of ours and other
    ours: float
    other: float         # what it is held against; None if the floor stands alone
    other_name: str
    value: float         # what the floor speaks of: a ratio, or a figure of ours
    low: float
    high: float
    wants: str           # "at least", "at most", or "" for what is only told
    floor: float = None
    aim: float = None
    others: float = 0.0  # the part of the machine that others used meanwhile
    note: str = ""
    redis: float = None  # told where the limit is another
    by_wall_clock: bool = False  # neighbours make it worse without bound, not just less exact
    machine: float = None  # the bare server's own: where it is beyond the floor, none can tell

    @property
    def reaches(self):
        return self.passes(self.floor)

    def passes(self, bound):
        if not self.wants or bound is None:
            return None
        return self.value >= bound if self.wants == "at least" else self.value <= bound

    @property
    def noisy(self):
        """Too noisy to tell: others were at work, or the samples disagree, and it is close."""
        if self.floor is None:
            return False
        if self.machine is not None and self.machine > self.floor:
            return not self.reaches
        if self.by_wall_clock and self.others > noise.OTHERS_MAX:
            return not self.reaches
        spread = (self.high - self.low) / 2 / max(abs(self.value), 1e-9)
        restless = self.others > noise.OTHERS_MAX or spread > noise.SPREAD_MAX
        margin = max(spread, noise.SPREAD_MAX)
        return restless and abs(self.value - self.floor) <= margin * self.floor

    @property
    def verdict(self):
        if self.reaches is None:
            return ""
        return ("PASS" if self.reaches else "FAIL") + ("?" if self.noisy else "")

    def as_json(self):
        return {**asdict(self), "verdict": self.verdict, "aim_reached": self.passes(self.aim)}


def ratio_row(name, what, pairs, ours, other, wants, floor=None, aim=None, others=(), redis=None,
              note="", by_wall_clock=False):
    """A row of paired samples: the median of their ratios. pairs: [{side: figure}].

    "at least" divides the other by ours (how many times fewer ours is), "at most" ours by it.
    """
    if wants == "at most":
        ratios = [pair[ours] / pair[other] for pair in pairs]
    else:
        ratios = [pair[other] / pair[ours] for pair in pairs]
    low, high = median_interval(ratios)
    def middle(side):
        figures = [pair[side] for pair in pairs if side in pair]
        return statistics.median(figures) if figures else None
    return Row(name, what, middle(ours), middle(other), other, statistics.median(ratios), low, high,
               wants, floor, aim, statistics.median(others) if others else 0.0, note,
               middle(redis) if redis else None, by_wall_clock)
