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

# What the template is compared with: the same, but that it believes for two leases.
export BEFORE="$scratch/before"
cp -r examples/own_protocol "$BEFORE"
sed -i 's|return config.lease - .*;|return config.lease * 2;|' "$BEFORE/simple_lease.cc"
cmp --quiet {examples/own_protocol,"$BEFORE"}/simple_lease.cc && fail "the template's other revision is the same"

# The page's commands, which install from build/: that is this tree.
commands="$(sed -n '/^```sh$/,/^```$/{/^```/d;p}' protocol/ADDING.md)"
[[ "$commands" == "cmake --install build "* ]] || fail "protocol/ADDING.md shows no installation"
bash -euxo pipefail -c "${commands/--install build /--install \"$tree\" }" |
  tee "$scratch/output" || fail "a command of protocol/ADDING.md failed"

# Silence of a hunter that did not hunt, or of checkers that did not judge, would pass, too.
for said in '^100% tests passed, 0 tests failed out of 3' '^simple_lease' \
  '^3 scenarios: 3 as expected' 'single_leader_belief (expected)' \
  '^2,000 runs: 0 promises broken; exit code 0' \
  '^first: simple_lease_before, second: simple_lease; 300 worlds' \
  '^broken by simple_lease_before only: .*single_leader_belief' \
  '^broken by simple_lease only: nothing'; do
  grep --quiet -e "$said" "$scratch/output" || fail "nothing says: $said"
done

# Beyond its assumptions it has to break.
code=0
"$OWN/own_whorl" hunt --protocol simple_lease --runs 100 --seed 1 --beyond-assumptions \
  --invariant single_leader_belief >"$scratch/beyond" || code=$?
((code == 1)) || fail "hunting beyond the assumptions ended with $code: $(cat "$scratch/beyond")"

# Every schedule within bounds, and one message lost: it closes, and nothing promised breaks.
"$OWN/own_whorl" explore --protocol simple_lease --constants grid --losses 1 --promised \
  >"$scratch/explored" || fail "exploring ended with $?: $(cat "$scratch/explored")"
grep --quiet '^complete: simple_lease, 2 equal processes, at most 1 lost message, grid constants' \
  "$scratch/explored" || fail "the search did not close: $(cat "$scratch/explored")"
grep --quiet '^holds: .*single_leader_belief' "$scratch/explored" ||
  fail "the search judged no belief: $(cat "$scratch/explored")"

# What is installed names no folder of the tree that it came from.
if grep --recursive --fixed-strings --files-with-matches -e "$PWD" -e "$tree" \
  "$PREFIX/include" "$PREFIX/lib/cmake"; then
  fail "these files name the folder that they were installed from"
fi
