#!/usr/bin/env bash
# Counts the instructions of whorl's workloads by callgrind, which gives the same figures on a busy
# machine and on a quiet one, and compares them with bench/instructions.csv.
#
# Usage: bench/instructions.sh WHORL           prints them, beside those of the file
#        bench/instructions.sh WHORL --check   fails where one is more than 5 % above it; 77 if it cannot tell
#        bench/instructions.sh WHORL --write   writes the file anew
#        bench/instructions.sh WHORL --csv     prints them as that file has them, and one workload
#                                              more: a takeover after a crash, lease 10 s
set -euo pipefail
readonly root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
readonly kept="$root/bench/instructions.csv"
readonly whorl="${1:?the path of whorl}" mode="${2:-}"
readonly skipped=77

if ! command -v valgrind >/dev/null; then
  echo "SKIPPED: no valgrind, which counts the instructions" >&2
  exit "$skipped"
fi
readonly compiler="g++ $(g++ -dumpfullversion)"
if [[ "$mode" == --check ]] && ! grep -qxF "# $compiler" "$kept"; then
  echo "SKIPPED: $kept is of another compiler than $compiler" >&2
  exit "$skipped"
fi
readonly scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT

# Instructions by part: "PART COUNT" in each line, and "all COUNT".
count() {  # count ARGUMENTS OF WHORL...
  valgrind --tool=callgrind --callgrind-out-file="$scratch/out" "$whorl" "$@" >"$scratch/said" 2>&1 || {
    cat "$scratch/said" >&2
    exit 1
  }
  callgrind_annotate --threshold=100 "$scratch/out" | awk '
    function part(name) {
      if (name ~ /ld-linux|\/elf\//) return "linking"
      if (name ~ /malloc|_int_free|:free|cfree|operator new|operator delete/) return "allocation"
      if (name ~ /whorl::(spindle_v2|spindle_v3|semaphore|lease_lock|fenced_lease)::/) return "protocol"
      if (name ~ /Runner|RetryPolicy|SessionPool/) return "client"
      if (name ~ /whorl::model::/) return "model"
      if (name ~ /Checkers|Ledger|RunJudge|JudgingSink|Fingerprint|MetricsCollector|Disturbances|whorl::sim::(NoWedge|Tall|Now::)/) return "judges"
      if (name ~ /whorl::sim::/) return "world"
      return "rest"
    }
    /^ *[0-9,]+ \(/ {
      number = $1; gsub(",", "", number)
      if (/PROGRAM TOTALS/) { print "all", number; next }
      sum[part($0)] += number
    }
    END { for (one in sum) printf "%s %d\n", one, sum[one] }'
}

# What one unit of a workload costs: two runs of different length, less what both have.
per_unit() {  # per_unit NAME UNITS SHORT LONG: the files that count() wrote
  awk -v name="$1" -v units="$2" 'NR == FNR { short[$1] = $2; next }
    { printf "%s,%s,%d\n", name, $1, ($2 - short[$1]) / units }' "$3" "$4" | sort
}

lasting() {  # lasting SCENARIO TIME: the scenario, cut to that time
  sed -e "s/\"duration\": \"[^\"]*\"/\"duration\": \"$2\"/" "$root/bench/$1" >"$scratch/$2.$1"
  echo "$scratch/$2.$1"
}

measure() {
  local -a takeover=(bench takeover --protocol fenced_lease --fault crash --lease 5s --jobs 1)
  count replay "$(lasting three_nodes_one_day.json 60s)" >"$scratch/short"
  count replay "$(lasting three_nodes_one_day.json 660s)" >"$scratch/long"
  per_unit "simulated second of three processes" 600 "$scratch/short" "$scratch/long"
  count replay "$(lasting hundred_nodes_one_day.json 30s)" >"$scratch/short"
  count replay "$(lasting hundred_nodes_one_day.json 90s)" >"$scratch/long"
  per_unit "simulated second of a hundred" 60 "$scratch/short" "$scratch/long"
  count hunt --protocol fenced_lease --promised --runs 20 --jobs 1 >"$scratch/short"
  count hunt --protocol fenced_lease --promised --runs 60 --jobs 1 >"$scratch/long"
  per_unit "hunted run" 40 "$scratch/short" "$scratch/long"
  count "${takeover[@]}" --runs 20 >"$scratch/short"
  count "${takeover[@]}" --runs 100 >"$scratch/long"
  per_unit "measured takeover" 80 "$scratch/short" "$scratch/long"
  count --version >"$scratch/long"
  echo "all 0" >"$scratch/short"
  per_unit "start" 1 "$scratch/short" "$scratch/long"
}

measure_table() {
  # Five protocols.
  count bench takeover --lease 10s --fault crash --jobs 1 --runs 10 >"$scratch/short"
  count bench takeover --lease 10s --fault crash --jobs 1 --runs 30 >"$scratch/long"
  per_unit "takeover after a crash" 100 "$scratch/short" "$scratch/long"
}

measure >"$scratch/now"
case "$mode" in
  --csv)
    cat "$scratch/now"
    measure_table
    ;;
  --write)
    { echo "# $compiler"; echo "# workload,part,instructions"; cat "$scratch/now"; } >"$kept"
    echo "wrote bench/instructions.csv"
    ;;
  "" | --check)
    awk -F, -v check="$mode" '
      /^#/ { next }
      NR == FNR { kept[$1, $2] = $3; next }
      FNR == 1 { printf "%-38s %-11s %12s %12s %7s\n", "instructions of a", "part", "kept", "now", "ratio" }
      {
        was = ($1, $2) in kept ? kept[$1, $2] : 0
        ratio = was > 0 ? sprintf("%.3f", $3 / was) : "-"
        printf "%-38s %-11s %12d %12d %7s\n", $1, $2, was, $3, ratio
        if ($2 == "all" && (was == 0 || $3 > was * 1.05)) { worse = worse "\n  " $1 }
      }
      END {
        if (check != "" && worse != "") {
          printf "more than 5 %% above bench/instructions.csv:%s\n", worse
          exit 1
        }
      }' "$kept" "$scratch/now"
    ;;
  *)
    echo "bench/instructions.sh does not know $mode" >&2
    exit 2
    ;;
esac
