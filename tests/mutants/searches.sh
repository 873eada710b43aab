#!/usr/bin/env bash
# Compares searches by how many runs, and how many seconds of one core, they take to catch mutants, and to find
# what a protocol does not promise: prints a table of medians over seeds, a row for each mutant or finding and
# each search. A seed that caught nothing counts with all its runs.
#
# Usage: tests/mutants/searches.sh FOLDER SEEDS RUNS WHAT...
#   WHAT    a mutant, or PROTOCOL/INVARIANT, a violation that the code as it is shows
#   FOLDER  where the hunters lie, such as build/tests/mutants
#   SEEDS   how many seeds for each; RUNS at most, of each seed
# In the environment: SEARCHES, some of them only.
set -euo pipefail
readonly folder="${1:?the folder of the hunters}" seeds="${2:?how many seeds}" runs="${3:?how many runs}"
shift 3

# The `# Options:` of a mutant's file, but for those that say how many runs.
options_of() {
  sed -n 's/^# Options: //p' "$(dirname "${BASH_SOURCE[0]}")/$1.diff" | sed 's/--runs [0-9]*//'
}

readonly csv="$(mktemp)"
trap 'rm -f "$csv"' EXIT

# The options of the hunter, which is named first; which mutant it hunts, WHORL_MUTANT says.
command_for() {
  if [[ "$1" == */* ]]; then
    echo "mutant_hunter --protocol ${1%/*} --invariant ${1#*/} --findings"
  elif [[ "$1" == model_* ]]; then
    echo "mutant_model_hunter $(options_of "$1" | xargs)"
  elif [[ "$1" == world_* ]]; then
    echo "mutant_world_hunter $(options_of "$1" | xargs)"
  else
    echo "mutant_hunter $(options_of "$1" | xargs)"
  fi
}

echo '| mutant | search | caught | runs | seconds |'
echo '|---|---|---|---|---|'
for mutant in "$@"; do
  export WHORL_MUTANT=none
  [[ "$mutant" == */* ]] || WHORL_MUTANT="$mutant"
  for search in ${SEARCHES:-uniform swarm priorities guided}; do
    : >"$csv"
    # 1: not caught with every seed, which the row says.
    # shellcheck disable=SC2046
    "$folder/"$(command_for "$mutant") --search "$search" --seeds "$seeds" \
      --runs "$runs" --shrink 0 --csv "$csv" >/dev/null 2>&1 || [[ $? == 1 ]]
    awk -F, -v mutant="$mutant" -v search_by="$search" '
      # Insertion sort: there are few.
      function insert(list, n, x,  i) {
        for (i = n; i > 1 && list[i - 1] > x; --i) list[i] = list[i - 1]
        list[i] = x
      }
      { insert(run, NR, $4 + 0); insert(time, NR, $6 + 0); caught += $5 }
      END {
        middle = int((NR + 1) / 2)
        printf "| `%s` | %s | %d of %d | %d | %.2f |\n", mutant, search_by, caught, NR, run[middle],
               time[middle] / 1e6
      }' "$csv"
  done
done
