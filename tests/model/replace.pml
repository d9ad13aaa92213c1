/* Replacing the value of a held lock (safety.md, rules D8 and D9): one lock, several front doors.
 *
 * Claimed: no two values of one number are chosen; the values that are chosen follow each other in
 * one line, so nobody who was told that he replaced one is contradicted; and no reading, and no
 * extension, that begins after a value was chosen succeeds with an older one.
 *
 * A value is chosen when its writer was told so by a quorum, when a reading is settled on it, or
 * when an extension of it succeeds: that is all that anybody can know of it. A writer starts from a
 * chosen value, however long ago he read it: so his reading is no step of his own.
 *
 * A node that forgets holds nothing until it is topped up. It crashes, and its connections end, and
 * with them what was under way on them; or the deadline of its own record comes, as it missed the
 * extensions, and its connections live on. The lock as such is held throughout, so N - q nodes at
 * most hold nothing.
 *
 * One trust in clocks. Whoever is told yes by a node, to a replacement, to an extension or when he
 * reads, is told by that yes that the record stays, or the node is silent, for twice as long as any
 * writer, reading or extension goes on. So a node forgets when what was under way at its yes is
 * over, and what began before that was over. Over is who counts, and sends, no more: what was sent
 * arrives at any later time, in any order, or never, as in tokens.pml.
 *
 *   -DWRITERS=2         the bounds: replacements that are tried;
 *   -DREADINGS=1        readings at one time, of any number;
 *   -DEXTENSIONS=1      extensions; 0 or 1
 *   -DCRASHES=1         nodes that forget by a crash,
 *   -DEXPIRIES=0        or by a deadline; then only who said that he holds nothing is topped up
 *   -DNODES=3           nodes, 3 or 5; 3
 *   -DLATCH=1           all writers are doors that were sent one request, again and again: whoever
 *                       made a second key, the latch, has it to do (D7); or 0. Claimed then: it is
 *                       done once. The latch lives on; that one makes it at most is exclusion.pml's
 *   -DTWIN_…            the same text less one rule, which spin must refute
 *
 * The code that it mirrors: coordinator/group/door (deadline_operation.cpp, read_operation.cpp) and
 * LOCK.REPLACE in server/commands/quorum.cpp; of the latch, coordinator/front_door/served.
 */
#ifndef NODES
#define NODES 3
#endif
#define QUORUM (NODES / 2 + 1)
#ifndef LATCH
#define LATCH 0
#endif

#define NOTHING 0
#define FIRST 1                   /* the value of number 0; those of the writers come after it */
#define LAST (FIRST + WRITERS)

#define bit(n) (1 << (n))
#define has(set, n) (((set) >> (n)) & 1)
#define count(set) (has(set, 0) + has(set, 1) + has(set, 2) + has(set, 3) + has(set, 4))

typedef Node {
  byte value;
#if LATCH > 0
  byte latch;                     /* NOTHING, or the value whose writer made it */
#endif
  byte rolls;                     /* values to which what it holds is to be rolled forward */
  bool is_recovering;
  byte owed;                      /* who was under way when it said yes, */
  byte owed_later;                /* and who began while one of these was */
};

typedef Value {                   /* and its writer */
  byte old;                       /* what it replaces; NOTHING: not written yet */
  byte number;
  byte line;                      /* the values that it descends from, and itself */
  byte taken;                     /* nodes that replaced old with it, as the writer asked */
#if LATCH > 0
  byte latched;                   /* nodes that granted its writer the latch */
  bool is_undone;                 /* its writer gives the latch back */
#endif
};

typedef Reading {
  byte told[NODES];
  byte newest;                    /* what was chosen last when it began */
};

mtype = { idle, asking, granted, over };

Node node[NODES];
Value value[LAST + 1];
Reading reading[READINGS];
byte chosen;                      /* values, */
byte newest = FIRST;              /* and of them the one with the largest number */
byte under_way;                   /* writers, by their values, the extension and readings */
#define EXTENSION 0               /* which is no value's number, */
#define READING(r) (6 + (r))      /* and nor is that of a reading */
byte crashes;
byte expiries;

mtype extension = idle;
byte extended;                    /* the value, */
byte extended_after;              /* what was chosen last when it began, */
byte kept;                        /* nodes that held it, */
byte lacking;                     /* and nodes that said that they do not, which may be topped up */

#define N node[m]
#define V value[v]
#define R reading[r]

/* --- what is chosen ----------------------------------------------------------------------- */

#define number(v) value[v].number
#define descends(v, u) has(value[v].line, u)
#define holds(m, v) (node[m].value == v -> 1 : 0)
#if NODES == 3
#define holders(v) (holds(0, v) + holds(1, v) + holds(2, v))
#else
#define holders(v) (holds(0, v) + holds(1, v) + holds(2, v) + holds(3, v) + holds(4, v))
#endif

inline choose(v) {
  if
  :: has(chosen, v)
  :: else ->
     printf("value %d is chosen, of number %d\n", v, number(v));
#if LATCH > 0
     assert(chosen == bit(FIRST));
#endif
     for (u : FIRST .. LAST) {
       if
       :: has(chosen, u) ->
          assert(number(u) != number(v));
          assert(descends(v, u) || descends(u, v))
       :: else
       fi
     }
     u = 0;
     chosen = chosen | bit(v);
     newest = (number(v) > number(newest) -> v : newest)
  fi
}

/* --- what goes on ------------------------------------------------------------------------- */

/* Only of nodes that may forget yet is it looked at; the first that does is node 0. */
#define forgets (crashes + expiries)
#define may_forget(m) (node[m].is_recovering || \
                       forgets < CRASHES + EXPIRIES && (forgets > 0 || m == 0))

inline begin(what) {
#if CRASHES + EXPIRIES > 0
  for (i : 0 .. NODES - 1) {
    if
    :: node[i].owed != 0 -> node[i].owed_later = node[i].owed_later | bit(what)
    :: else
    fi
  }
  i = 0;
#endif
  under_way = under_way | bit(what)
}

inline finish(what) {
#if CRASHES + EXPIRIES > 0
  for (i : 0 .. NODES - 1) {
    node[i].owed = node[i].owed & ~bit(what);
    node[i].owed_later = node[i].owed_later & ~bit(what)
  }
  i = 0;
#endif
  under_way = under_way & ~bit(what)
}

/* What the yes promises. Of a top-up, and of what is rolled forward, nothing is promised. */
inline promise(m) {
#if CRASHES + EXPIRIES > 0
  if
  :: may_forget(m) -> node[m].owed = node[m].owed | under_way
  :: else
  fi
#else
  skip
#endif
}

inline take(v) {
  N.value = v;
#ifndef TWIN_ROLL_FORWARD_BY_INCARNATION
  N.rolls = 0
#else
  skip
#endif
}

/* --- writers ------------------------------------------------------------------------------ */

#ifndef TWIN_REPLACE_FROM_UNCONFIRMED
#define may_be_replaced(u) has(chosen, u)
#else
#define may_be_replaced(u) (holders(u) > 0)
#endif

/* D7: the latch leaves more held than before, the replacement less: so the latch comes first. What
 * is behind it is sent only when a quorum has it, and from then on it stays. */
#if LATCH == 0 || defined(TWIN_NARROW_BEFORE_WIDE)
#define comes_after_latch true
#else
#define comes_after_latch (count(V.latched) >= QUORUM && !V.is_undone)
#endif

#ifndef TWIN_UNDONE_BEHIND_A_CHANGE
#define may_undo_latch (V.old == NOTHING)
#else
#define may_undo_latch true
#endif

#ifndef TWIN_NARROW_BEFORE_WIDE
#define may_make_latch (V.old == NOTHING && !V.is_undone)
#else
#define may_make_latch (has(chosen, v))
#endif

#if LATCH > 0
inline make_latch() {
  d_step { N.latch == NOTHING && may_make_latch && !has(V.latched, m) ->
    V.latched = V.latched | bit(m);
    N.latch = v;
    printf("node %d grants the latch to the writer of value %d\n", m, v) }
}

inline undo_latch() {
  d_step { V.latched != 0 && may_undo_latch && !V.is_undone ->
    V.is_undone = true;
    printf("the writer of value %d gives the latch back\n", v) }
}

inline clear_latch() {
  d_step { V.is_undone && N.latch == v ->
    N.latch = NOTHING;
    printf("node %d takes the latch back from the writer of value %d\n", m, v) }
}
#endif

inline start() {
  V.old = N.value;
  V.number = number(N.value) + 1;
  V.line = value[N.value].line | bit(v);
  begin(v);
  printf("value %d is to replace value %d, with number %d\n", v, V.old, V.number)
}

inline give_up() {
  d_step { has(under_way, v) ->
    finish(v);
    printf("the writer of value %d gives up\n", v) }
}

#ifndef TWIN_SECOND_VOTE_FOR_A_NUMBER
#define is_asked_of(m) (N.value == V.old)
#else
#define is_asked_of(m) (N.value != NOTHING && number(N.value) <= V.number)
#endif

/* Sent any sooner, it would be under way for longer: so a writer starts when a node first executes
 * what he asks. The names of values are dealt as they come; those of the nodes from 1 on likewise,
 * as they take value 2. */
#define may_start (may_be_replaced(N.value) && comes_after_latch && \
                   (v == FIRST + 1 || value[v - 1].old != NOTHING))
#define is_next(m) (v > FIRST + 1 || m < 2 || has(V.taken, m - 1))

/* A node executes a request once. Its writer counts while it is under way. */
inline replace() {
  d_step { N.value != NOTHING && !has(V.taken, m) && is_next(m) &&
      (V.old == NOTHING -> may_start : is_asked_of(m)) ->
    if
    :: V.old == NOTHING -> start()
    :: else
    fi;
    V.taken = V.taken | bit(m);
    take(v);
    promise(m);
    printf("node %d replaces its value with %d\n", m, v);
    if
    :: has(under_way, v) && count(V.taken) >= QUORUM ->
       finish(v);
       printf("the writer of value %d is told that it is done\n", v);
       choose(v)
    :: else
    fi }
}

proctype Writer(byte v) {
  byte i;
end:
  do
  :: give_up()
#if LATCH > 0
  :: undo_latch()
#endif
  od
}

proctype Link(byte v; byte m) {
  byte i, u;
end:
  do
  :: replace()
#if LATCH > 0
  :: make_latch()
  :: clear_latch()
#endif
  od
}

/* --- readings ----------------------------------------------------------------------------- */

#define tells(m, v) (R.told[m] == v -> 1 : 0)
#if NODES == 3
#define told_of(v) (tells(0, v) + tells(1, v) + tells(2, v))
#else
#define told_of(v) (tells(0, v) + tells(1, v) + tells(2, v) + tells(3, v) + tells(4, v))
#endif
#define answers (NODES - told_of(NOTHING))

#define is_above(v, m) (number(v) >= number(R.told[m]))
#define is_largest(v) (is_above(v, 0) && is_above(v, 1) && is_above(v, 2) && \
                       is_above(v, NODES - 2) && is_above(v, NODES - 1))

inline forget_reading() {
  for (i : 0 .. NODES - 1) { R.told[i] = NOTHING }
  i = 0;
  R.newest = 0;
  finish(READING(r))
}

/* D9: on a value, where a quorum told just that. */
#ifndef TWIN_SETTLED_BY_INCARNATION
#define is_settled(v) (told_of(v) >= QUORUM)
#else
#define is_settled(v) (answers >= QUORUM && is_largest(v))
#endif

/* Whose record is about to run out is looked on as silent: the others promise, as with a yes.
 * A node that holds nothing says no more than one that is silent, while the lock is held. */
inline tell(m) {
  d_step { R.told[m] == NOTHING && N.value != NOTHING ->
    if
    :: answers == 0 ->
       R.newest = newest;
       begin(READING(r))
    :: else
    fi;
    R.told[m] = N.value;
#ifndef TWIN_READ_IN_THE_LAST_MOMENT
    promise(m);
#endif
    printf("node %d tells value %d\n", m, N.value);
    if
    :: is_settled(N.value) ->
       printf("the reading is settled\n");
       assert(descends(R.told[m], R.newest));
       choose(R.told[m]);
       forget_reading()
    :: else
    fi }
}

inline give_up_reading() {
  d_step { answers > 0 ->
    forget_reading();
    printf("the reading is given up\n") }
}

#ifndef TWIN_ROLL_FORWARD_BY_INCARNATION
#define is_rolled(i) (node[i].value == R.told[i])
#else
#define is_rolled(i) true
#endif

/* Any value of the largest number, where the rule takes the one that most nodes told; what is sent
 * to a node that holds another value by now changes nothing. */
inline roll_forward(v) {
  d_step { answers >= QUORUM && told_of(v) > 0 && is_largest(v) ->
    for (i : 0 .. NODES - 1) {
      if
      :: R.told[i] != NOTHING && number(R.told[i]) < number(v) && is_rolled(i) ->
         node[i].rolls = node[i].rolls | bit(v)
      :: else
      fi
    }
    printf("the reading is not settled: value %d is to be rolled forward\n", v);
    forget_reading() }
}

inline roll(v) {
  d_step { has(N.rolls, v) && N.value != NOTHING ->
    N.rolls = N.rolls & ~bit(v);
    take(v);
    printf("node %d is rolled forward to value %d\n", m, v) }
}

proctype Reader(byte r) {
  byte i, u;
end:
  do
  :: tell(0)
  :: tell(1)
  :: tell(2)
#if NODES > 3
  :: tell(3)
  :: tell(4)
#endif
  :: give_up_reading()
  :: roll_forward(2)
#if WRITERS > 1
  :: roll_forward(3)
#endif
#if WRITERS > 2
  :: roll_forward(4)
#endif
  od
}

/* --- the extension ------------------------------------------------------------------------ */

#define is_extending (extension == asking || extension == granted)

/* It begins when a node first extends, which is as good as any sooner. */
inline extend() {
  extension = asking;
  extended = N.value;
  extended_after = newest;
  begin(EXTENSION);
  printf("an extension of value %d begins\n", extended)
}

inline grant_if_enough() {
  if
  :: extension == asking && count(kept) >= QUORUM ->
     extension = granted;
     printf("the extension succeeds\n");
     assert(descends(extended, extended_after));
     choose(extended)
  :: else
  fi
}

inline keep() {
  d_step { N.value != NOTHING && !has(kept, m) && !has(lacking, m) &&
      (extension == idle || is_extending && N.value == extended) ->
    if
    :: extension == idle -> extend()
    :: else
    fi;
    kept = kept | bit(m);
    promise(m);
    printf("node %d extends value %d\n", m, extended);
    grant_if_enough() }
}

/* Who holds another value says no, too: only by a deadline can it come to hold nothing on the same
 * connection. */
#if EXPIRIES > 0 && !defined(TWIN_TOP_UP_OF_ANY_NO)
#define lacks (N.value == NOTHING && !N.is_recovering)
#else
#define lacks (N.value != extended && !N.is_recovering)
#endif

inline lack() {
  d_step { is_extending && lacks && !has(kept, m) && !has(lacking, m) ->
    lacking = lacking | bit(m);
    printf("node %d does not hold value %d\n", m, extended) }
}

/* D8: sent when the vote is decided, to those that answered, on the connection that did. */
#ifndef TWIN_TOP_UPS_COUNT
#define may_top_up (extension == granted || extension == over)
#else
#define may_top_up (extension != idle && kept != 0)
#endif

inline top_up() {
  d_step { may_top_up && has(lacking, m) && N.value == NOTHING && !N.is_recovering ->
    lacking = lacking & ~bit(m);
    take(extended);
    printf("node %d is topped up with value %d\n", m, extended)
#ifdef TWIN_TOP_UPS_COUNT
    ;
    kept = kept | bit(m);
    grant_if_enough()
#endif
    }
}

inline end_extension() {
  d_step { is_extending ->
    if
    :: extension == asking -> lacking = 0
    :: else
    fi;
    extension = over;
    kept = 0;
    finish(EXTENSION);
    printf("the extension is over\n") }
}

#if EXTENSIONS > 0
proctype Extender() {
  byte i, u;
end:
  do
  :: end_extension()
  od
}
#endif

/* --- the node by itself ------------------------------------------------------------------- */

#define is_held_without(m) (NODES - holders(NOTHING) > QUORUM)

#if defined(TWIN_NO_DELAY_OF_START)
#define has_run_out true
#elif defined(TWIN_DELAY_OF_ONE)
#define has_run_out (N.owed == 0)
#else
#define has_run_out (N.owed == 0 && N.owed_later == 0)
#endif

inline crash() {
  d_step { crashes < CRASHES && may_forget(m) && N.value != NOTHING && is_held_without(m) ->
    crashes++;
    N.value = NOTHING;
    N.rolls = 0;
    N.is_recovering = true;
#ifndef TWIN_TOP_UP_OVER_ANY_CONNECTION
    lacking = lacking & ~bit(m);
#endif
    printf("node %d crashes\n", m) }
}

inline recover() {
  d_step { N.is_recovering && has_run_out ->
    N.is_recovering = false;
    N.owed = 0;
    N.owed_later = 0;
    printf("node %d votes again\n", m) }
}

inline expire() {
  d_step { expiries < EXPIRIES && may_forget(m) && N.value != NOTHING && is_held_without(m) &&
      has_run_out ->
    expiries++;
    N.value = NOTHING;
    N.rolls = 0;
    printf("node %d: its deadline comes\n", m) }
}

proctype Node_(byte m) {
  byte i, u;
end:
  do
  :: roll(2)
#if WRITERS > 1
  :: roll(3)
#endif
#if WRITERS > 2
  :: roll(4)
#endif
#if EXTENSIONS > 0
  :: keep()
  :: lack()
  :: top_up()
#endif
#if CRASHES > 0
  :: crash()
  :: recover()
#endif
#if EXPIRIES > 0
  :: expire()
#endif
  od
}

init {
  byte m, r, v;
  atomic {
    value[FIRST].line = bit(FIRST);
    chosen = bit(FIRST);
    for (m : 0 .. NODES - 1) {
      N.value = FIRST;
      run Node_(m);
      for (v : FIRST + 1 .. LAST) { run Link(v, m) }
    }
    for (v : FIRST + 1 .. LAST) { run Writer(v) }
    for (r : 0 .. READINGS - 1) { run Reader(r) }
#if EXTENSIONS > 0
    run Extender();
#endif
    m = 0;
    r = 0;
    v = 0
  }
}
