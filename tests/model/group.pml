/* Rosters (safety.md, rules G1 to G5): one key of a group whose members change.
 *
 * Claimed: of the rosters that could follow one, one at most is chosen; and at most one holder is
 * within its validity, of all coordinators, whatever roster each of them still goes by.
 *
 * Each epoch is decided as single-decree Paxos decides. A ballot here is one attempt of a changer:
 * one that crashes takes no more steps, and its next attempt is another ballot. Whatever a node
 * answers is durable, so its crash is no step; one that loses its ledger draws another ledger id.
 * A coordinator may go by any roster that is chosen, at any later time, and so may a node be told
 * it.
 *
 * Time is counted down in ticks, as in exclusion.pml. That model shows that a node keeps a lock
 * until its holder is past the validity; so here a lock ends at once everywhere when the validity
 * does, which is the soonest, and a node that joins waits for no longer than that.
 *
 * Messages arrive at any later time, in any order, or never, as in tokens.pml.
 *
 *   -DBALLOTS=2         the bounds: attempts to change the roster;
 *   -DLOSSES=1          ledgers that are lost; none unless it is given
 *   -DTICKS=2           of a validity; 1
 *   -DEXTENSIONS=1      acquisition 1 may be extended once; it may not
 *   -DNEXT=REPLACED     the members of what may follow the first roster; this one
 *   -DRIVAL=ANOTHER     of what may follow it instead; there is none
 *   -DLAST=RETURNED     of what may follow NEXT, by the last of the ballots; there is none
 *   -DTWIN_…            the same text less one rule, which spin must refute
 *
 * The code that it mirrors: server/group/membership.cpp, coordinator/roster/roster_change.cpp.
 */
#define NODES 5

/* Members, a bit for each node. */
#define ORIGINAL 7                /* nodes 0, 1, 2 */
#define REPLACED 11               /* 0, 1, 3: another in place of 2 */
#define ANOTHER 19                /* 0, 1, 4 */
#define REMOVED 3                 /* 0, 1 */
#define ALONE 1                   /* 0 */
#define ADDED 15                  /* 0, 1, 2, 3 */
#define RETURNED 7                /* of what REPLACED became: 2 is back, and 3 is not */

#ifndef LOSSES
#define LOSSES 0
#endif
#ifndef TICKS
#define TICKS 1
#endif
#ifndef EXTENSIONS
#define EXTENSIONS 0
#endif
#ifndef NEXT
#ifndef TWIN_TWO_MEMBERS_AT_ONCE
#define NEXT REPLACED
#else
#define NEXT ALONE                /* G2: neighbours differ in one member */
#endif
#endif

/* The rosters. */
mtype = { last, rejoin, rival, next, first };
#define NONE 0
#ifdef RIVAL
#define RIVAL_MEMBERS RIVAL
#else
#define RIVAL_MEMBERS 0
#endif
#ifdef LAST
#define LAST_MEMBERS LAST
#else
#define LAST_MEMBERS 0
#endif

#define members(r) (r == next -> NEXT : (r == rival -> RIVAL_MEMBERS : \
                   (r == last -> LAST_MEMBERS : (r == NONE -> 0 : ORIGINAL))))
#define epoch(r) (r == NONE -> 0 : (r == first -> 1 : (r == last -> 3 : 2)))

#define bit(m) (1 << (m))
#define has(set, m) (((set) >> (m)) & 1)
#define count(set) (has(set, 0) + has(set, 1) + has(set, 2) + has(set, 3) + has(set, 4))
#define quorum(r) (count(members(r)) / 2 + 1)

typedef Node {
  mtype current;                  /* the newest roster that it knows to be chosen */
  byte promised;                  /* a ballot for the epoch after it; 0: none */
  byte accepted;                  /* likewise */
  byte ledger;                    /* 0: the one it began with */
  byte delay;                     /* ticks until it votes */
  byte settling;                  /* ticks until the roster may change (G3) */
  byte value;                     /* the key's: FREE, or whose lock it is */
  bool is_renewed;                /* by the extension */
};

typedef Ballot {
  byte promises;                  /* the nodes that promised */
  byte largest;                   /* ballot of which one told that it accepted it */
  mtype roster;                   /* that is proposed */
  byte acceptances;               /* the nodes that accepted it, until it is chosen */
};

mtype = { idle, asking, holding };

typedef Acquisition {
  mtype phase = idle;
  mtype roster;                   /* that its coordinator goes by */
  byte granted;                   /* the nodes that did, until they are a quorum */
  byte validity;                  /* ticks until it ends */
  mtype next_roster;              /* that the extension goes by */
  byte extended;                  /* the nodes that did, likewise */
  bool is_kept;                   /* one of them has had the lock all the time */
  byte renewed;                   /* the validity that the extension gives */
  bool is_held_on;
};

#define FREE 0                    /* acquisitions, and ballots, are numbered from 1 */

Node node[NODES];
Ballot ballot[BALLOTS + 1];
Acquisition acquisition[2 + 1];
mtype chosen[3 + 1];              /* by epoch */
byte losses;
byte loser;                       /* who lost its ledger first */

#define N node[m]
#define B ballot[b]
#define A acquisition[a]

#define is_chosen(r) (chosen[epoch(r)] == r)

/* G4: a roster names ledgers, so a node that lost its own is no member until another roster names
 * its new one. A node that has lost that one, too, is no member of that roster either. */
#define named_ledger(m, r) (r == rejoin && m == loser -> 1 : 0)
#define is_named(m, r) has(members(r), m)
#ifndef TWIN_ROSTER_FROM_ONE_COORDINATOR
#define is_member(m, r) (is_named(m, r) && N.ledger == named_ledger(m, r))
#else
#define is_member(m, r) is_named(m, r)
#endif

/* The epoch with which a member joined: who was removed and is back joined anew. */
#define joined(m, r) (m > 2 || r == rejoin && m == loser -> 2 : 1)
#ifndef TWIN_SINCE_IT_FIRST_JOINED
#define since(m, r) (r == last && !is_named(m, next) -> 3 : joined(m, r))
#else
#define since(m, r) joined(m, r)
#endif

/* --- ballots ------------------------------------------------------------------------------ */

#ifdef LAST
#define base(b) (b == BALLOTS -> next : first)
#else
#define base(b) first
#endif

#ifndef TWIN_AMNESIAC_ACCEPTOR
#define is_acceptor (N.current == base(b) && is_member(m, base(b)))
#else
#define is_acceptor ((N.current == base(b) || N.ledger > 0) && is_named(m, base(b)))
#endif

#define decides (is_acceptor && N.settling == 0 && N.promised <= b)

inline prepare() {
  d_step { B.roster == NONE && !has(B.promises, m) && decides ->
    N.promised = b;
    B.promises = B.promises | bit(m);
    if
    :: B.largest < N.accepted -> B.largest = N.accepted
    :: else
    fi;
    printf("node %d promises ballot %d\n", m, b) }
}

/* When the roster is proposed, nobody looks at them any more. */
inline forget_promises() {
#ifndef TWIN_RESTORED_BY_BALLOT
  B.promises = 0;
  B.largest = 0
#else
  skip
#endif
}

inline propose(r) {
  d_step { B.roster == NONE && count(B.promises) >= quorum(base(b)) &&
      (B.largest > 0 -> ballot[B.largest].roster == r : epoch(r) == epoch(base(b)) + 1) &&
      (r != rejoin || losses > 0) ->
    B.roster = r;
    forget_promises();
    printf("ballot %d proposes roster %e\n", b, r) }
}

inline accept() {
  d_step { B.roster != NONE && N.accepted != b && !has(B.acceptances, m) && decides ->
    N.promised = b;
    N.accepted = b;
    printf("node %d accepts roster %e of ballot %d\n", m, B.roster, b);
    if
    :: is_chosen(B.roster)
    :: else ->
       B.acceptances = B.acceptances | bit(m);
       if
       :: count(B.acceptances) >= quorum(base(b)) ->
          printf("roster %e is chosen\n", B.roster);
          assert(chosen[epoch(B.roster)] == NONE);
          chosen[epoch(B.roster)] = B.roster;
          B.acceptances = 0
       :: else
       fi
    fi }
}

proctype Acceptor(byte b; byte m) {
end:
  do
  :: prepare()
  :: accept()
#ifdef TWIN_RESTORED_BY_BALLOT
  /* A quorum of the others has promised, and accepted nothing. */
  :: d_step { N.ledger > 0 && B.largest == 0 &&
         count(B.promises & ~bit(m)) >= quorum(base(b)) ->
       N.ledger = 0;
       N.current = base(b);
       N.promised = b;
       N.delay = TICKS;
       printf("node %d is given its roster back, with ballot %d\n", m, b) }
#endif
  od
}

proctype Changer(byte b) {
end:
  do
  :: propose(next)
#ifdef RIVAL
  :: propose(rival)
#endif
#ifdef LAST
  :: propose(last)
#endif
#if LOSSES > 0
  :: propose(rejoin)
#endif
  od
}

/* --- what a node is told ------------------------------------------------------------------ */

#ifndef TWIN_NEW_TOLD_BEFORE_CHOSEN
#define may_be_told(r) is_chosen(r)
#else
#define may_be_told(r) (is_chosen(r) || m > 2 && ballot[1].roster == r)
#endif

/* G2: what was granted before the roster was chosen has run out then. */
#if defined(TWIN_NEW_WITHOUT_DELAY)
#define DELAY 0
#elif defined(TWIN_DELAY_BY_ITS_OWN_MAX_TTL)
#define DELAY (TICKS - 1)
#else
#define DELAY TICKS
#endif

inline settle() {
#if defined(LAST) && !defined(TWIN_TWO_CHANGES_WITHIN_A_TTL)
  N.settling = TICKS
#else
  skip
#endif
}

/* The first form of G4: a roster that names a node as new makes a member of it, whatever ledger it
 * has. */
inline forget_loss(r) {
#ifdef TWIN_SINCE_TELLS_NEW
  if
  :: is_named(m, r) && since(m, r) == epoch(r) -> N.ledger = named_ledger(m, r)
  :: else
  fi
#else
  skip
#endif
}

/* A node that was never a member is not told of rosters without it. */
inline learn(r) {
  d_step { may_be_told(r) && epoch(N.current) < epoch(r) && (m < 3 || is_named(m, r)) ->
    forget_loss(r);
    if
    :: is_member(m, r) && since(m, r) > epoch(N.current) -> N.delay = DELAY
    :: else
    fi;
    settle();
    N.current = r;
    N.promised = 0;
    N.accepted = 0;
    printf("node %d is told roster %e\n", m, r) }
}

/* Nobody joins by the first roster: it follows none. */
inline learn_first() {
  d_step { N.current == NONE && is_named(m, first) ->
    forget_loss(first);
    N.current = first;
    printf("node %d is told roster %e\n", m, first) }
}

/* It is recovering from its start on (R). */
inline lose_ledger() {
  d_step { losses < LOSSES && N.current != NONE ->
    if
    :: losses == 0 -> loser = m
    :: else
    fi;
    losses++;
    N.ledger++;
    N.current = NONE;
    N.promised = 0;
    N.accepted = 0;
    N.delay = TICKS;
    N.settling = 0;
    N.value = FREE;
    N.is_renewed = false;
    printf("node %d loses its ledger\n", m) }
}

proctype Node_(byte m) {
end:
  do
  :: learn(next)
#ifdef RIVAL
  :: learn(rival)
#endif
#ifdef LAST
  :: learn(last)
#endif
#if LOSSES > 0
  :: learn_first()
  :: learn(rejoin)
  :: lose_ledger()
#endif
#ifdef TWIN_EPOCH_NOT_DURABLE
  :: d_step { N.accepted > 0 ->
       N.accepted = 0;
       printf("node %d crashes, and has accepted nothing\n", m) }
#endif
  od
}

/* --- votes -------------------------------------------------------------------------------- */

/* G1: for coordinators of its epoch alone, until it accepts another roster. G5: as a member. */
#if defined(TWIN_NO_EPOCH_CHECK)
#define is_voter(r) is_member(m, N.current)
#elif defined(TWIN_OLD_MEMBER_VOTES)
#define is_voter(r) (N.current == r && N.accepted == 0)
#elif defined(TWIN_ROSTERLESS_MEMBER_VOTES)
#define is_voter(r) (is_named(m, r) && (N.current == r && N.accepted == 0 || N.current == NONE))
#else
#define is_voter(r) (N.current == r && N.accepted == 0 && is_member(m, r))
#endif

#define votes(r) (is_voter(r) && N.delay == 0)

/* A validity does not end while its acquisition holds: see Time. */
inline is_alone() {
  for (other : 1 .. 2) {
    assert(other == a || acquisition[other].phase != holding)
  }
  other = 0
}

/* The two differ in that 1 may be extended. */
#define may_start (A.phase == idle && \
                   (EXTENSIONS > 0 || a == 1 || acquisition[1].phase != idle))

/* The validity counts from the first grant, the latest instant from which it could; and who has a
 * quorum holds the lock at once. */
inline acquire(r) {
  d_step { (A.phase == asking && A.roster == r || may_start && is_chosen(r)) &&
      N.value == FREE && votes(r) && !has(A.granted, m) ->
    if
    :: A.phase == idle ->
       A.phase = asking;
       A.roster = r;
       A.validity = TICKS
    :: else
    fi;
    A.granted = A.granted | bit(m);
    N.value = a;
    printf("node %d grants acquisition %d, by roster %e\n", m, a, r);
    if
    :: count(A.granted) >= quorum(r) ->
       A.phase = holding;
       A.granted = 0;
       printf("acquisition %d holds the lock\n", a);
       is_alone()
    :: else
    fi }
}

/* Q4: within the old validity, a quorum has it, and one at least has had it all the time. */
inline extend(r) {
  d_step { A.phase == holding && a <= EXTENSIONS && !A.is_held_on &&
      (A.next_roster == r || A.next_roster == NONE && is_chosen(r)) &&
      (N.value == a || N.value == FREE) && votes(r) && !has(A.extended, m) ->
    if
    :: A.next_roster == NONE ->
       A.next_roster = r;
       A.renewed = TICKS
    :: else
    fi;
    A.extended = A.extended | bit(m);
    if
    :: N.value == a -> A.is_kept = true
    :: else
    fi;
    N.value = a;
    N.is_renewed = true;
    printf("node %d extends acquisition %d, by roster %e\n", m, a, r);
    if
    :: A.is_kept && count(A.extended) >= quorum(r) ->
       A.is_held_on = true;
       A.extended = 0;
       printf("acquisition %d holds on\n", a);
       is_alone()
    :: else
    fi }
}

proctype Link(byte a; byte m) {
  byte other;
end:
  do
  :: acquire(first)
  :: acquire(next)
#ifdef RIVAL
  :: acquire(rival)
#endif
#ifdef LAST
  :: acquire(last)
#endif
#if LOSSES > 0
  :: acquire(rejoin)
#endif
#if EXTENSIONS > 0
  :: extend(first)
  :: extend(next)
#ifdef RIVAL
  :: extend(rival)
#endif
#ifdef LAST
  :: extend(last)
#endif
#if LOSSES > 0
  :: extend(rejoin)
#endif
#endif
  od
}

/* --- time --------------------------------------------------------------------------------- */

inline count_down(timer) {
  if
  :: timer > 0 -> timer--
  :: else
  fi
}

inline count_down_node() {
  count_down(N.delay);
#ifdef LAST
  count_down(N.settling);
#endif
#if EXTENSIONS > 0
  /* What the extension did not renew ends with the validity that it was granted for. */
  if
  :: N.value == 1 && acquisition[1].validity == 1 && !N.is_renewed -> N.value = FREE
  :: else
  fi
#endif
}

/* A validity of one tick ends with the first. */
inline count_down_validities() {
#if TICKS > 1
  count_down(acquisition[1].validity);
  count_down(acquisition[2].validity);
#endif
#if EXTENSIONS > 0
  count_down(acquisition[1].renewed)
#else
  skip
#endif
}

#define left_of(a) (acquisition[a].is_held_on -> acquisition[a].renewed : acquisition[a].validity)
#define goes_on(a) (acquisition[a].phase == idle || left_of(a) > 1)

/* It takes two acquisitions to be in each other's way: a run ends with the first that does. */
proctype Time() {
  byte m;
end:
  do
  :: d_step { goes_on(1) && goes_on(2) ->
       printf("a tick\n");
       for (m : 0 .. NODES - 1) {
         count_down_node()
       }
       m = 0;
       count_down_validities() }
  od
}

init {
  byte a, b, m;
  atomic {
    chosen[1] = first;
    for (m : 0 .. NODES - 1) {
      if
      :: is_named(m, first) -> N.current = first
      :: else
      fi;
      run Node_(m);
      for (a : 1 .. 2) { run Link(a, m) }
      for (b : 1 .. BALLOTS) {
        if
        :: is_named(m, base(b)) -> run Acceptor(b, m)
        :: else
        fi
      }
    }
    for (b : 1 .. BALLOTS) { run Changer(b) }
    run Time();
    a = 0;
    b = 0;
    m = 0
  }
}
