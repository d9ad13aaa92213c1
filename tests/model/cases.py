"""What is run: the claims with their bounds, and their broken twins.

A twin is the model's own text less one rule, by -DTWIN_NAME. Where spin would not refute it, the
model would be too weak to tell whether the rule matters.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    name: str
    model: str
    bounds: dict
    is_small: bool = False  # a claim that ./dev test checks, every step of it taken

    @property
    def defines(self):
        return [f"-D{name}={value}" for name, value in self.bounds.items()]


@dataclass(frozen=True)
class Twin(Case):
    rule: str = ""
    text: str = ""

    @property
    def defines(self):
        return [*super().defines, f"-DTWIN_{self.name}"]


def bounds(acquisitions, crashes, extensions, **more):
    return {"ACQUISITIONS": acquisitions, "CRASHES": crashes, "EXTENSIONS": extensions, **more}


def lists(ballots, *sets):
    """Of a first roster, each a bit for each node."""
    return {"BALLOTS": ballots, "LISTS": len(sets),
            **{f"LIST_{number}": nodes for number, nodes in enumerate(sets, start=1)}}


def rosters(*sets, **more):
    """Of the epochs 0, 1 and 2, each a bit for each node; two acquisitions."""
    return {"ACQUISITIONS": 2, **more,
            **{f"ROSTER_{epoch}": nodes for epoch, nodes in enumerate(sets)}}


def replaced(writers, extensions=0, crashes=0, readings=1, expiries=0, **more):
    """A lock's value, at three nodes if nothing else is told."""
    return {"WRITERS": writers, "READINGS": readings, "EXTENSIONS": extensions,
            "CRASHES": crashes, "EXPIRIES": expiries, **more}


def of_doors(acquisitions, crashes, extensions=0, readings=0, direct=0, **more):
    """What users of front doors rely on, in ticks of one each if nothing else is told."""
    return {"ACQUISITIONS": acquisitions, "CRASHES": crashes, "EXTENSIONS": extensions,
            "READINGS": readings, "DIRECT": direct, **more}


REPLACED_TWICE = rosters(0b00111, 0b01110, 0b11100)

# What an assertion says when it fails, by a piece of its text.
FAILURES = {
    ".t!=": "two acquisitions have the same token",
    ".floor": "it started after a larger token was given",
    "validity==0": "two hold the lock at once",
    "newest==": "somebody else held the lock in between",
    "is_chosen[": "two first rosters that share a node are chosen",
    "chosen[": "two rosters of one epoch are chosen",
    ".relied==0": "two rely on the lock at once",
    "reading.": "it is told to be free while somebody relies on it",
    "extended_relied!=": "somebody else had the lock before its extension",
    "(chosen==": "what was asked for once is done twice",
    ".phase": "two hold the lock at once",
    ".number!=": "two values of one number are chosen",
    "newest)&1": "an older value is read after a newer one was chosen",
    "extended_after)&1": "an older value is extended after a newer one was chosen",
    ".line>>": "a value that was chosen is lost",
}

CLAIMS = [
    Case("tokens-2", "tokens.pml", bounds(2, 2, 2), is_small=True),
    Case("tokens-loss", "tokens.pml", bounds(2, 0, 0, LOSSES=1), is_small=True),
    Case("exclusion-2", "exclusion.pml", bounds(2, 2, 1), is_small=True),
    Case("exclusion-fine", "exclusion.pml", bounds(2, 2, 1, TICKS=4)),
    Case("exclusion-3", "exclusion.pml", bounds(3, 1, 1)),
    Case("tokens-3", "tokens.pml", bounds(3, 1, 0)),
    Case("group-2", "group.pml", {"BALLOTS": 2, "RIVAL": "ANOTHER"}, is_small=True),
    Case("group-extended", "group.pml", {"BALLOTS": 2, "TICKS": 2, "EXTENSIONS": 1}, is_small=True),
    Case("group-loss", "group.pml", {"BALLOTS": 2, "LOSSES": 1}, is_small=True),
    Case("group-loss-2", "group.pml", {"BALLOTS": 2, "LOSSES": 2, "RIVAL": "REMOVED"}),
    Case("group-loss-fine", "group.pml",
         {"BALLOTS": 2, "LOSSES": 1, "TICKS": 2, "RIVAL": "REMOVED"}),
    Case("group-loss-extended", "group.pml",
         {"BALLOTS": 2, "LOSSES": 1, "TICKS": 2, "EXTENSIONS": 1}),
    Case("group-3", "group.pml", {"BALLOTS": 3, "RIVAL": "ANOTHER"}),
    Case("group-shrinks", "group.pml",
         {"BALLOTS": 3, "TICKS": 2, "NEXT": "REMOVED", "LAST": "ALONE"}),
    Case("group-return-loss", "group.pml", {"BALLOTS": 2, "LOSSES": 1, "LAST": "RETURNED"}),
    Case("group-return", "group.pml", {"BALLOTS": 3, "LAST": "RETURNED"}, is_small=True),
    Case("first-roster-2", "first_roster.pml", lists(3, 0b00111, 0b11100), is_small=True),
    Case("first-roster-4", "first_roster.pml", lists(4, 0b00111, 0b11100)),
    Case("first-roster-3", "first_roster.pml", lists(3, 0b0011, 0b0110, 0b1001)),
    Case("first-roster-part", "first_roster.pml", lists(3, 0b00111, 0b11100, 0b00011)),
    Case("floor-replaced", "floor.pml", REPLACED_TWICE, is_small=True),
    Case("floor-replaced-2", "floor.pml", {**REPLACED_TWICE, "CHANGERS": 2}),
    Case("floor-grows", "floor.pml", rosters(0b00111, 0b01111, 0b11111)),
    Case("floor-shrinks", "floor.pml", rosters(0b11111, 0b11110, 0b11100)),
    Case("door-told", "door.pml", of_doors(2, 1, readings=1, direct=1), is_small=True),
    Case("door-extended", "door.pml", of_doors(2, 0, 1), is_small=True),
    Case("door-fine", "door.pml", of_doors(2, 1, readings=1, RELIED=2, ACQUIRE=2, REPLY=2)),
    Case("door-extended-2", "door.pml", of_doors(2, 1, 1, direct=1)),
    Case("door-3", "door.pml", of_doors(3, 1)),
    Case("door-all", "door.pml", of_doors(2, 1, 1, readings=1)),
    Case("replace-2", "replace.pml", replaced(2), is_small=True),
    Case("replace-extended", "replace.pml", replaced(1, extensions=1, crashes=2), is_small=True),
    Case("replace-expired", "replace.pml", replaced(1, extensions=1, expiries=2), is_small=True),
    Case("replace-once", "replace.pml", replaced(2, LATCH=1)),
    Case("replace-once-3", "replace.pml", replaced(3, LATCH=1)),
    Case("replace-3", "replace.pml", replaced(3)),
    Case("replace-five", "replace.pml", replaced(2, NODES=5)),
    Case("replace-readings", "replace.pml", replaced(2, readings=2)),
    Case("replace-expired-2", "replace.pml", replaced(2, extensions=1, expiries=1)),
    Case("replace-extended-2", "replace.pml", replaced(2, extensions=1, crashes=1)),
]


def of_tokens(rule, name, text, bound=bounds(2, 1, 0)):
    return Twin(name, "tokens.pml", bound, rule=rule, text=text)


def of_exclusion(rule, name, text, bound=bounds(2, 0, 0)):
    return Twin(name, "exclusion.pml", bound, rule=rule, text=text)


def of_group(rule, name, text, ballots=1, **more):
    return Twin(name, "group.pml", {"BALLOTS": ballots, **more}, rule=rule, text=text)


def of_first_roster(name, text, bound):
    return Twin(name, "first_roster.pml", bound, rule="G4", text=text)


def of_floor(name, text):
    return Twin(name, "floor.pml", REPLACED_TWICE, rule="F9", text=text)


def of_door(rule, name, text, bound=of_doors(2, 0)):
    return Twin(name, "door.pml", bound, rule=rule, text=text)


def of_replace(rule, name, text, bound=replaced(1, extensions=1, crashes=1)):
    return Twin(name, "replace.pml", bound, rule=rule, text=text)


TWINS = [
    of_tokens("F1", "COUNTER_FORGOTTEN", "a restarted node counts from 0"),
    of_tokens("F1", "AHEAD_OF_BOUND", "a counter passes its bound",
              bounds(3, 1, 0, BLOCK=1)),
    of_tokens("F3", "CONFIRM_ANY_VALUE", "CONFIRM does not look at the value"),
    of_tokens("F3", "CONFIRM_ANY_TOKEN", "CONFIRM does not look at the stored token"),
    of_tokens("F5", "EXTENDED_UNSETTLED", "a top-up before the token is settled", bounds(2, 1, 1)),
    of_tokens("F6", "UNFENCED_PROPOSES", "a node without its ledger proposes",
              bounds(2, 0, 0, LOSSES=1)),
    of_tokens("F6", "FLOOR_OF_ONE", "the floor is read of one node", bounds(2, 0, 0, LOSSES=1)),
    of_tokens("F6", "READ_WITHIN_DELAY", "the floor is read within the delay",
              bounds(2, 0, 0, LOSSES=1)),
    of_tokens("F6", "ADMITTED_WITHOUT_FLOOR", "a node is admitted and goes on from 0",
              bounds(2, 0, 0, LOSSES=1)),
    of_tokens("F7", "SHORT_DELAY", "locks live on when the delay is over",
              bounds(2, 0, 0, LOSSES=1)),
    of_tokens("R10", "SERVES_WITHIN_DELAY", "a node without its ledger serves at once",
              bounds(2, 0, 0, LOSSES=1)),
    of_tokens("Q1", "HALF_QUORUM", "a quorum is N/2"),
    of_tokens("Q6", "VALUE_USED_AGAIN", "two attempts have one value"),
    of_exclusion("C1", "NO_DRIFT", "the validity makes no allowance for drift"),
    of_exclusion("C4", "STALE_NOW", "a deadline counts from before the request"),
    of_exclusion("Q2", "VALIDITY_FROM_REPLY", "the validity counts from the reply"),
    of_exclusion("Q2", "EXTENDED_FROM_REPLY", "an extension's validity counts from the reply",
                 bounds(2, 0, 1)),
    of_exclusion("Q3", "RELEASE_ANY_VALUE", "a release does not look at the value",
                 bounds(3, 0, 0)),
    of_exclusion("Q4", "EXTENSION_REVIVES", "an extension revives what has run out",
                 bounds(2, 0, 1)),
    of_exclusion("Q4", "TOP_UPS_COUNT_LATE", "top-ups count after the old validity",
                 bounds(2, 0, 1)),
    of_exclusion("R", "NO_DELAY", "a restarted node grants at once", bounds(2, 1, 0)),
    of_exclusion("R3", "DELAY_NOT_RECORDED", "a second crash erases the delay", bounds(2, 2, 0)),
    of_exclusion("R3", "BOOT_BEFORE_DELAY", "the boot is recorded before the delay",
                 bounds(2, 2, 0)),
    of_exclusion("R3", "LOWERED_WHILE_RECOVERING", "the ledger is lowered within the delay",
                 bounds(2, 2, 0)),
    of_exclusion("R4", "TOLD_AFTER_REPLY", "the ledger is told after the reply",
                 bounds(2, 1, 0)),
    of_exclusion("R6", "BOOT_TAKEN_FOR_THE_SAME", "another boot is taken for the same",
                 bounds(2, 1, 0)),
    of_exclusion("Q1", "HALF_QUORUM_IN_TIME", "a quorum is N/2"),
    of_group("G1", "NO_EPOCH_CHECK", "a node votes whatever roster is named"),
    of_group("G2", "EPOCH_NOT_DURABLE", "a crash forgets what was accepted"),
    of_group("G2", "NEW_WITHOUT_DELAY", "a new member votes at once"),
    of_group("G2", "DELAY_BY_ITS_OWN_MAX_TTL", "a new member's delay is shorter than a lock",
             TICKS=2),
    of_group("G2", "NEW_TOLD_BEFORE_CHOSEN", "a new member is told what is only proposed"),
    of_group("G2", "TWO_MEMBERS_AT_ONCE", "two members are removed at once"),
    of_group("G2", "SINCE_IT_FIRST_JOINED", "who was removed and is back votes at once", 2,
             LAST="RETURNED"),
    of_group("G3", "TWO_CHANGES_WITHIN_A_TTL", "two changes within the life of a lock", 2,
             NEXT="REMOVED", LAST="ALONE"),
    of_group("G4", "ROSTERLESS_MEMBER_VOTES", "a node without its ledger votes", LOSSES=1),
    of_group("G4", "ROSTER_FROM_ONE_COORDINATOR", "a roster names no ledgers", LOSSES=1),
    of_group("G4", "SINCE_TELLS_NEW", "whom a roster names as new may have forgotten", LOSSES=1),
    of_group("G4", "AMNESIAC_ACCEPTOR", "a node without its ledger decides", 2, LOSSES=1),
    of_group("G4", "RESTORED_BY_BALLOT", "a ballot's quorum makes it a member again", 2, LOSSES=1),
    of_group("G5", "OLD_MEMBER_VOTES", "a node votes that its roster does not name"),
    of_first_roster("QUORUM_OF_A_FIRST_ROSTER", "a quorum of it accepts the first roster",
                    lists(2, 0b00111, 0b11100)),
    of_first_roster("FIRST_ROSTER_DOES_NOT_BIND", "what is accepted is not looked at",
                    lists(2, 0b00111, 0b11100)),
    of_first_roster("FINISHED_BY_A_PART", "those of its nodes that are named finish it",
                    lists(3, 0b00111, 0b11100, 0b00011)),
    of_first_roster("FINISHED_UNPREPARED", "nodes that were not prepared finish it",
                    lists(3, 0b0011, 0b0110, 0b1001)),
    of_floor("TOLD_NO_FLOOR", "nobody is told the floor"),
    of_floor("FLOOR_OF_THE_PROMISES", "it is read before they have accepted"),
    of_floor("ONE_COUNTER_TOO_LOW", "it is read one counter too low"),
    of_floor("VOTES_FOR_THE_FORMER", "who has accepted votes on"),
    of_door("D2", "NO_PADDING", "nodes are asked for the client's own TTL"),
    of_door("D2", "PADDING_WITHOUT_ACQUIRE_TIME", "that the lock is got late is not added"),
    of_door("D2", "PADDING_WITHOUT_REPLY_TIME", "that the OK is read late is not added"),
    of_door("D2", "OK_AFTER_THE_ACQUIRE_TIME", "the door says OK however late"),
    of_door("D3", "QUORUM_OF_ABSENT_IS_FREE", "what silent nodes may hold is not counted",
            of_doors(2, 0, readings=1)),
    of_door("D3", "RECOVERING_IS_ABSENT", "a recovering node says that it holds nothing",
            of_doors(2, 1, readings=1)),
    of_door("D5", "UNDONE_AFTER_OK", "what its client was told of is undone"),
    of_door("D5", "UNDO_OF_WHAT_WAS_EXTENDED", "an undo takes what was extended meanwhile",
            of_doors(2, 0, 1)),
    of_door("D7", "RELEASE_BY_THE_CLIENTS_VALUE", "a release does not look at the whole record",
            of_doors(3, 0)),
    of_door("D7", "EXTENDS_ANY_RECORD", "an extension does not look at the record",
            of_doors(2, 0, 1)),
    of_door("D8", "TOP_UPS_COUNT_AT_A_DOOR", "a node that is topped up counts, in time",
            of_doors(2, 0, 1)),
    of_door("R", "RESTARTED_AT_ONCE", "a restarted node grants and tells at once", of_doors(2, 1)),
    of_replace("D7", "NARROW_BEFORE_WIDE", "what leaves less held comes before what leaves more",
               replaced(2, LATCH=1)),
    of_replace("D7", "UNDONE_BEHIND_A_CHANGE", "a creation is undone behind a change",
               replaced(2, LATCH=1)),
    of_replace("D8", "TOP_UPS_COUNT", "a node that is topped up counts for the extension"),
    of_replace("D8", "TOP_UP_OVER_ANY_CONNECTION", "a top-up reaches a node's next life"),
    of_replace("D8", "TOP_UP_OF_ANY_NO", "who held another value is topped up",
               replaced(1, extensions=1, expiries=1)),
    of_replace("D9", "REPLACE_FROM_UNCONFIRMED", "a writer starts from what one node told",
               replaced(3)),
    of_replace("D9", "SETTLED_BY_INCARNATION", "a quorum's values of one lock settle a reading",
               replaced(2)),
    of_replace("D9", "SECOND_VOTE_FOR_A_NUMBER", "a replacement does not look at the bytes",
               replaced(2)),
    of_replace("D9", "ROLL_FORWARD_BY_INCARNATION", "rolling forward does not look at the bytes",
               replaced(2)),
    of_replace("D9", "READ_IN_THE_LAST_MOMENT", "a reading counts what is about to run out"),
    of_replace("R", "NO_DELAY_OF_START", "a restarted node says at once what it lacks"),
    of_replace("R", "DELAY_OF_ONE", "its delay covers only what it voted in"),
]
