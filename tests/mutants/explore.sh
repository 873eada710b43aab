#!/usr/bin/env bash
# Explores a mutant: is there, within bounds, a run that breaks a promise? Prints a row of a table: what
# was broken with how many faults and steps, or that all states were visited, and what that took, in seconds of
# the processor.
#
#   tests/mutants/explore.sh MUTANT OPTIONS OF whorl explore...
#   tests/mutants/explore.sh create_believes_at_once --protocol fenced_lease --constants grid --deletes 1
#   tests/mutants/explore.sh --check    compares what was found and the states of each row of docs/EXPLORING.md
#
# Builds the command with all mutants in it in build/, which takes minutes the first time.
set -euo pipefail

if (($# < 2)) && [[ "$*" != --check ]]; then
  sed -n '2,/^$/{/^set/d;s/^# \{0,1\}//p}' "$0" >&2
  exit 2
fi
root="$(cd "$(dirname "$0")/../.." && pwd)"
readonly root page=docs/EXPLORING.md
scratch="$(mktemp -d)"
readonly scratch
trap 'rm -rf "$scratch"' EXIT

# What was found, the states and the seconds: three cells of a row.
cells() {  # cells MUTANT OPTIONS...
  local mutant="$1" code=0 found states TIMEFORMAT=%1U  # of `time`
  shift
  if [[ ! -e "$root/tests/mutants/$mutant.diff" ]]; then
    echo "there is no tests/mutants/$mutant.diff; ls tests/mutants lists the mutants" >&2
    return 2
  fi
  {
    time WHORL_MUTANT="$mutant" "$root/build/tests/mutants/mutant_command" explore "$@" \
      --promised --first --accept-incomplete --jobs 1 >"$scratch/said" 2>"$scratch/took" || code=$?
  } 2>"$scratch/seconds"
  # 3 is also that of a violation which the exact replay does not confirm.
  if ((code > 1)) && ! grep -q '^not confirmed: ' "$scratch/said"; then
    cat "$scratch/said" "$scratch/took" >&2
    return "$code"
  fi
  found="$(sed -n 's/^violated: \([a-z_]*\) (promised), /`\1`, /p;s/^not confirmed: \([a-z_]*\) (promised), /not confirmed: `\1`, /p' "$scratch/said" | paste -sd ';' | sed 's/;/; /g')"
  states="$(sed -n 's/^\([0-9,]*\) states, .*/\1/p' "$scratch/took")"
  echo "${found:-nothing: $(sed -n '1s/:.*//p' "$scratch/said")} | $states | $(tail -n 1 "$scratch/seconds") |"
}

cmake --build "$root/build" --target mutant_command >&2
if [[ "$1" != --check ]]; then
  row="$(cells "$@")"
  echo "| \`$1\` | \`${*:2}\` | $row"
  exit
fi

rows=0
differing=0
while IFS='|' read -r _ mutant bounds found states _; do
  rows=$((rows + 1))
  mutant="$(tr -d ' `' <<<"$mutant")"
  bounds="$(sed -E 's/^ `?//; s/`? $//; s/^no fault$//' <<<"$bounds")"
  # shellcheck disable=SC2086
  now="$(cells "$mutant" --protocol fenced_lease --constants grid $bounds </dev/null)"
  [[ " ${now%|*|}|" != "$found|$states|" ]] || continue
  echo "$page: $mutant $bounds:$found|$states; today: $now" >&2
  differing=$((differing + 1))
done < <(sed -n '/^| mutant | bounds | found |/,/^$/p' "$root/$page" | tail -n +3 | sed '/^$/d')
((rows > 0)) || { echo "$page has no row of a mutant" >&2 && exit 1; }
echo "$rows rows, $differing of them differ"
((differing == 0))
