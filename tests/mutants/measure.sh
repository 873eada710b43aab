#!/usr/bin/env bash
# Measures what finds the mutants that name a user's harm (`# Harm:`), and prints a table: a row for each protocol as
# it is, in which nothing may be found, and one for each mutant. Each is hunted with one seed until a promise breaks.
# One that hunting does not find is looked for by the bounds of `# Explored:`, if its file names any; then by whether
# a rate moves: `whorl hunt --baseline` compares it with the code as it is, on the same worlds, in 500 runs, 2,000 and
# RUNS; `# Moves:` names a rate that has to be among them. Then come the tests of `# Caught by:`, with the reason why no
# judge sees it in `# No judge:`. One that nothing finds says why, in `# Not caught:`.
#
# Usage: tests/mutants/measure.sh FOLDER [RUNS [MUTANT...]]
#   FOLDER  where the hunters lie, such as build/tests/mutants
#   RUNS    at most, of each hunt (default: 10000); 0 hunts and compares nothing
#   MUTANT  some of them only; `none` is the protocols as they are
# Exit codes: 0; 1 when the protocols as they are have a finding, or what a file says of its mutant is not so.
set -euo pipefail
folder="$(cd "${1:?the folder of the hunters}" && pwd)"
root="$(cd "$(dirname "$0")/../.." && pwd)"
readonly folder root runs="${2:-10000}"
shift $(($# < 2 ? $# : 2))
cd "$root"  # tests find their files from here

# What stands behind `# WORD: ` at the head of a mutant's file.
line_of() { sed -n "s/^# $2: //p" "tests/mutants/$1.diff" | paste -sd ' '; }
path_of() { sed -n 's/^@@ //p' "tests/mutants/$1.diff" | sort -u | paste -sd ' ' | sed 's/ /, /g'; }

scratch="$(mktemp -d)"
readonly scratch
trap 'rm -rf "$scratch"' EXIT

wrong=0
complain() {
  echo "$1" >&2
  wrong=1
}

# Hunts, with these options of the hunter; sets `broken`, `hunted` (runs) and `seconds`.
hunt() {
  local hunter="$1" name="$2" row
  shift 2
  row="$(WHORL_MUTANT="$name" "$folder/$hunter" "$@" --runs "$runs" --seeds 1 --shrink 0 2>/dev/null)" ||
    [[ $? == 1 ]]  # nothing was found, which the row says
  broken="$(awk -F' [|] ' '{ gsub(/ [0-9]+/, "", $2); print $2 }' <<<"$row")"
  hunted="$(awk -F' [|] ' '{ sub(/, at most.*/, "", $4); print $4 }' <<<"$row")"
  seconds="$(awk -F' [|] ' '{ sub(/, at most.*/, "", $5); print $5 }' <<<"$row")"
}

hunter_of() {
  case "$1" in
  model_*) echo mutant_model_hunter ;;
  world_*) echo mutant_world_hunter ;;
  *) echo mutant_hunter ;;
  esac
}

# The command with the mutant in it.
whorl_of() {
  case "$1" in
  model_* | world_*) echo "mutant_${1%%_*}_whorl" ;;
  *) echo mutant_protocol_whorl ;;
  esac
}

# Records what the runs of a protocol do as it is; prints the file.
baseline() {  # baseline PROTOCOL RUNS
  local file="$scratch/$1.$2.jsonl"
  [[ -e "$file" ]] || WHORL_MUTANT=none "$folder/mutant_protocol_whorl" hunt --protocol "$1" --runs "$2" --jobs 1 \
    --save-baseline "$file" >/dev/null 2>&1
  echo "$file"
}

# What the mutant moves beyond chance, with both rates: the row of the table that its file names, or the first one.
# Sets `moved`, empty if nothing does, and `hunted` and `seconds`.
compare_rates() {
  local name="$1" protocol count file code wanted TIMEFORMAT=%U
  protocol="$(line_of "$name" Options | sed -n 's/.*--protocol \([a-z0-9_]*\).*/\1/p')"
  wanted="$(line_of "$name" Moves)"
  moved=''
  for count in 500 2000 "$runs"; do
    ((count <= runs)) || continue
    file="$(baseline "${protocol:-fenced_lease}" "$count")"
    code=0
    {
      time WHORL_MUTANT="$name" "$folder/$(whorl_of "$name")" hunt --baseline "$file" --jobs 1 \
        >"$scratch/said" 2>/dev/null || code=$?
    } 2>"$scratch/seconds"
    ((code <= 1)) || complain "$name: comparing $count runs ended with $code"
    hunted="$(sed ':a;s/\B[0-9]\{3\}\>/,&/;ta' <<<"$count")" seconds="$(cat "$scratch/seconds")"
    # NAME, DIRECTION, BEFORE, NOW and more, with two spaces or more between them.
    moved="$(sed -n '/^moved  /,/^the world of /{/  /p}' "$scratch/said" | sed 1d | grep -E -m 1 "^$wanted" |
      awk -F'  +' '{ printf "%s %s: %s, and %s as it was", $1, $2, $4, $3 }' || true)"
    [[ "$moved" == '' ]] || return 0
  done
  [[ "$wanted" == '' ]] || complain "$name does not show: $wanted"
}

# A row of the mutant by what is not a hunt for broken promises.
look_elsewhere() {
  local name="$1" explored tests row moved=''
  explored="$(line_of "$name" Explored)"
  tests="$(line_of "$name" 'Caught by')"
  if [[ "$explored" != "" ]]; then
    # shellcheck disable=SC2086
    row="$(tests/mutants/explore.sh "$name" $explored 2>/dev/null)"
    [[ "$row" != *'| nothing'* ]] || complain "$name: exploring $explored finds nothing"
    found="\`explore $explored\`: $(awk -F' [|] ' '{ print $3 }' <<<"$row")"
    count="$(awk -F' [|] ' '{ print $4 " states" }' <<<"$row")"
    took="$(awk -F' [|] ' '{ sub(/ [|]$/, "", $5); print $5 }' <<<"$row")"
    return
  fi
  ((runs == 0)) || compare_rates "$name"
  if [[ "$moved" != '' ]]; then
    found="rates: $moved" count="$hunted" took="$seconds"
    [[ "$(line_of "$name" 'Not caught')" == '' ]] ||
      complain "$name moves a rate, and its file says that nothing shows it"
  elif [[ "$tests" != "" ]]; then
    if WHORL_MUTANT="$name" "$folder/mutant_tests" --gtest_brief=1 --gtest_fail_fast \
      --gtest_filter="$tests" >/dev/null 2>&1; then
      complain "$name: the tests $tests pass"
    fi
    [[ "$why" != "" ]] || complain "$name: only tests find it, and its file does not say why"
    found="tests: \`$tests\`. $why" count="$hunted" took="$seconds"
  elif [[ "$why" != "" ]]; then
    found="nothing: $why" count="$hunted" took="$seconds"
  else
    complain "$name: nothing finds it, and its file does not say why"
    found='nothing' count="$hunted" took="$seconds"
  fi
}

readonly protocols='fenced_lease lease_lock semaphore spindle_v2 spindle_v3'
names=("$@")
if ((${#names[@]} == 0)); then
  mapfile -t names < <(grep -l '^# Harm: ' tests/mutants/*.diff | xargs -n 1 basename -s .diff)
  names=(none "${names[@]}")
fi

echo '| mutant | where | harm | found by | runs | seconds |'
echo '|---|---|---|---|---|---|'
for name in "${names[@]}"; do
  if [[ "$name" == none ]]; then
    for protocol in $protocols; do
      hunt mutant_hunter none --protocol "$protocol"
      [[ "$broken" == nothing ]] || complain "$protocol as it is breaks a promise: $broken"
      echo "| none | \`$protocol\` as it is | | $broken | $hunted | $seconds |"
    done
    continue
  fi
  broken=nothing hunted='' seconds=''
  # shellcheck disable=SC2046
  if ((runs > 0)); then
    hunt "$(hunter_of "$name")" "$name" $(line_of "$name" Options | sed 's/--runs [0-9]*//')
  fi
  why="$(line_of "$name" 'No judge')$(line_of "$name" 'Not caught')"
  if [[ "$broken" == nothing ]]; then
    look_elsewhere "$name"
  else
    found="hunt: $broken" count="$hunted" took="$seconds"
    [[ "$why" == "" ]] || complain "$name is found, and its file says that it is not"
  fi
  echo "| \`$name\` | \`$(path_of "$name")\` | $(line_of "$name" Harm) | $found | $count | $took |"
done
exit "$wrong"
