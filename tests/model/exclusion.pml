/* Exclusion in time (safety.md, rules C, R and Q): one key of three nodes.
 *
 * Claimed: at most one holder is within its validity; and nobody else became one while a holder
 * believed that it held on, which is what an extension promises.
 *
 * Time goes in ticks, and all that lasts is counted down in them, so there is no last tick. A clock
 * is no number here. All that safety asks of clocks is how soon a deadline may come in true time:
 *
 *   a node's deadline     TTL / (1 + d) after it was set at the soonest       SOONEST
 *   a holder's validity   TTL (1 - d) - 2 ms after its start at the latest    VALIDITY
 *   a delay in full       (TTL (1 + d) + 1 s) / (1 + d) at the soonest        FULL_DELAY
 *
 * (1 - d)(1 + d) < 1, so SOONEST is not before VALIDITY ends; FULL_DELAY is longer than SOONEST,
 * and taken as equal. Of a node's deadline the model knows no latest: once it may have come, it
 * comes at any later time. The ledger's deadline and the lock's own are one instant of one clock.
 * Within a tick steps come in any order, so a tick need not be short; more of them are finer.
 *
 * Messages arrive at any later time, in any order, or never, as in tokens.pml.
 *
 *   -DACQUISITIONS=2 -DCRASHES=2   the bounds; crashes of the process and of the host
 *   -DEXTENSIONS=1                 acquisition 1 may be extended once; or 0
 *   -DTWIN_…                       the same text less one rule, which spin must refute
 *
 * The code that it mirrors: server/recovery/recovery.cpp, server/grants/coverage.cpp, and in coordinator/
 * acquisition.cpp, extension.cpp, validity.h.
 */
#define NODES 3
#define FREE 0                    /* acquisitions are numbered from 1 */

#ifndef TWIN_HALF_QUORUM_IN_TIME
#define QUORUM (NODES / 2 + 1)    /* Q1 */
#else
#define QUORUM (NODES / 2)
#endif

#ifndef TICKS
#define TICKS 2                   /* to a deadline */
#endif
#ifndef TWIN_STALE_NOW
#define SOONEST TICKS             /* C4: from a clock that was read after the request */
#else
#define SOONEST (TICKS - 1)
#endif
#ifndef TWIN_NO_DRIFT
#define VALIDITY TICKS            /* C1, Q2 */
#else
#define VALIDITY (TICKS + 1)
#endif
#define FULL_DELAY TICKS

typedef Node {
  byte value;                     /* the key's: FREE, or whose lock it is */
  byte left;                      /* ticks until the deadline may come */
  byte told;                      /* the ledger's latest deadline, likewise */
  bool is_boot_told = true;       /* the ledger names this boot */
  byte delay;                     /* what is left of the restart delay */
};

mtype = { idle, asking, holding, over };
mtype = { unasked, asked, done, failed };

typedef Acquisition {
  mtype phase = idle;
  byte validity;                  /* ticks until it ends */
  bool granted[NODES];            /* a node executes its request once at most (Q6) */
  mtype extension = unasked;
  byte renewed;                   /* the validity that the extension would give */
  bool extended[NODES];           /* a node executed the extension: it held the lock still, */
  bool topped_up[NODES];          /* or lacked it */
};

Node node[NODES];
Acquisition acquisition[ACQUISITIONS + 1];
byte newest;                      /* who became a holder last */
byte ended;                       /* acquisitions that are over */
byte crashes;

#define N node[m]
#define A acquisition[a]

/* It takes two that are not over to be in each other's way, or one that extends. */
#define is_unfinished (ended < ACQUISITIONS - 1 || \
                       EXTENSIONS > 0 && acquisition[1].phase == holding)

/* --- what acquisition a sends to node m --------------------------------------------------- */

#define grants (N.is_boot_told && N.delay == 0)  /* R10: a recovering node does not */

inline raise_to(timer, ticks) {
  if
  :: timer < ticks -> timer = ticks
  :: else
  fi
}

/* The lock and its deadline, which never comes earlier (Q4). The ledger is told before the reply
 * goes out (R4): a crash in between is one that came before the request, so it is no step. */
inline keep() {
  N.value = a;
  raise_to(N.left, SOONEST);
#ifndef TWIN_TOLD_AFTER_REPLY
  raise_to(N.told, N.left)
#endif
}

inline clear() {
  N.value = FREE;
  N.left = 0
}

/* A node's name is dealt when it grants acquisition 1, as in tokens.pml. */
inline acquire() {
  d_step { A.phase != idle && !A.granted[m] && grants && N.value == FREE &&
      (a > 1 || m == 0 || A.granted[m - 1]) ->
    A.granted[m] = true;
    keep();
    printf("node %d grants acquisition %d\n", m, a) }
}

inline extend() {
  d_step { A.extension != unasked && !A.extended[m] && !A.topped_up[m] && grants &&
      N.value == a ->
    A.extended[m] = true;
    keep();
    printf("node %d extends acquisition %d\n", m, a) }
}

inline top_up() {
  d_step { A.extension != unasked && !A.extended[m] && !A.topped_up[m] && grants &&
      N.value == FREE ->
    A.topped_up[m] = true;
    keep();
    printf("node %d is topped up with acquisition %d\n", m, a) }
}

#ifndef TWIN_RELEASE_ANY_VALUE
#define is_released (N.value == a)
#else
#define is_released (N.value != FREE)
#endif

/* A release, or the undo of what came to nothing, everywhere (Q3); of a top-up also (Q4). */
inline release() {
  d_step { is_released &&
      (A.phase == over || A.extension == failed && A.topped_up[m]) ->
    clear();
    printf("node %d: acquisition %d is released\n", m, a) }
}

proctype Link(byte a; byte m) provided (is_unfinished) {
end:
  do
  :: acquire()
#if EXTENSIONS > 0
  :: extend()
  :: top_up()
#endif
  :: release()
  od
}

/* --- the acquisition ---------------------------------------------------------------------- */

#define votes (A.granted[0] + A.granted[1] + A.granted[2])
#define kept (A.extended[0] + A.extended[1] + A.extended[2])
#define regained (A.topped_up[0] + A.topped_up[1] + A.topped_up[2])

inline is_alone() {
  for (b : 1 .. ACQUISITIONS) {
    assert(b == a || acquisition[b].phase != holding || acquisition[b].validity == 0)
  }
  b = 0
}

/* Q2: the validity counts from before the first byte. Names are dealt in the order of starts, apart
 * for those that extend. */
inline ask() {
  d_step { A.phase == idle &&
      (a == 1 || a == EXTENSIONS + 1 || acquisition[a - 1].phase != idle) ->
    A.phase = asking;
    A.validity = VALIDITY;
    printf("acquisition %d asks\n", a) }
}

/* Q1. The deciding reply is read within the validity: Time ends what is not. */
inline hold() {
  d_step { A.phase == asking && votes >= QUORUM ->
    A.phase = holding;
#ifdef TWIN_VALIDITY_FROM_REPLY
    A.validity = VALIDITY;
#endif
    newest = a;
    printf("acquisition %d holds the lock, for %d ticks\n", a, A.validity);
    is_alone() }
}

/* Given up, or released, at any time. */
inline give_up() {
  A.phase = over;
  ended++;
  A.validity = 0;
  A.renewed = 0;
  printf("acquisition %d is over\n", a)
}

inline ask_again() {
  d_step { A.phase == holding && A.extension == unasked && a <= EXTENSIONS ->
    A.extension = asked;
    A.renewed = VALIDITY;
    printf("acquisition %d asks for an extension\n", a) }
}

/* Q4: within the old validity, a quorum has it, and one at least has had it all the time. */
inline hold_on() {
  d_step { A.phase == holding && A.extension == asked && A.renewed > 0 &&
      kept + regained >= QUORUM && kept > 0 ->
    A.extension = done;
#ifdef TWIN_EXTENDED_FROM_REPLY
    A.renewed = VALIDITY;
#endif
    raise_to(A.validity, A.renewed);
    A.renewed = 0;
    printf("acquisition %d holds on, for %d ticks\n", a, A.validity);
    assert(newest == a);
    is_alone() }
}

inline hold_no_longer() {
  d_step { A.phase == holding && A.extension == asked ->
    A.extension = failed;
    A.renewed = 0;
    printf("the extension of acquisition %d fails\n", a) }
}

proctype Coordinator(byte a) provided (is_unfinished) {
  byte b;
end:
  do
  :: ask()
  :: hold()
  :: d_step { A.phase == asking || A.phase == holding -> give_up() }
#if EXTENSIONS > 0
  :: ask_again()
  :: hold_on()
  :: hold_no_longer()
#endif
  od
}

/* --- the node by itself ------------------------------------------------------------------- */

#ifndef TWIN_NO_DELAY
#define delay_of_start (N.is_boot_told -> N.told : FULL_DELAY)  /* R: the table, rows 2 and 3 */
#else
#define delay_of_start 0
#endif

/* R3: the delay is recorded, and the boot after it, in a step of its own. A node may stay down as
 * long as it likes: that is one whose messages are late. */
inline start() {
  clear();
  N.delay = delay_of_start;
#if !defined(TWIN_DELAY_NOT_RECORDED) && !defined(TWIN_BOOT_BEFORE_DELAY)
  N.told = N.delay;
#endif
#ifdef TWIN_BOOT_BEFORE_DELAY
  N.is_boot_told = true;
#endif
  printf("node %d crashes and starts, with a delay of %d ticks\n", m, N.delay)
}

#ifndef TWIN_LOWERED_WHILE_RECOVERING
#define may_lower (N.delay == 0)  /* R3: while recovering nothing is lowered */
#else
#define may_lower true
#endif

proctype Node_(byte m) provided (is_unfinished) {
end:
  do
  /* The deadline comes (C5). */
  :: d_step { N.value != FREE && N.left == 0 ->
       printf("node %d: the lock of acquisition %d runs out\n", m, N.value);
       clear() }
  /* R5: what is told is lowered after the lock is gone. */
  :: d_step { N.is_boot_told && may_lower && N.told > N.left ->
       N.told = N.left;
       printf("node %d lowers its latest deadline\n", m) }
#ifdef TWIN_TOLD_AFTER_REPLY
  :: d_step { N.told < N.left -> N.told = N.left }
#endif
  :: d_step { crashes < CRASHES ->  /* of the process */
       crashes++;
       start() }
  :: d_step { crashes < CRASHES ->  /* of the host: what is told was told of another clock */
       crashes++;
#ifndef TWIN_BOOT_TAKEN_FOR_THE_SAME
       N.is_boot_told = false;      /* R6 */
#endif
       N.told = 0;
       start() }
  :: d_step { !N.is_boot_told ->
       N.is_boot_told = true;
       printf("node %d has recorded its boot\n", m) }
#ifdef TWIN_BOOT_BEFORE_DELAY
  :: d_step { N.told < N.delay -> N.told = N.delay }
#endif
  od
}

/* --- time --------------------------------------------------------------------------------- */

/* What a validity's end is the end of (Q2, Q4): attempt and hold alike. */
#ifdef TWIN_VALIDITY_FROM_REPLY
#define outlives_validity (A.phase == asking)
#else
#ifdef TWIN_EXTENSION_REVIVES
#define outlives_validity (A.phase == holding && A.extension == unasked)
#else
#ifdef TWIN_TOP_UPS_COUNT_LATE
#define outlives_validity (A.phase == holding && A.extension == asked)
#else
#define outlives_validity false
#endif
#endif
#endif

inline count_down(timer) {
  if
  :: timer > 0 -> timer--
  :: else
  fi
}

proctype Time() provided (is_unfinished) {
  byte a, m;
end:
  do
  :: d_step { true ->
       printf("a tick\n");
       for (m : 0 .. NODES - 1) {
         count_down(N.left);
         count_down(N.told);
         count_down(N.delay)
       }
       for (a : 1 .. ACQUISITIONS) {
         count_down(A.validity);
         count_down(A.renewed);
         if
         :: (A.phase == asking || A.phase == holding) && A.validity == 0 && !outlives_validity ->
            give_up()
         :: else
         fi
       }
       a = 0;
       m = 0 }
  od
}

init {
  byte a, m;
  atomic {
    for (m : 0 .. NODES - 1) {
      run Node_(m);
      for (a : 1 .. ACQUISITIONS) { run Link(a, m) }
    }
    for (a : 1 .. ACQUISITIONS) { run Coordinator(a) }
    run Time();
    a = 0;
    m = 0
  }
}
