#!/usr/bin/env bash
# Compares, run by run, what two builds of whorl make of the same worlds: of every scenario, and of
# hunted worlds of every protocol. Compared are the rolling hash over all events and observations,
# and the verdict on every invariant.
#
# Usage: bench/worlds.sh OLD NEW [--runs N] [--verdicts]
#
#   --runs N    so many hunted worlds of every protocol (default: 100,000)
#   --verdicts  hashes may differ: for a change that gives events of one instant another order
#
# Exit codes: 0 the same; 1 a run differs; 2 bad usage, or OLD cannot be compared; 3 a build of
# whorl could not run.
set -euo pipefail
readonly root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
readonly differs=1 usage_error=2 cannot_run=3
readonly usage="usage: bench/worlds.sh OLD NEW [--runs N] [--verdicts]"

fail() {  # fail CODE MESSAGE
  echo "worlds: ${*:2}" >&2
  exit "$1"
}

readonly old="${1:?$usage}" new="${2:?$usage}"
shift 2
runs=100000 compared="hash and verdicts"
while (($#)); do
  case "$1" in
    --runs)
      [[ "${2:-}" =~ ^[1-9][0-9]{0,8}$ ]] || fail "$usage_error" "--runs wants a number from 1"
      runs="$2"
      shift
      ;;
    --verdicts) compared="verdicts" ;;
    *) fail "$usage_error" "unknown argument $1; $usage" ;;
  esac
  shift
done

[[ -n "$("$new" hunt --help | grep -e --digests)" ]] ||
  fail "$usage_error" "$new has no hunt --digests, by which runs are compared"
[[ -n "$("$old" hunt --help | grep -e --digests)" ]] ||
  fail "$usage_error" "$old has no hunt --digests, by which runs are compared; take a revision" \
    "that has it, or cherry-pick the commit that brought it onto the older one"

scratch="$(mktemp -d)"
readonly scratch
trap 'rm -rf "$scratch"' EXIT

run_whorl() {  # run_whorl WHORL ARGUMENTS...: 1 is an expectation that failed, which is fine
  local code=0
  "$@" >"$scratch/said" 2>"$scratch/complained" || code=$?
  ((code <= 1)) && return
  cat "$scratch/complained" >&2
  fail "$cannot_run" "code $code of: $*"
}

# A line "PATH HASH:VERDICTS" for each scenario, a letter for each verdict.
scenarios_of() {  # scenarios_of WHORL
  local code=0
  # One that this build cannot read is left out, and makes the code 2.
  (cd "$root" && "$1" replay --json scenarios) >"$scratch/said" 2>"$scratch/complained" || code=$?
  ((code <= 2)) || fail "$cannot_run" "code $code of: $1 replay --json scenarios"
  awk -F'"' '
    function flush() { if (hash != "") print path, hash ":" verdicts; hash = verdicts = "" }
    $2 == "path" { flush(); path = $4 }
    $2 == "hash" { hash = $4 }
    $2 == "verdict" && hash != "" { verdicts = verdicts ($4 == "n/a" ? "-" : substr($4, 1, 1)) }
    END { flush() }' "$scratch/said"
}

# A line "RUN HASH:VERDICTS" for each hunted run.
hunted_by() {  # hunted_by WHORL PROTOCOL
  run_whorl "$1" hunt --protocol "$2" --promised --runs "$runs" --digests "$scratch/digests"
  awk '{ for (i = 2; i <= NF; ++i) print $1 + i - 2, $i }' "$scratch/digests"
}

# Prints a row of the table and what differs first, and returns 1 if anything does. Both files are
# in the same order; those that one of them lacks are counted apart.
compare() {  # compare NAME OLD_FILE NEW_FILE COMMAND_OF_OLD COMMAND_OF_NEW: KEY stands for the run
  awk -v name="$1" -v compared="$compared" -v was="$4" -v is="$5" '
    function tell(what, run, by_old, by_new) {
      gsub("KEY", run, by_old); gsub("KEY", run, by_new)
      printf "  %s: %s\n", what, run
      printf "    old %s  %s\n    new %s  %s\n", old[run], by_old, now[run], by_new
    }
    NR == FNR { old[$1] = $2; ++olds; next }
    !($1 in old) { ++added; next }
    {
      ++both
      split(old[$1], before, ":"); split($2, after, ":")
      hash = before[1] != after[1]; verdict = before[2] != after[2]
      hashes += hash; verdicts += verdict
      now[$1] = $2
      if (first == "" && (verdict || (hash && compared != "verdicts"))) first = $1
      if (of_verdicts == "" && verdict) of_verdicts = $1
    }
    END {
      printf "%-24s %9d %13d %16d\n", name, both, hashes, verdicts
      if (added > 0) printf "  left out: %d that only the new build reads\n", added
      if (olds > both) printf "  DIFFERS: %d that only the old build reads\n", olds - both
      if (first != "") tell("first", first, was, is)
      if (of_verdicts != "" && of_verdicts != first) tell("first with another verdict", of_verdicts, was, is)
      exit first != "" || olds > both || both == 0
    }' "$2" "$3"
}

code=0
printf '%-24s %9s %13s %16s\n' worlds compared "hashes differ" "verdicts differ"
scenarios_of "$old" >"$scratch/old"
scenarios_of "$new" >"$scratch/new"
compare scenarios "$scratch/old" "$scratch/new" "$old replay KEY" "$new replay KEY" || code=$differs

"$old" protocols | sed '/^ /d' | sort >"$scratch/protocols_of_old"
for protocol in $("$new" protocols | sed '/^ /d'); do
  if ! grep -qxF "$protocol" "$scratch/protocols_of_old"; then
    echo "$protocol: left out, the old build does not have it"
    continue
  fi
  hunted_by "$old" "$protocol" >"$scratch/old"
  hunted_by "$new" "$protocol" >"$scratch/new"
  show="hunt --protocol $protocol --show KEY"
  compare "$protocol" "$scratch/old" "$scratch/new" "$old $show | $old replay -" \
    "$new $show | $new replay -" || code=$differs
done
for protocol in $(cat "$scratch/protocols_of_old"); do
  "$new" protocols | grep -qxF "$protocol" && continue
  echo "$protocol: DIFFERS, the new build does not have it"
  code=$differs
done

if ((code == 0)); then
  echo "the same $compared in every run"
else
  echo "not the same $compared"
fi
exit "$code"
