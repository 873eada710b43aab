#!/usr/bin/env bash
# Compares what 500 hunted runs of each protocol do, promised or not, with what tests/baselines/PROTOCOL.jsonl
# records of them (docs/HUNTING.md#what-did-my-change-move).
#
# Usage: tests/baselines.sh WHORL           compares
#        tests/baselines.sh WHORL --write   records all of them anew
# Exit codes: 0; 1 something moved beyond chance, or the worlds are drawn otherwise; 2 bad usage or a bad file.
set -euo pipefail
readonly whorl="${1:?the path of whorl}" mode="${2:-}"
root="$(cd "$(dirname "$0")/.." && pwd)"
readonly root runs=500
[[ "$mode" =~ ^(--write)?$ ]] || {
  sed -n 's/^# \{0,1\}//;2,/^Exit/p' "$0" >&2
  exit 2
}
scratch="$(mktemp -d)"
readonly scratch
trap 'rm -rf "$scratch"' EXIT

mapfile -t protocols < <("$whorl" protocols --json | sed -n 's/^      "name": "\([^"]*\)",$/\1/p')
wrong=0
for protocol in "${protocols[@]}"; do
  file="$root/tests/baselines/$protocol.jsonl"
  if [[ "$mode" == --write ]]; then
    "$whorl" hunt --protocol "$protocol" --runs "$runs" --save-baseline "$file" 2>/dev/null
    continue
  fi
  code=0
  "$whorl" hunt --baseline "$file" >"$scratch/said" 2>"$scratch/errors" || code=$?
  ((code <= 1)) || cat "$scratch/errors" >&2
  cat "$scratch/said"
  # Unpaired, far less would show.
  ! grep -q 'are drawn otherwise' "$scratch/said" || code=1
  ((wrong >= code)) || wrong=$code
done
((wrong == 0)) || cat >&2 <<TEXT
What moved stands above, each with a run that shows it. If the change is meant to move that, or draws other worlds,
say so in its commit, and record the runs anew:
  tests/baselines.sh build/whorl --write
Otherwise it is a defect of the change, though no promise may be broken.
TEXT
exit "$wrong"
