#!/usr/bin/env bash
# Explores a mutant: is there, within bounds, a run that breaks a promise? Prints a row of a table: what
# was broken with how many faults and steps, or that all states were visited, and what that took, in seconds of
# the processor.
#
#   tests/mutants/explore.sh MUTANT OPTIONS OF whorl explore...
#   tests/mutants/explore.sh create_believes_at_once --protocol fenced_lease --constants grid --deletes 1
#
# Builds the command with all mutants in it in build/, which takes minutes the first time.
set -euo pipefail

if (($# < 2)); then
  sed -n '2,/^$/{/^set/d;s/^# \{0,1\}//p}' "$0" >&2
  exit 2
fi
root="$(cd "$(dirname "$0")/../.." && pwd)"
readonly root mutant="$1"
shift
if [[ ! -e "$root/tests/mutants/$mutant.diff" ]]; then
  echo "there is no tests/mutants/$mutant.diff; ls tests/mutants lists the mutants" >&2
  exit 2
fi
cmake --build "$root/build" --target mutant_command >&2
scratch="$(mktemp -d)"
readonly scratch
trap 'rm -rf "$scratch"' EXIT
code=0
TIMEFORMAT=%1U  # of `time`
{
  time WHORL_MUTANT="$mutant" "$root/build/tests/mutants/mutant_command" explore "$@" \
    --promised --first --accept-incomplete --jobs 1 >"$scratch/said" 2>"$scratch/took" || code=$?
} 2>"$scratch/seconds"
if ((code > 1)); then
  cat "$scratch/said" "$scratch/took" >&2
  exit "$code"
fi
found="$(sed -n 's/^violated: \([a-z_]*\) (promised), /`\1`, /p' "$scratch/said" | paste -sd ';' | sed 's/;/; /g')"
states="$(sed -n 's/^\([0-9,]*\) states, .*/\1/p' "$scratch/took")"
echo "| \`$mutant\` | \`$*\` | ${found:-nothing: $(sed -n '1s/:.*//p' "$scratch/said")} | $states |" \
  "$(tail -n 1 "$scratch/seconds") |"
