/* The floor of tokens (safety.md, rule F9): one key of a group whose members change twice.
 *
 * Claimed: an acquisition that starts after a token was given gets a larger one, whatever rosters
 * the two go by.
 *
 * Quorums of rosters that follow each other meet, and those of the first and the third need not: so
 * a node that has accepted a roster tells its counter, and the floor of a quorum of such counters
 * goes to all who are told the roster. That one roster alone is chosen for each epoch is shown by
 * group.pml, and the order of tokens within an epoch by tokens.pml; here rosters are given, and an
 * acquisition is the least that gives a token. It may be given up at any time, as often as the bound
 * lets it. A roster may be told by several changers, each with the floor of other answers.
 *
 * Messages arrive at any later time, in any order, or never. Whatever a node answers is durable, so
 * its crash is no step.
 *
 *   -DACQUISITIONS=2       the bounds: acquisitions;
 *   -DCHANGERS=2           changers that read a floor, of each epoch; 1
 *   -DROSTER_0=31 …        the rosters of the epochs 0, 1 and 2, with a bit for each node
 *   -DTWIN_…               the same text less one rule, which spin must refute
 *
 * The code that it mirrors: coordinator/quorum/floor.cpp, coordinator/roster/roster_change.cpp,
 * server/group/membership.cpp.
 */
#define NODES 5
#define LAST_EPOCH 2
#define COUNTER_MAX 6             /* no counter passes it: an assertion sees to that */
#ifndef CHANGERS
#define CHANGERS 1
#endif

#define roster(epoch) (epoch == 0 -> ROSTER_0 : (epoch == 1 -> ROSTER_1 : ROSTER_2))
#define bit(m) (1 << (m))
#define has(set, m) (((set) >> (m)) & 1)
#define count(set) (has(set, 0) + has(set, 1) + has(set, 2) + has(set, 3) + has(set, 4))
#define quorum(epoch) (count(roster(epoch)) / 2 + 1)

typedef Node {
  byte epoch;                     /* of the roster that it goes by */
  bool accepted;                  /* the one after it */
  byte counter;
};

typedef Change {                  /* from one epoch to the next */
  byte acceptors;
  byte told[NODES];               /* the counters of those */
  byte chosen;                    /* so many changers have read a floor */
  byte floor[CHANGERS];
};

typedef Acquisition {
  byte epoch;
  byte floor;                     /* the largest token that was given before it began */
  byte granted;                   /* the nodes that did */
  byte proposal[NODES];
  byte token;                     /* 0: not settled */
  byte accepted;                  /* the nodes that accepted it */
};

Node node[NODES];
Change change[LAST_EPOCH];
Acquisition now;
byte begun = 1;                   /* acquisitions */
byte given;                       /* the largest token */
bool is_over;                     /* the last token is given: nothing is left that could be wrong */

#define N node[m]
#ifndef TWIN_VOTES_FOR_THE_FORMER
#define votes (has(roster(now.epoch), m) && N.epoch == now.epoch && !N.accepted)
#else
#define votes (has(roster(now.epoch), m) && N.epoch == now.epoch)
#endif

/* --- acquisitions --- */

inline forget() {
  now.epoch = 0;
  now.granted = 0;
  now.token = 0;
  now.accepted = 0;
  for (i : 0 .. NODES - 1) { now.proposal[i] = 0 }
  i = 0
}

/* The next one goes by any roster that is chosen by then; one that is given up leaves its counters. */
inline begin() {
  d_step { !is_over && begun < ACQUISITIONS ->
    begun++;
    forget();
    now.floor = given;
    printf("an acquisition begins, after token %d\n", given) }
}

inline take_over() {
  d_step { !is_over && now.granted == 0 && now.epoch < LAST_EPOCH && change[now.epoch].chosen > 0 ->
    now.epoch++;
    printf("it goes by epoch %d\n", now.epoch) }
}

inline grant() {
  d_step { !is_over && now.token == 0 && votes && !has(now.granted, m) ->
    N.counter++;
    assert(N.counter <= COUNTER_MAX);
    now.granted = now.granted | bit(m);
    now.proposal[m] = N.counter;
    printf("node %d proposes %d\n", m, N.counter) }
}

/* Those that proposed it have accepted it. */
inline settle() {
  d_step { now.token == 0 && count(now.granted) >= quorum(now.epoch) ->
    for (i : 0 .. NODES - 1) {
      now.token = (now.proposal[i] > now.token -> now.proposal[i] : now.token)
    }
    for (i : 0 .. NODES - 1) {
      now.accepted = (now.proposal[i] == now.token -> now.accepted | bit(i) : now.accepted)
    }
    i = 0;
    printf("its token is to be %d\n", now.token) }
}

inline confirm() {
  d_step { now.token > 0 && votes && has(now.granted, m) && !has(now.accepted, m) &&
      now.proposal[m] <= now.token ->
    N.counter = (N.counter > now.token -> N.counter : now.token);
    now.accepted = now.accepted | bit(m);
    printf("node %d accepts it\n", m) }
}

inline give() {
  d_step { now.token > 0 && count(now.accepted) >= quorum(now.epoch) ->
    printf("token %d is given\n", now.token);
    assert(now.token > now.floor);
    given = now.token;
    forget();
    now.floor = given;
    if
    :: begun < ACQUISITIONS -> begun++
    :: else -> is_over = true
    fi }
}

/* --- changes --- */

inline accept() {
  d_step { !is_over && N.epoch < LAST_EPOCH && !N.accepted && has(roster(N.epoch), m) &&
      (N.epoch == 0 || change[N.epoch - 1].chosen > 0) ->
    N.accepted = true;
    change[N.epoch].acceptors = change[N.epoch].acceptors | bit(m);
#ifndef TWIN_FLOOR_OF_THE_PROMISES
    change[N.epoch].told[m] = N.counter;
#endif
    printf("node %d accepts the roster of epoch %d, and tells %d\n", m, N.epoch + 1, N.counter) }
}

#ifndef TWIN_ONE_COUNTER_TOO_LOW
#define knowing (quorum(e) - (count(roster(e)) - count(heard)))
#else
#define knowing (quorum(e) - (count(roster(e)) - count(heard)) + 1)
#endif

/* Of any quorum of those that have accepted: the largest number that so many of them reach. */
inline read_floor(e) {
  atomic { !is_over && change[e].chosen < CHANGERS && count(change[e].acceptors) >= quorum(e) ->
    heard = 0;
    for (i : 0 .. NODES - 1) {
      if
      :: has(change[e].acceptors, i) -> heard = heard | bit(i)
      :: true
      fi
    }
    if
    :: count(heard) < quorum(e)   /* it goes on asking */
    :: else ->
       d_step {
         for (n : 1 .. COUNTER_MAX) {
           reach = 0;
           for (i : 0 .. NODES - 1) {
             reach = reach + (has(heard, i) && change[e].told[i] >= n -> 1 : 0)
           }
           if
           :: reach >= knowing -> change[e].floor[change[e].chosen] = n
           :: else
           fi
         }
         change[e].chosen++;
         printf("epoch %d: a floor of %d\n", e + 1, change[e].floor[change[e].chosen - 1])
       }
    fi;
    heard = 0;
    reach = 0;
    i = 0;
    n = 0 }
}

inline learn(e, c) {
  d_step { !is_over && N.epoch <= e && change[e].chosen > c ->
    N.epoch = e + 1;
    N.accepted = false;
#ifndef TWIN_TOLD_NO_FLOOR
    N.counter = (N.counter > change[e].floor[c] -> N.counter : change[e].floor[c]);
#endif
    printf("node %d goes by epoch %d, from %d on\n", m, e + 1, N.counter) }
}

proctype Node_(byte m) {
end:
  do
  :: grant()
  :: confirm()
  :: accept()
  :: learn(0, 0)
  :: learn(1, 0)
#if CHANGERS > 1
  :: learn(0, 1)
  :: learn(1, 1)
#endif
  od
}

proctype Coordinator() {
  byte i;
end:
  do
  :: begin()
  :: take_over()
  :: settle()
  :: give()
  od
}

proctype Changer() {
  byte i, n, heard, reach;
end:
  do
  :: read_floor(0)
  :: read_floor(1)
  od
}

init {
  byte m;
  atomic {
    for (m : 0 .. NODES - 1) { run Node_(m) }
    run Coordinator();
    run Changer();
    m = 0
  }
}
