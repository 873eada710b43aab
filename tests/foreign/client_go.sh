#!/usr/bin/env bash
# Plays cases.json by Go's official client on the official emulator and on `whorl serve`, and compares
# the outcomes. They differ in the cases of known_differences.txt, and in no others.
#
# Usage: client_go.sh TREE, in the project's folder. Exit codes: 0 as it should be; 1 it is not; 77 there
# is no Go, its modules cannot be had, or there is no emulator.
set -euo pipefail

scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT

skip() {
  echo "SKIPPED: $*"
  exit 77
}

readonly here=tests/foreign
readonly database=projects/foreign/instances/foreign/databases/foreign
command -v go >/dev/null || skip "no Go, with which the cases are built"
(cd "$here/go" && timeout 300 go mod download 2>"$scratch/log") ||
  skip "the modules of Go's client cannot be had: $(tail -n 1 "$scratch/log")"
(cd "$here/go" && go vet . && go build -o "$scratch/cases" .)

"$1/tests/whorl_with_database" --emulator -- "$scratch/cases" "$here/cases.json" "$database" \
  >"$scratch/emulator" || { (($? != 77)) || skip "no emulator to compare with"; exit 1; }
"$1/whorl" serve --database "${database%/*}/seed" -- \
  "$scratch/cases" "$here/cases.json" "$database" >"$scratch/whorl"

# A line is "CASE: OUTCOMES".
differing="$({ diff "$scratch/emulator" "$scratch/whorl" || true; } |
  sed -n 's/^< \([a-z_0-9]*\):.*/\1/p' | sort)"
known="$(sed -n 's/^\([a-z_0-9]*\)  .*/\1/p' "$here/known_differences.txt" | sort)"
if [[ "$differing" != "$known" ]]; then
  echo "differences (<) and known differences (>):"
  diff <(echo "$differing") <(echo "$known") || true
  echo "outcomes on the emulator (<) and on whorl's server (>):"
  diff "$scratch/emulator" "$scratch/whorl" || true
  exit 1
fi
echo "$(wc -l <"$scratch/whorl") cases, $(echo "$known" | wc -l) of them known to differ"
