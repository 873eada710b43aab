#!/usr/bin/env bash
# The search of sim/explore/engine/ beside SPIN, on the same system: the toy lease L1 of
# tests/sim/explore/toy_lease.h and of toy_lease.pml. Both have to count the same states and
# transitions. They run in turns, so that both meet the same load, and their seconds of CPU are
# compared.
set -euo pipefail

readonly usage="Usage: explore_against_spin.sh SEARCH [--end N] [--tokens N] [--rounds N]

SEARCH is build/bench/whorl_toy_lease_search. L1 goes to tick 10 with 7 tokens (3.8 million states)
unless --end and --tokens say otherwise; 14 and 9 are 50 million. --rounds: how often (default: 3).
Needs spin and gcc."

fail() {  # fail CODE TEXT
  echo "explore_against_spin.sh: $2" >&2
  exit "$1"
}

end=10
tokens=7
rounds=3
search="${1:-}"
[[ "$search" != --help ]] || { echo "$usage" && exit 0; }
[[ -x "$search" ]] || { echo "$usage" >&2 && exit 2; }
shift
while (($# > 0)); do
  [[ "${2:-}" =~ ^[1-9][0-9]?$ ]] || fail 2 "$1 wants a number from 1 to 99"
  case "$1" in
    --end) end="$2" ;;
    --tokens) tokens="$2" ;;
    --rounds) rounds="$2" ;;
    *) fail 2 "unknown option $1" ;;
  esac
  shift 2
done
for tool in spin gcc; do
  command -v "$tool" >/dev/null || fail 3 "there is no $tool (Debian package $tool)"
done

system="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/toy_lease.pml"
search="$(realpath "$search")"
scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

# Without what this system does not need: fairness, cycles, and the reduction, which finds nothing
# here to leave out and takes 8 bytes a state.
spin -a "-DEND=$end" "-DTOKENS=$tokens" "$system" >/dev/null
gcc -O2 -DSAFETY -DNOFAIR -DNOREDUCE -o pan pan.c

read -r states transitions _ < <("$search" "$end" "$tokens" 1)
# As many places in SPIN's table as states, rounded up to a power of two.
places=10
while ((1 << places < states)); do places=$((places + 1)); done

TIMEFORMAT='%U %S'
run_spin() {  # prints: states transitions CPU bytes
  local cpu
  cpu="$({ time ./pan -m100000 -n "-w$places" >spin.out; } 2>&1)"
  ! grep -q -e 'errors: [1-9]' -e 'max search depth too small' spin.out ||
    fail 1 "SPIN found an error, or not all states"
  # Its first transition is the start, and it prints eight digits.
  awk -v cpu="$cpu" -v ours="$transitions" '/states, stored/ { states = $1 }
    /transitions \(=/ { transitions = $1 - 1 }
    /total actual memory/ { megabytes = $1 }
    END { if (sprintf("%.8g", transitions + 1) == sprintf("%.8g", ours + 1)) transitions = ours
          split(cpu, part, " ")
          printf "%.0f %.0f %.2f %.0f\n", states, transitions, part[1] + part[2],
                 megabytes * 1048576 }' spin.out
}

line() {  # line NAME STATES TRANSITIONS CPU BYTES REFERENCE
  awk -v name="$1" -v s="$2" -v t="$3" -v cpu="$4" -v bytes="$5" -v reference="$6" 'BEGIN {
    printf "%-18s %11d %12d %9.2f %14.2f %14.1f %9.2f\n", name, s, t, cpu, s / cpu / 1e6, bytes / s,
           reference / cpu }'
}

printf '%-18s %11s %12s %9s %14s %14s %9s\n' "L1 to $end, $tokens tokens" states transitions 'CPU s' \
  'M states/CPU s' 'bytes a state' 'to SPIN'
for ((round = 1; round <= rounds; ++round)); do
  read -r spin_states spin_transitions spin_cpu spin_bytes < <(run_spin)
  [[ "$spin_states $spin_transitions" == "$states $transitions" ]] ||
    fail 1 "SPIN counts $spin_states states and $spin_transitions transitions, and whorl $states and $transitions"
  line SPIN "$states" "$transitions" "$spin_cpu" "$spin_bytes" "$spin_cpu"
  for threads in 1 2; do
    read -r _ _ cpu _ _ bytes < <("$search" "$end" "$tokens" "$threads")
    line "whorl, $threads thread$([[ $threads == 1 ]] || echo s)" "$states" "$transitions" "$cpu" \
      "$bytes" "$spin_cpu"
  done
done
