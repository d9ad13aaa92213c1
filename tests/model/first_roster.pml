/* The first roster (safety.md, rule G4): nodes that have none, and creators whose lists share some.
 *
 * Claimed: of the first rosters that have a node in common, one at most is chosen.
 *
 * There is no group before the first roster, so no quorum of one: all of its members must accept
 * it, under one ballot. A creator prepares at all nodes of its list. A roster that one of them
 * accepted binds it as long as that may have been chosen, which one of the roster's members that
 * promises without having accepted it disproves. A roster that binds is finished, or else the
 * creator gives up.
 *
 * A ballot is one attempt of a creator, as in group.pml; any of them may have any of the lists.
 * Messages arrive at any later time, in any order, or never. A node that lost its ledger is
 * another, and the one that it was is silent.
 *
 *   -DBALLOTS=3              the bound: attempts to create
 *   -DLISTS=2 -DLIST_1=7 …   the lists, two or three, with a bit for each node
 *   -DTWIN_…                 the same text less one rule, which spin must refute
 *
 * The code that it mirrors: server/group/membership.cpp, coordinator/roster/roster_change.cpp.
 */
#define NODES 5
#define NONE 0                    /* lists, and ballots, are numbered from 1 */
#ifndef LIST_3
#define LIST_3 0
#endif

#define members(list) (list == 1 -> LIST_1 : (list == 2 -> LIST_2 : (list == 3 -> LIST_3 : 0)))
#define bit(m) (1 << (m))
#define has(set, m) (((set) >> (m)) & 1)
#define count(set) (has(set, 0) + has(set, 1) + has(set, 2) + has(set, 3) + has(set, 4))
#define includes(set, part) (((part) & ~(set)) == 0)

typedef Node {
  byte promised;                  /* a ballot; 0: none */
  byte accepted;                  /* likewise */
};

typedef Ballot {
  byte list;                      /* that its creator was given */
  byte promises;                  /* the nodes that promised */
  byte told[LISTS + 1];           /* by roster: the nodes that told that they accepted it, */
  byte largest[LISTS + 1];        /* and the largest ballot of which one did */
  byte roster;                    /* that is proposed, by its list */
  byte acceptances;               /* the nodes that accepted it, until it is chosen */
};

Node node[NODES];
Ballot ballot[BALLOTS + 1];
bool is_chosen[LISTS + 1];

#define N node[m]
#define B ballot[b]

inline prepare() {
  d_step { B.roster == NONE && !has(B.promises, m) && has(members(B.list), m) &&
      N.promised <= b ->
    N.promised = b;
    B.promises = B.promises | bit(m);
    if
    :: N.accepted > 0 ->
       r = ballot[N.accepted].roster;
       B.told[r] = B.told[r] | bit(m);
       if
       :: B.largest[r] < N.accepted -> B.largest[r] = N.accepted
       :: else
       fi;
       r = NONE
    :: else
    fi;
    printf("node %d promises ballot %d\n", m, b) }
}

#ifndef TWIN_QUORUM_OF_A_FIRST_ROSTER
#define is_enough(nodes, set) includes(nodes, set)
#else
#define is_enough(nodes, set) (count(nodes) > count(set) / 2)
#endif

/* Those that promised and did not tell it have disproved it. */
#ifndef TWIN_FIRST_ROSTER_DOES_NOT_BIND
#define binds(r) (B.largest[r] > 0 && includes(B.told[r], B.promises & members(r)))
#else
#define binds(r) false
#endif
#define largest_of(r) (binds(r) -> B.largest[r] : 0)

/* Only what is prepared at all of its members is finished, and by all of them. */
#if defined(TWIN_FINISHED_UNPREPARED)
#define is_ours(r) true
#elif defined(TWIN_FINISHED_BY_A_PART)
#define is_ours(r) includes(members(r), members(B.list))
#else
#define is_ours(r) includes(members(B.list), members(r))
#endif

#ifndef TWIN_FINISHED_BY_A_PART
#define asked members(B.roster)
#else
#define asked members(B.list)
#endif

/* The roster of the largest ballot that binds; or else the creator's own. */
inline propose(r) {
  d_step { B.roster == NONE && is_enough(B.promises, members(B.list)) && is_ours(r) &&
      (binds(r) || B.list == r) &&
      largest_of(r) >= largest_of(1) && largest_of(r) >= largest_of(2) &&
      (LISTS < 3 || largest_of(r) >= largest_of(LISTS)) ->
    B.roster = r;
    B.promises = 0;
    for (other : 1 .. LISTS) {
      B.told[other] = 0;
      B.largest[other] = 0
    }
    other = 0;
    printf("ballot %d, by list %d, proposes the roster of list %d\n", b, B.list, r) }
}

inline accept() {
  d_step { B.roster != NONE && N.accepted != b && has(asked, m) && N.promised <= b ->
    N.promised = b;
    N.accepted = b;
    printf("node %d accepts the roster of list %d, of ballot %d\n", m, B.roster, b);
    if
    :: is_chosen[B.roster]
    :: else ->
       B.acceptances = B.acceptances | bit(m);
       if
       :: is_enough(B.acceptances, asked) ->
          printf("the roster of list %d is chosen\n", B.roster);
          is_chosen[B.roster] = true;
          B.acceptances = 0;
          for (other : 1 .. LISTS) {
            assert(other == B.roster || !is_chosen[other] ||
                   (members(other) & members(B.roster)) == 0)
          }
          other = 0
       :: else
       fi
    fi }
}

proctype Acceptor(byte b; byte m) {
  byte other, r;
end:
  do
  :: prepare()
  :: accept()
  od
}

proctype Creator(byte b) {
  byte other;
end:
  do
  :: propose(1)
  :: propose(2)
#if LISTS > 2
  :: propose(3)
#endif
  od
}

init {
  byte b, m;
  atomic {
    for (b : 1 .. BALLOTS) {
      if
      :: B.list = 1
      :: B.list = 2
#if LISTS > 2
      :: B.list = 3
#endif
      fi;
      for (m : 0 .. NODES - 1) { run Acceptor(b, m) }
      run Creator(b)
    }
    b = 0;
    m = 0
  }
}
