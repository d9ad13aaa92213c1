#define NODES 3
#ifndef TWIN_HALF_QUORUM
#define QUORUM (NODES / 2 + 1)      /* Q1 */
#else
#define QUORUM (NODES / 2)
#endif

#ifndef SOONEST
#define SOONEST 2
#endif
#define FULL_DELAY SOONEST
#ifndef TWIN_NO_DRIFT
#define VALIDITY SOONEST
#else
#define VALIDITY (SOONEST + 1)
#endif
#define FREE 0

mtype = { idle, asking, holding, over };
mtype = { none, running, failed, done };

typedef Node_ {
  byte value;
  byte left;
  byte told;
  bool is_this_boot = true;
  byte delay;
};
typedef Holder_ {
  mtype phase = idle;
  byte validity;
  bool granted[NODES];
  mtype extension = none;
  byte renewed;
  byte extended[NODES];
};
Node_ node[NODES];
Holder_ holder[ACQUISITIONS + 1];
byte crashes;
byte newest;

#define N node[m]
#define A holder[a]
#define grants (N.is_this_boot && N.delay == 0)
#define is_valid(a) (holder[a].phase == holding && holder[a].validity > 0)

inline keep(ticks) {
  N.value = a;
  if
  :: N.left < ticks -> N.left = ticks
  :: else
  fi;
#ifndef TWIN_TOLD_LATE
  if
  :: N.told < N.left -> N.told = N.left
  :: else
  fi
#endif
}
inline crash() {
       forget();
#ifndef TWIN_NO_DELAY
       N.delay = (N.is_this_boot -> N.told : FULL_DELAY);
#endif
#ifndef TWIN_DELAY_NOT_RECORDED
       N.told = N.delay
#endif
}
inline forget() {
  N.value = FREE;
  N.left = 0
}

inline grant(ticks) {
  d_step { A.phase != idle && !A.granted[m] && grants && N.value == FREE && (a > 1 || m == 0 || A.granted[m - 1]) ->
    A.granted[m] = true;
    keep(ticks) }
}
inline extend(ticks) {
  d_step { A.extension != none && A.extended[m] == 0 && grants && (N.value == a || N.value == FREE) ->
    A.extended[m] = (N.value == a -> 1 : 2);
    keep(ticks) }
}

proctype Link(byte a; byte m) {
end:
  do
  :: grant(SOONEST)
#ifdef EXTENSION
  :: extend(SOONEST)
#endif
#ifndef TWIN_RELEASE_ANY_VALUE
  :: d_step { (A.phase == over || A.extension == failed && A.extended[m] == 2) && N.value == a -> forget() }
#else
  :: d_step { A.phase == over && N.value != FREE -> forget() }
#endif
  od
}

#define votes (A.granted[0] + A.granted[1] + A.granted[2])
#define extensions ((A.extended[0] > 0) + (A.extended[1] > 0) + (A.extended[2] > 0))
#define is_still_held (A.extended[0] == 1 || A.extended[1] == 1 || A.extended[2] == 1)

inline check() {
  for (b : 1 .. ACQUISITIONS) {
    assert(b == a || !is_valid(b))
  }
  b = 0
}

proctype Coordinator(byte a) {
  byte b;
end:
  do
  :: d_step { A.phase == idle && (a <= 2 || holder[a - 1].phase != idle) ->
       A.phase = asking;
       A.validity = VALIDITY }
#ifndef TWIN_VALIDITY_FROM_REPLY
  :: d_step { A.phase == asking && votes >= QUORUM && A.validity > 0 ->
#else
  :: d_step { A.phase == asking && votes >= QUORUM ->
       A.validity = VALIDITY;
#endif
       A.phase = holding;
       newest = a;
       check() }
  :: d_step { A.phase == asking || A.phase == holding -> A.phase = over; A.validity = 0; A.renewed = 0 }
#ifdef EXTENSION
#ifndef TWIN_EXTENSION_REVIVES
  :: d_step { A.phase == holding && A.validity > 0 && A.extension == none && a == 1 ->
#else
  :: d_step { A.phase == holding && A.extension == none && a == 1 ->
#endif
       A.extension = running;
       A.renewed = VALIDITY }
  :: d_step { A.extension == running && A.phase == holding && extensions >= QUORUM && is_still_held && A.renewed > 0 &&
#ifndef TWIN_TOP_UPS_COUNT_LATE
    A.validity > 0 &&
#endif
    true ->
       A.extension = done;
       if
       :: A.validity < A.renewed -> A.validity = A.renewed
       :: else
       fi;
       A.renewed = 0;
       assert(newest == a);
       check() }
  :: d_step { A.extension == running && A.phase == holding -> A.extension = failed; A.renewed = 0 }
#endif
  od
}

proctype Node(byte m) {
end:
  do
#ifndef TWIN_LOWERED_WHILE_RECOVERING
  :: d_step { N.is_this_boot && N.delay == 0 && N.told > N.left -> N.told = N.left }
#else
  :: d_step { N.is_this_boot && N.told > N.left -> N.told = N.left }
#endif
#ifdef TWIN_TOLD_LATE
  :: d_step { N.told < N.left -> N.told = N.left }
#endif
  :: d_step { N.left == 0 && N.value != FREE -> N.value = FREE }
  :: d_step { crashes < CRASHES -> crashes++; crash() }
  :: d_step { crashes < CRASHES -> crashes++;
       N.is_this_boot = false;
       N.told = 0;
       crash() }
  :: d_step { !N.is_this_boot -> N.is_this_boot = true }
  od
}

inline count_down(timer) {
  if
  :: timer > 0 -> timer--
  :: else
  fi
}
active proctype Time() {
  byte i;
end:
  do
  :: d_step { true ->
       for (i : 0 .. NODES - 1) {
         count_down(node[i].told);
         count_down(node[i].delay);
         count_down(node[i].left)
       }
       for (i : 1 .. ACQUISITIONS) {
         count_down(holder[i].validity);
         count_down(holder[i].renewed);
#if !defined(TWIN_VALIDITY_FROM_REPLY) && !defined(TWIN_EXTENSION_REVIVES) && !defined(TWIN_TOP_UPS_COUNT_LATE)
         if
         :: holder[i].phase != idle && holder[i].validity == 0 -> holder[i].phase = over; holder[i].renewed = 0
         :: else
         fi
#endif
       }
       i = 0 }
  od
}

init {
  byte i, j;
  atomic {
    for (i : 0 .. NODES - 1) { run Node(i) }
    for (j : 1 .. ACQUISITIONS) {
      run Coordinator(j);
      for (i : 0 .. NODES - 1) { run Link(j, i) }
    }
    i = 0; j = 0
  }
}
