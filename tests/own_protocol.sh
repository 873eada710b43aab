#!/usr/bin/env bash
# A protocol outside of this repository is built, replayed and hunted with nothing but what
# `cmake --install` has put there, by the very commands of protocol/ADDING.md.
#
# Usage: own_protocol.sh TREE COMPILER, in the project's folder. Exit codes: 0 all went as the page
# says; 1 something did not.
set -euo pipefail

tree="$(realpath "$1")"
readonly tree
export CXX="$2"

scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT
export PREFIX="$scratch/installed" OWN="$scratch/built"

fail() {
  echo "own_protocol.sh: $*" >&2
  exit 1
}

# What the templates are compared with: the same, but that simple_lease believes for two leases, and that
# row_lease takes a row before its end.
export BEFORE="$scratch/before"
cp -r examples/own_protocol "$BEFORE"
sed -i 's|return config.lease - .*;|return config.lease * 2;|' "$BEFORE/simple_lease.cc"
sed -i 's|owner IS NULL OR until < |owner IS NULL OR until IS NOT NULL OR until < |' "$BEFORE/row_lease.cc"
for machine in simple_lease row_lease; do
  cmp --quiet {examples/own_protocol,"$BEFORE"}/$machine.cc && fail "the other revision of $machine is the same"
done

# The page's commands, which install from build/: that is this tree. Its folders are those that are exported here.
commands="$(sed -n '/^```sh$/,/^```$/{/^```/d;p}' protocol/ADDING.md)"
[[ "$commands" == *$'\n'"cmake --install build "* ]] || fail "protocol/ADDING.md shows no installation"
bash -euxo pipefail -c "${commands/--install build /--install \"$tree\" }" |
  tee "$scratch/output" || fail "a command of protocol/ADDING.md failed"

# Silence of a hunter that did not hunt, or of checkers that did not judge, would pass, too.
for said in '^100% tests passed, 0 tests failed out of 5' '^simple_lease' '^row_lease' \
  '^8 scenarios: 8 as expected' '^ok  *clock_ahead_of_the_margin .*single_leader_belief (expected)' \
  '^ok  *row_lease_clock_ahead_of_the_margin .*single_leader_belief (expected)'; do
  grep --quiet -e "$said" "$scratch/output" || fail "nothing says: $said"
done
for machine in simple_lease row_lease; do
  for said in "^$machine: 0 promises broken in 2,000 runs" \
    "^first: ${machine}_before, second: $machine; 300 worlds" \
    "^broken by ${machine}_before only: .*single_leader_belief" \
    "^broken by $machine only: nothing"; do
    grep --quiet -e "$said" "$scratch/output" || fail "nothing says: $said"
  done
done

for machine in simple_lease row_lease; do
  # Beyond its assumptions it has to break.
  code=0
  "$OWN/own_whorl" hunt --protocol $machine --runs 100 --seed 1 --beyond-assumptions \
    --invariant single_leader_belief >"$scratch/beyond" || code=$?
  ((code == 1)) || fail "hunting $machine beyond the assumptions ended with $code: $(cat "$scratch/beyond")"

  # Every schedule within bounds, and one message lost: it closes, and nothing promised breaks.
  "$OWN/own_whorl" explore --protocol $machine --constants grid --losses 1 --promised \
    >"$scratch/explored" || fail "exploring $machine ended with $?: $(cat "$scratch/explored")"
  grep --quiet "^complete: $machine, 2 equal processes, at most 1 lost message, grid constants" \
    "$scratch/explored" || fail "the search did not close: $(cat "$scratch/explored")"
  grep --quiet '^holds: .*single_leader_belief' "$scratch/explored" ||
    fail "the search judged no belief: $(cat "$scratch/explored")"
done

# What is installed names no folder of the tree that it came from.
if grep --recursive --fixed-strings --files-with-matches -e "$PWD" -e "$tree" \
  "$PREFIX/include" "$PREFIX/lib/cmake"; then
  fail "these files name the folder that they were installed from"
fi
