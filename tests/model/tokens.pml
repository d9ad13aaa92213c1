/* Fencing tokens (safety.md, rules F), for one key of three nodes.
 *
 * Claimed: no two acquisitions have the same token, and one that starts after a token was given has
 * a larger one. No clock stands here: a lock may run out at any instant, so that two hold it at
 * once, and the tokens must be in order all the same.
 *
 * A message that was sent arrives at any later time, in any order, or never, whatever became of the
 * acquisition since. So it needs no channel: it is a guard that stays true. A request that would
 * change nothing where it arrives, such as one that is refused, is no step.
 *
 *   -DACQUISITIONS=2 -DCRASHES=2   the bounds; locks run out any number of times
 *   -DEXTENSIONS=2                 so many of the acquisitions, the first ones, may also extend
 *   -DLOSSES=1                     so many ledgers, one at most, are lost
 *   -DTWIN_…                       the same text less one rule, which spin must refute
 *
 * The code that it mirrors: server/locks/fence.h, server/commands/quorum.cpp, and in coordinator/
 * acquisition.cpp.
 */
#define NODES 3
#ifndef BLOCK
#define BLOCK 2                   /* F1: fence-block, the smallest that has a half */
#endif
#define FREE 0                    /* acquisitions are numbered from 1 */
#ifndef LOSSES
#define LOSSES 0
#endif

#ifndef TWIN_HALF_QUORUM
#define QUORUM (NODES / 2 + 1)    /* Q1 */
#else
#define QUORUM (NODES / 2)
#endif

#ifndef TWIN_VALUE_USED_AGAIN
#define value_of(a) (a)           /* Q6: each attempt has a value of its own */
#else
#define value_of(a) 1
#endif

typedef Node {
  byte value;                     /* the key's: FREE, or whose lock it is */
  byte stored;                    /* the lock's token */
  byte C;                         /* the counter */
  byte H;                         /* its bound, durable */
  bool is_unfenced;               /* its ledger was lost (F6) */
  bool is_recovering;             /* and its delay goes on (R10) */
};

typedef Acquisition {
  bool granted[NODES];            /* a node executes its request once at most */
  byte answer[NODES];             /* what the node told: its proposal, then t once it accepted t */
  byte t;                         /* the token, when it is chosen */
  byte floor;                     /* the largest token given before the first request was sent */
  bool is_given;
  bool is_old;                    /* it had started when the ledger was lost */
};

Node node[NODES];
Acquisition acquisition[ACQUISITIONS + 1];
byte given;                       /* acquisitions that have their token */
byte crashes;
byte losses;
byte floor_read;                  /* the largest counter of the nodes that were read (F6) */
bool is_read[NODES];

#define N node[m]
#define A acquisition[a]
#define is_unfinished (given < ACQUISITIONS)  /* after the last token nothing is left to check */

/* --- the acquisition ---------------------------------------------------------------------- */

#define has_started(a) (acquisition[a].granted[0] || \
                        acquisition[a].granted[1] || acquisition[a].granted[2])

/* Sent any sooner, its first request would owe less: so it is sent when it is first executed. */
inline start() {
  for (b : 1 .. ACQUISITIONS) {
    if
    :: acquisition[b].is_given && acquisition[b].t > A.floor -> A.floor = acquisition[b].t
    :: else
    fi
  }
  b = 0
}

#define proposes_up_to(m, most) (A.answer[m] > 0 && A.answer[m] <= most)
#define proposals_up_to(most) \
  (proposes_up_to(0, most) + proposes_up_to(1, most) + proposes_up_to(2, most))
#define accepts(m) (A.answer[m] == A.t)
#define acceptances (accepts(0) + accepts(1) + accepts(2))

#define somebody_recovers \
  (node[0].is_recovering || node[1].is_recovering || node[2].is_recovering)

#ifndef TWIN_SHORT_DELAY
/* F7, the one trust in clocks: a delay in full is over after all that started before it. */
#define has_run_out (A.is_old && !somebody_recovers)
#else
#define has_run_out false
#endif

/* F3: t is given once a quorum accepted it. Here at once: that is when most is asked of the others.
 * An attempt that is given up instead is one that is looked at no more; what it sent lives on. */
inline give_when_accepted() {
  if
  :: !A.is_given && !has_run_out && acceptances >= QUORUM ->
     printf("acquisition %d has token %d\n", a, A.t);
     assert(A.t > A.floor);                                           /* the order */
     for (b : 1 .. ACQUISITIONS) {
       assert(!acquisition[b].is_given || acquisition[b].t != A.t)    /* the uniqueness */
     }
     b = 0;
     A.floor = 0;
     A.is_given = true;
     given++
  :: else
  fi
}

/* F3: t is the largest of a quorum of proposals: m proposes t, and a quorum t or less. The nodes
 * that propose t have accepted it by that. */
inline choose(m) {
  d_step { A.t == 0 && !has_run_out &&
      A.answer[m] > 0 && proposals_up_to(A.answer[m]) >= QUORUM ->
    A.t = A.answer[m];
    printf("acquisition %d chooses %d, proposed by node %d\n", a, A.t, m);
    give_when_accepted() }
}

proctype Coordinator(byte a) provided (is_unfinished) {
  byte b;
end:
  do
  :: choose(0)
  :: choose(1)
  :: choose(2)
  od
}

/* --- what acquisition a sends to node m --------------------------------------------------- */

#ifndef TWIN_SERVES_WITHIN_DELAY
#define serves (!N.is_recovering) /* R10 */
#else
#define serves true
#endif

/* No counter falls (F8). */
inline reach(number) {
  if
  :: N.C < number -> N.C = number
  :: else
  fi
}

inline clear() {
  N.value = FREE;
  N.stored = 0
}

#ifndef TWIN_AHEAD_OF_BOUND
#define has_room (N.C < N.H)      /* F1: nothing makes a C larger than H */
#else
#define has_room true
#endif

#ifndef TWIN_UNFENCED_PROPOSES
#define is_silent N.is_unfenced   /* F6: it counts, and proposes nothing */
#else
#define is_silent false
#endif

/* LOCK.ACQUIRE (F2). The names of the acquisitions, and of the nodes, are dealt as they come:
 * acquisition 2 is the second one that any node grants, node 1 the second one that grants
 * acquisition 1. So of runs that differ in names alone one is looked at. */
inline acquire() {
  d_step { !A.granted[m] && N.value == FREE && serves &&
      (a == 1 || has_started(a - 1)) && (a > 1 || m == 0 || A.granted[m - 1]) ->
    if
    :: !has_started(a) -> start()
    :: else
    fi;
    A.granted[m] = true;
    N.value = value_of(a);
    if
    :: has_room ->
       N.C++;
       N.stored = N.C;
       A.answer[m] = (is_silent -> 0 : N.C)  /* 0: no proposal */
    :: else ->
       N.stored = N.H + 1                    /* F1 */
    fi;
    printf("node %d grants acquisition %d, proposal %d\n", m, a, A.answer[m]) }
}

#ifndef TWIN_CONFIRM_ANY_VALUE
#define holds_the_value (N.value == value_of(a))
#else
#define holds_the_value true
#endif
#ifndef TWIN_CONFIRM_ANY_TOKEN
#define knows_no_larger (A.t >= N.stored)
#else
#define knows_no_larger true
#endif

#ifndef TWIN_EXTENDED_UNSETTLED
#define may_extend (a <= EXTENSIONS && A.is_given && !has_run_out)  /* F5: the token is settled */
#else
#define may_extend (a <= EXTENSIONS && A.t > 0)
#endif

/* F1: H goes up a block, durably. */
inline raise() {
  N.H = N.H + BLOCK;
  printf("node %d raises its bound to %d\n", m, N.H)
}

/* What brings a t above H waits until the raise that it asks for is durable (F1). */
inline raise_for_token() {
  d_step { A.t > N.H && serves && (A.granted[m] || may_extend) -> raise() }
}

/* LOCK.CONFIRM, to a node that granted it, with a smaller proposal or none (F3). */
inline confirm() {
  d_step { A.t > 0 && A.granted[m] && A.answer[m] < A.t && A.t <= N.H && serves &&
      holds_the_value && knows_no_larger ->
    reach(A.t);
    N.stored = A.t;
    A.answer[m] = A.t;
    printf("node %d accepts token %d of acquisition %d\n", m, A.t, a);
    give_when_accepted() }
}

/* LOCK.EXTEND with TOKEN: it tops up a node that lacks the lock (Q4), and carries the token, which
 * is no acceptance (F5). */
inline extend() {
  d_step { may_extend && A.t <= N.H && serves &&
      (N.value == FREE || N.value == value_of(a) && N.stored < A.t) ->
    reach(A.t);
    N.value = value_of(a);
    N.stored = A.t;
    printf("node %d extends acquisition %d, with token %d\n", m, a, A.t) }
}

/* LOCK.RELEASE, the undo of an attempt that was given up (Q3), or the deadline: the same here. */
inline end_lock() {
  d_step { N.value == value_of(a) ->
    clear();
    printf("node %d: the lock of acquisition %d ends\n", m, a) }
}

proctype Link(byte a; byte m) provided (is_unfinished) {
  byte b;
end:
  do
  :: acquire()
  :: raise_for_token()
  :: confirm()
#if EXTENSIONS > 0
  :: extend()
#endif
  :: end_lock()
  od
}

/* --- the node by itself ------------------------------------------------------------------- */

#ifndef TWIN_COUNTER_FORGOTTEN
#define first_number N.H          /* F1: a start goes on from the old bound */
#else
#define first_number 0
#endif

/* F6: the ledger is lost, and the counter with it. */
inline lose_ledger() {
  d_step { losses < LOSSES && N.value == FREE ->
    losses++;
    N.C = 0;
    N.H = BLOCK;
    N.is_unfenced = true;
    N.is_recovering = true;
    for (b : 1 .. ACQUISITIONS) { acquisition[b].is_old = has_started(b) }
    b = 0;
    printf("node %d loses its ledger\n", m) }
}

inline end_delay() {
  d_step { N.is_recovering ->
    N.is_recovering = false;
    printf("node %d grants again\n", m) }
}

#ifndef TWIN_READ_WITHIN_DELAY
#define may_read !somebody_recovers
#else
#define may_read true
#endif

/* F6: LOCK.FENCE READ, of nodes that are fenced; after the delay, as until then a token of before
 * may be given elsewhere (coordinator/quorum/admission.h: look, read, admit). */
inline read_counter() {
  d_step { losses > 0 && may_read && !N.is_unfenced && !is_read[m] ->
    is_read[m] = true;
    if
    :: floor_read < N.C -> floor_read = N.C
    :: else
    fi;
    printf("node %d is read, the floor is %d\n", m, floor_read) }
}

#ifndef TWIN_FLOOR_OF_ONE
#define floor_quorum QUORUM
#else
#define floor_quorum 1
#endif

/* F6: LOCK.FENCE ADMIT, with the largest counter of a quorum; F7: not before the delay is over. */
inline admit() {
  d_step { N.is_unfenced && !N.is_recovering && floor_read < N.H &&
      is_read[0] + is_read[1] + is_read[2] >= floor_quorum ->
#ifndef TWIN_ADMITTED_WITHOUT_FLOOR
    reach(floor_read);
#endif
    N.is_unfenced = false;
    printf("node %d is admitted, its numbers go on after %d\n", m, N.C) }
}

inline raise_for_floor() {
  d_step { N.is_unfenced && !N.is_recovering && floor_read >= N.H -> raise() }
}

proctype Node_(byte m) provided (is_unfinished) {
  byte b;
end:
  do
  /* F1: the loop raises H when less than half a block is left. */
  :: d_step { N.C >= N.H -> raise() }
  /* A crash, and the start after it. That it forgets the lock is the lock's end, a step before. */
  :: d_step { crashes < CRASHES && N.value == FREE ->
       crashes++;
       N.C = first_number;
       printf("node %d crashes; its numbers go on after %d\n", m, N.C);
       raise() }
#if LOSSES > 0
  :: lose_ledger()
  :: end_delay()
  :: read_counter()
  :: admit()
  :: raise_for_floor()
#endif
  od
}

init {
  byte a, m;
  atomic {
    for (m : 0 .. NODES - 1) {
      N.H = BLOCK;
      run Node_(m);
      for (a : 1 .. ACQUISITIONS) { run Link(a, m) }
    }
    for (a : 1 .. ACQUISITIONS) { run Coordinator(a) }
    a = 0;
    m = 0
  }
}
