#!/usr/bin/env bash
# The original spindle, as examples/foreign/spindle_go has it, comes to the verdicts of its port in a
# few scenarios on whorl's own server.
#
# Usage: spindle_go.sh [long] TREE, in the project's folder. They take as long as the scenarios say: the short
# ones 90 s, the others, with `long`, two minutes. Exit codes: 0 all went as it should; 1 something did
# not; 77 there is no Go, or its modules cannot be had.
set -euo pipefail

scenarios=(s1_insert_loser_takes_over s4b_late_update_takes_live_lease)
if [[ "$1" == long ]]; then
  scenarios=(s4_token_goes_back s10_partitioned_leader_is_not_told w1_lock_holder_is_never_told)
  shift
fi
scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT

skip() {
  echo "SKIPPED: $*"
  exit 77
}

command -v go >/dev/null || skip "no Go, with which the original spindle is built"
(cd examples/foreign/spindle_go && timeout 300 go mod download 2>"$scratch/log") ||
  skip "the modules of spindle cannot be had: $(tail -n 1 "$scratch/log")"
(cd examples/foreign/spindle_go && go vet . && go build -o "$scratch/spindle" .)
files=("${scenarios[@]/#/scenarios/}")
"$1/whorl" replay --on server --program "$scratch/spindle" --jobs 4 "${files[@]/%/.json}"
# And spindle's own tests pass there.
ddl="$(cd examples/foreign/spindle_go && go list -m -f '{{.Dir}}' github.com/flowerinthenight/spindle/v2)/testdata/emuddl.sql"
(cd examples/foreign/spindle_go &&
  "$1/whorl" serve --ddl "$ddl" \
    --database projects/test-project/instances/test-instance/databases/testdb -- \
    go test -count=1 github.com/flowerinthenight/spindle/v2)
