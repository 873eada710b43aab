#!/usr/bin/env bash
# A run is its inputs: it is the same from the commands of two compilers, from two processes, and
# over one and two jobs. A difference is nondeterminism that would make every finding of this testbed
# unrepeatable.
#
# Of every scenario, the reports of both trees are compared (they hold the hash over all events, the
# verdicts and the metrics, and the tests scenario.* leave them in TREE/scenario_reports/). Of the
# short ones, the traces are, byte for byte. Small spaces of docs/EXPLORING.md have their sizes from the other
# command, too.
#
# Usage: same_trace.sh TREE SHORT_SCENARIO..., in the project's folder; $WHORL_OTHER_TREE is the tree
# of the other compiler. Exit codes: 0 the same; 1 a difference, or nothing to compare; 77 $WHORL_OTHER_TREE is
# not set.
set -euo pipefail

readonly tree="$1" short=("${@:2}") other_tree="${WHORL_OTHER_TREE:-}"

if [[ -z "$other_tree" ]]; then
  echo "WHORL_OTHER_TREE is not set, so there is no second compiler's command to compare with"
  exit 77
fi

scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT

replay() {  # replay TREE ARGUMENTS...
  local code=0
  "$1/whorl" replay "${@:2}" >/dev/null || code=$?
  # 1 is an expectation that failed, which is for other tests to tell.
  if ((code > 1)); then
    echo "$1/whorl replay ${*:2} ended with code $code" >&2
    exit 1
  fi
}

# report TREE NAME: what a run says of itself, but for how long it took. One of a command that has
# been built again since then is made anew.
report() {
  local file="$1/scenario_reports/$2.json"
  if [[ ! "$file" -nt "$1/whorl" ]]; then
    mkdir -p "$1/scenario_reports"
    replay "$1" "scenarios/$2.json" --out "$file"
  fi
  grep --invert-match '"wall_seconds"' "$file"
}

show_difference() {  # show_difference NAME: the first event in which the runs of a scenario differ
  local file
  replay "$tree" "scenarios/$1.json" --trace "$scratch/a"
  replay "$other_tree" "scenarios/$1.json" --trace "$scratch/b"
  for file in "$scratch/a/$1".*.jsonl; do
    "$tree/whorl" diff "$file" "$scratch/b/${file##*/}" || true
  done
}

names=()
for file in scenarios/*.json; do
  name="$(basename "$file" .json)"
  [[ "$name" == *schema ]] || names+=("$name")
done

code=0
for name in "${names[@]}"; do
  report "$tree" "$name" >"$scratch/report"
  report "$other_tree" "$name" >"$scratch/other_report"
  if ! cmp --silent "$scratch/report" "$scratch/other_report"; then
    echo "$name: the reports of $tree and $other_tree differ"
    show_difference "$name"
    code=1
  fi
done

replay "$tree" "${short[@]}" --jobs 1 --trace "$scratch/first"
replay "$tree" "${short[@]}" --jobs 2 --trace "$scratch/two_jobs"
replay "$other_tree" "${short[@]}" --jobs 1 --trace "$scratch/other"
for run in two_jobs other; do
  diff --recursive --brief "$scratch/first" "$scratch/$run" || code=1
done
count="$(find "$scratch/first" -name '*.jsonl' -size +0 | wc -l)"
if ((count != ${#short[@]})); then
  echo "$count traces were written of ${#short[@]} scenarios"
  code=1
fi
# And so have spaces, whose sizes the page publishes; explored_spaces compares this tree's with it.
bench/explored.sh "$other_tree/whorl" --check --up-to 2000 || code=1
if ((code == 0)); then
  echo "${#names[@]} reports are the same from both commands, and $count traces byte for byte, which" \
    "are also those of two jobs"
fi
exit "$code"
