/* A front door's promise in time (safety.md, rules D1 to D5, D7 and D8): one key of three nodes.
 *
 * Claimed: of all who were told OK by any door, and of those who took the lock at the nodes
 * themselves, at most one relies on it at a time; nobody is told that it is free while somebody
 * relies on it all along; and until a node is given the lock late, by its acquisition or a top-up,
 * nobody else relied on it between its user and the extension that he is told of.
 *
 * A user knows nothing of beginnings. He relies on the lock for RELIED from the moment at which he
 * reads his OK, and that is on its way for REPLY at most. His door has the lock within ACQUIRE of
 * its beginning, or undoes it. So nodes are asked for the sum of the three (D2). Whoever extends
 * the lock is a door that knows nothing of it but its bytes: not since when it is there, and not
 * whether the door that took it is undoing it this moment.
 *
 * Time is that of exclusion.pml. A timer at 0 is at its end: what it bounds can still be done,
 * until the next tick; what it keeps up is over. So each of the three can last in full, and the sum
 * is just enough. Drift is in the numbers of rule D2, as it is in those of exclusion.pml.
 *
 * Messages arrive at any later time, in any order, or never, as in tokens.pml. A door that dies is
 * one whose answers never come.
 *
 *   -DACQUISITIONS=2 -DCRASHES=1   the bounds; crashes of nodes
 *   -DEXTENSIONS=1                 of acquisition 1, each by any door, also beside another; or 0
 *   -DREADINGS=1                   readings at one time, of any number; 0 or 1
 *   -DDIRECT=1                     the last acquisition is by no door; or 0
 *   -DRELIED=1 -DACQUIRE=1 -DREPLY=1   in ticks
 *   -DTWIN_…                       the same text less one rule, which spin must refute
 *
 * The code that it mirrors: coordinator/front_door (padding.h, served_command_nodes.cpp,
 * commit.cpp), coordinator/group/door and coordinator/quorum/quorum_read.cpp.
 */
#define NODES 3
#define QUORUM (NODES / 2 + 1)
#define FREE 0                    /* acquisitions are numbered from 1 */

#ifndef RELIED
#define RELIED 1                  /* T */
#endif
#ifndef ACQUIRE
#define ACQUIRE 1                 /* B */
#endif
#ifndef REPLY
#define REPLY 1                   /* R */
#endif

#if defined(TWIN_NO_PADDING)
#define SOONEST RELIED
#elif defined(TWIN_PADDING_WITHOUT_ACQUIRE_TIME)
#define SOONEST (RELIED + REPLY)
#elif defined(TWIN_PADDING_WITHOUT_REPLY_TIME)
#define SOONEST (RELIED + ACQUIRE)
#else
#define SOONEST (RELIED + ACQUIRE + REPLY)  /* D2: T', to a node's deadline */
#endif

#define bit(n) (1 << (n))
#define has(set, n) (((set) >> (n)) & 1)
#define count(set) (has(set, 0) + has(set, 1) + has(set, 2))

typedef Node {
  byte value;                     /* the key's: FREE, or whose lock it is */
  byte left;                      /* ticks until the deadline may come */
  bool is_extended;               /* the deadline was set again since the grant (D5) */
  byte delay;                     /* what is left of the restart delay */
};

mtype = { unasked, asked, told, answered, undone };

typedef Acquisition {
  mtype phase = unasked;
  byte timer;                     /* left of ACQUIRE while it is asked, of REPLY when told */
  byte relied;                    /* ticks for which its user relies on it yet */
  byte granted;                   /* nodes: each executes its request once at most */
  bool is_released;
};

typedef Extension {               /* of acquisition 1 */
  mtype phase = unasked;
  byte timer;
  byte kept;                      /* nodes that held it still, */
  byte lacking;                   /* that said that they hold nothing, */
  byte topped_up;                 /* and those of them that will not be topped up any more */
};

typedef Reading {
  byte who;                       /* relied on the lock when it began, and does still; or FREE */
  byte tells;                     /* nodes that hold his, */
  byte denies;                    /* and nodes that do not */
};

Node node[NODES];
Acquisition acquisition[ACQUISITIONS + 1];
Extension extension[EXTENSIONS + 1];
Reading reading;
byte ended;                       /* acquisitions that are released */
byte crashes;
mtype = { nobody, the_last, passed };
mtype extended_relied = nobody;   /* the user of acquisition 1, and nobody or somebody else since */
bool is_given_late;               /* to a node, when its user had relied on it already */

#define N node[m]
#define A acquisition[a]
#define E extension[e]
#define EXTENDED 1                /* the acquisition that is extended */
#define is_direct(a) (DIRECT > 0 && a == ACQUISITIONS)

/* It takes two that are not over to be in each other's way, one to be denied or to extend. */
#define is_unfinished (ended < ACQUISITIONS - 1 + READINGS || \
                       EXTENSIONS > 0 && !acquisition[EXTENDED].is_released)

/* --- whoever relies on it ------------------------------------------------------------------- */

inline raise_to(what, ticks) {
  if
  :: what < ticks -> what = ticks
  :: else
  fi
}

inline rely(u, ticks) {
  raise_to(acquisition[u].relied, ticks);
#if EXTENSIONS > 0
  if
  :: u == EXTENDED -> extended_relied = the_last
  :: u != EXTENDED && extended_relied == the_last -> extended_relied = passed
  :: else
  fi;
#endif
  printf("user %d relies on the lock, for %d ticks\n", u, acquisition[u].relied);
  for (b : 1 .. ACQUISITIONS) {
    assert(b == u || acquisition[u].relied == 0 || acquisition[b].relied == 0)
  }
  b = 0
}

inline forget_reading() {
  reading.who = FREE;
  reading.tells = 0;
  reading.denies = 0
}

inline rely_no_longer(u) {
  acquisition[u].relied = 0;
#if READINGS > 0
  if
  :: reading.who == u -> forget_reading()
  :: else
  fi
#endif
}

/* --- what nodes are asked ------------------------------------------------------------------- */

#define serves (N.delay == 0)     /* R10 */

inline clear() {
  N.value = FREE;
  N.left = 0;
  N.is_extended = false
}

inline note_given_late(u) {
#if EXTENSIONS > 0
  if
  :: u == EXTENDED && extended_relied != nobody -> is_given_late = true
  :: else
  fi
#else
  skip
#endif
}

/* Sent any sooner, there would be less of ACQUIRE left: so an acquisition begins when a node first
 * grants it. Names are dealt in the order of starts, apart for the one that is extended; a node's
 * name when it grants acquisition 1. */
#define may_begin (a == 1 || a == 2 || acquisition[a - 1].phase != unasked)
#define is_next (a > 1 || m == 0 || has(A.granted, m - 1))

inline grant() {
  d_step { N.value == FREE && serves && !has(A.granted, m) && is_next &&
      (A.phase != unasked || may_begin) ->
    if
    :: A.phase == unasked ->
       A.phase = asked;
       A.timer = (is_direct(a) -> SOONEST : ACQUIRE);
       printf("acquisition %d begins\n", a)
    :: else
    fi;
    A.granted = A.granted | bit(m);
    note_given_late(a);
    N.value = a;
    N.left = SOONEST;
    printf("node %d grants acquisition %d\n", m, a) }
}

#ifndef TWIN_RELEASE_BY_THE_CLIENTS_VALUE
#define is_the_record (N.value == a)      /* D1, D7 */
#else
#define is_the_record (N.value != FREE)
#endif

inline release() {
  d_step { A.is_released && is_the_record ->
    clear();
    printf("node %d: acquisition %d is released\n", m, a) }
}

#ifndef TWIN_UNDO_OF_WHAT_WAS_EXTENDED
#define may_be_undone (!N.is_extended)    /* D5 */
#else
#define may_be_undone true
#endif

inline undo() {
  d_step { A.phase == undone && is_the_record && may_be_undone ->
    clear();
    printf("node %d: acquisition %d is undone\n", m, a) }
}

proctype Link(byte a; byte m) provided (is_unfinished) {
end:
  do
  :: grant()
  :: release()
  :: undo()
  od
}

/* --- an acquisition, its door and its user -------------------------------------------------- */

/* D2: within ACQUIRE; Time ends what is not. A direct holder counts from its beginning (Q2). */
inline tell() {
  d_step { A.phase == asked && count(A.granted) >= QUORUM && !A.is_released ->
    if
#if DIRECT > 0
    :: is_direct(a) && A.timer > 0 ->
       A.phase = answered;
       rely(a, A.timer);
       A.timer = 0
    :: is_direct(a) && A.timer == 0
#endif
    :: !is_direct(a) ->
       A.phase = told;
       A.timer = REPLY;
       printf("the door of acquisition %d says OK\n", a)
    fi }
}

inline read() {
  d_step { A.phase == told && !A.is_released ->
    A.phase = answered;
    A.timer = 0;
    rely(a, RELIED) }
}

#ifndef TWIN_UNDONE_AFTER_OK
#define may_undo (A.phase == asked)       /* D5 */
#else
#define may_undo (A.phase == asked || A.phase == told || A.phase == answered)
#endif

/* Too few votes, or its client has gone. That it is too late is Time's to say. */
inline give_up() {
  d_step { may_undo ->
    A.phase = undone;
    A.timer = 0;
    printf("the door of acquisition %d undoes it\n", a) }
}

/* By any door: its user is done with it, and reads nothing more. */
inline end_it() {
  d_step { A.phase != unasked && !A.is_released ->
    A.is_released = true;
    ended++;
    rely_no_longer(a);
    printf("user %d releases\n", a) }
}

proctype User(byte a) provided (is_unfinished) {
  byte b;
end:
  do
  :: tell()
  :: read()
  :: give_up()
  :: end_it()
  od
}

/* --- an extension, by a door that knows the bytes alone ------------------------------------- */

#ifndef TWIN_EXTENDS_ANY_RECORD
#define is_extendable (N.value == EXTENDED)   /* D7 */
#else
#define is_extendable (N.value != FREE)
#endif

/* As with an acquisition, it begins when a node first extends. */
inline keep() {
  d_step { is_extendable && serves && !has(E.kept | E.lacking, m) &&
      (E.phase != unasked || e == 1 || extension[e - 1].phase != unasked) ->
    if
    :: E.phase == unasked ->
       E.phase = asked;
       E.timer = ACQUIRE;
       printf("extension %d begins\n", e)
    :: else
    fi;
    E.kept = E.kept | bit(m);
    raise_to(N.left, SOONEST);
    N.is_extended = true;
    printf("node %d: extension %d\n", m, e) }
}

inline lack() {
  d_step { N.value == FREE && serves && E.phase != unasked && E.phase != undone &&
      !has(E.kept | E.lacking, m) ->
    E.lacking = E.lacking | bit(m);
    printf("node %d holds nothing for extension %d\n", m, e) }
}

#ifndef TWIN_TOP_UPS_COUNT_AT_A_DOOR
#define may_top_up (E.phase == told || E.phase == answered)
#else
#define may_top_up (E.phase != unasked)
#endif

/* D8: to who said that it holds nothing, when a quorum has extended it. Nobody counts on it, so it
 * may run out at once. */
inline top_up() {
  d_step { may_top_up && has(E.lacking, m) && !has(E.topped_up, m) && N.value == FREE && serves ->
    E.topped_up = E.topped_up | bit(m);
    N.value = EXTENDED;
    N.is_extended = true;
#ifdef TWIN_TOP_UPS_COUNT_AT_A_DOOR
    E.kept = E.kept | bit(m);
    N.left = SOONEST;
#else
    note_given_late(EXTENDED);
#endif
    printf("node %d is topped up by extension %d\n", m, e) }
}

inline tell_extended() {
  d_step { E.phase == asked && count(E.kept) >= QUORUM ->
    E.phase = told;
    E.timer = REPLY;
    printf("the door of extension %d says OK\n", e) }
}

inline read_extended() {
  d_step { E.phase == told && !acquisition[EXTENDED].is_released ->
    E.phase = answered;
    E.timer = 0;
    assert(extended_relied != passed || is_given_late);
    rely(EXTENDED, RELIED) }
}

#if EXTENSIONS > 0
proctype ExtensionLink(byte e; byte m) provided (is_unfinished) {
end:
  do
  :: keep()
  :: lack()
  :: top_up()
  od
}

proctype Extender(byte e) provided (is_unfinished) {
  byte b;
end:
  do
  :: tell_extended()
  :: read_extended()
  od
}
#endif

/* --- a reading ------------------------------------------------------------------------------ */

#define silent (NODES - count(reading.tells | reading.denies))

/* D3: those that are silent may hold it, too. Nodes that hold another's deny it as those that hold
 * nothing do: so more is looked on as free here than the rule does. */
#ifndef TWIN_QUORUM_OF_ABSENT_IS_FREE
#define may_be_held (count(reading.tells) + silent >= QUORUM)
#else
#define may_be_held (count(reading.tells) >= QUORUM)
#endif

#ifndef TWIN_RECOVERING_IS_ABSENT
#define answers serves
#else
#define answers true
#endif

inline begin_reading() {
  for (a : 1 .. ACQUISITIONS) {
    if
    :: A.relied > 0 -> reading.who = a
    :: else
    fi
  }
  a = 0
}

inline answer_reading(m) {
  d_step { answers && !has(reading.tells | reading.denies, m) ->
    if
    :: reading.who == FREE -> begin_reading()
    :: else
    fi;
    if
    :: reading.who == FREE
    :: reading.who != FREE && N.value == reading.who ->
       reading.tells = reading.tells | bit(m);
       printf("node %d tells that it holds acquisition %d\n", m, N.value)
    :: else ->
       reading.denies = reading.denies | bit(m);
       printf("node %d tells that it does not hold acquisition %d\n", m, reading.who)
    fi;
    if
    :: reading.who != FREE && count(reading.tells | reading.denies) >= QUORUM -> assert(may_be_held)
    :: else
    fi }
}

inline end_reading() {
  d_step { reading.who != FREE -> forget_reading() }
}

#if READINGS > 0
proctype Reader() provided (is_unfinished) {
  byte a;
end:
  do
  :: answer_reading(0)
  :: answer_reading(1)
  :: answer_reading(2)
  :: end_reading()
  od
}
#endif

/* --- the node by itself --------------------------------------------------------------------- */

/* That the ledger tells of every lock, and no second crash shortens a delay, is exclusion.pml's to
 * show. A longer delay is like messages that are late. */
#ifndef TWIN_RESTARTED_AT_ONCE
#define delay_of_start (N.left > N.delay -> N.left : N.delay)
#else
#define delay_of_start 0
#endif

/* Its connections end, and with them what was to go on them. */
inline crash() {
  d_step { crashes < CRASHES ->
    crashes++;
    N.delay = delay_of_start;
    clear();
#if EXTENSIONS > 0
    for (e : 1 .. EXTENSIONS) { E.topped_up = E.topped_up | (E.lacking & bit(m)) }
    e = 0;
#endif
    printf("node %d crashes and starts, with a delay of %d ticks\n", m, N.delay) }
}

proctype Node_(byte m) provided (is_unfinished) {
  byte e;
end:
  do
  :: d_step { N.value != FREE && N.left == 0 ->
       printf("node %d: the lock of acquisition %d runs out\n", m, N.value);
       clear() }
#if CRASHES > 0
  :: crash()
#endif
  od
}

/* --- time ----------------------------------------------------------------------------------- */

inline count_down(what) {
  if
  :: what > 0 -> what--
  :: else
  fi
}

#ifndef TWIN_OK_AFTER_THE_ACQUIRE_TIME
#define is_too_late(x) (x.phase == asked && x.timer == 0)
#else
#define is_too_late(x) false
#endif

/* An answer that is on its way for longer than REPLY is read by nobody. */
inline pass(x) {
  if
  :: is_too_late(x) -> x.phase = undone
  :: x.phase == told && x.timer == 0 -> x.phase = answered
  :: else -> count_down(x.timer)
  fi
}

proctype Time() provided (is_unfinished) {
  byte a, e, m;
end:
  do
  :: d_step { true ->
       printf("a tick\n");
       for (m : 0 .. NODES - 1) {
#if CRASHES > 0
         count_down(N.delay);
#endif
         count_down(N.left)
       }
       for (a : 1 .. ACQUISITIONS) {
         pass(A);
         count_down(A.relied);
         if
         :: A.relied == 0 -> rely_no_longer(a)
         :: else
         fi
       }
#if EXTENSIONS > 0
       for (e : 1 .. EXTENSIONS) { pass(E) }
       e = 0;
#endif
       a = 0;
       m = 0 }
  od
}

init {
  byte a, e, m;
  atomic {
    for (m : 0 .. NODES - 1) {
      run Node_(m);
      for (a : 1 .. ACQUISITIONS) { run Link(a, m) }
    }
    for (a : 1 .. ACQUISITIONS) { run User(a) }
#if EXTENSIONS > 0
    for (e : 1 .. EXTENSIONS) {
      for (m : 0 .. NODES - 1) { run ExtensionLink(e, m) }
      run Extender(e)
    }
    e = 0;
#endif
#if READINGS > 0
    run Reader();
#endif
    run Time();
    a = 0;
    m = 0
  }
}
