/* L1 for SPIN: the system of tests/sim/explore/toy_lease.h, action by action. END is the last tick,
   TOKENS how many leases are given. Each action is one step, which also checks what has to hold:
   that is faster than a never claim. */

#define CLIENTS 3
#define LEASE 3

#define IDLE 0
#define HOLDING 1
#define PAUSED 2
#define DOWN 3

byte now;
byte holder = CLIENTS; /* nobody */
byte token;
byte expiry;
byte stored;

byte mode[CLIENTS];
byte own_token[CLIENTS];
byte own_expiry[CLIENTS];

#define is_free (holder == CLIENTS || now >= expiry)
#define has_lease(i) (holder == i && own_token[i] == token)
#define believes(i) (mode[i] == HOLDING && now < own_expiry[i])
#define check \
  assert(believes(0) + believes(1) + believes(2) <= 1 && stored <= token)
#define forget(i) own_token[i] = 0; own_expiry[i] = 0

#define acquire(i) \
  d_step { mode[i] == IDLE && is_free && token < TOKENS -> \
    holder = i; token++; expiry = now + LEASE; \
    mode[i] = HOLDING; own_token[i] = token; own_expiry[i] = expiry; check }
#define renew(i) \
  d_step { mode[i] == HOLDING && has_lease(i) && now < expiry && expiry != now + LEASE -> \
    expiry = now + LEASE; own_expiry[i] = expiry; check }
#define see_end(i) \
  d_step { mode[i] == HOLDING && now >= own_expiry[i] -> mode[i] = IDLE; forget(i); check }
#define release(i) \
  d_step { mode[i] == HOLDING && now < own_expiry[i] -> \
    if :: has_lease(i) -> holder = CLIENTS; expiry = 0 :: else fi; \
    mode[i] = IDLE; forget(i); check }
#define pause(i) d_step { mode[i] == HOLDING -> mode[i] = PAUSED; check }
#define resume(i) d_step { mode[i] == PAUSED -> mode[i] = HOLDING; check }
#define crash(i) d_step { mode[i] != DOWN -> mode[i] = DOWN; forget(i); check }
#define restart(i) d_step { mode[i] == DOWN -> mode[i] = IDLE; check }
#define write(i) \
  d_step { mode[i] == HOLDING && own_token[i] > stored -> stored = own_token[i]; check }

#define actions_of(i) \
  :: acquire(i) :: renew(i) :: see_end(i) :: release(i) :: pause(i) :: resume(i) \
  :: crash(i) :: restart(i) :: write(i)

active proctype system() {
end:
  do
  :: d_step { now < END -> now++; check }
  actions_of(0)
  actions_of(1)
  actions_of(2)
  od
}
