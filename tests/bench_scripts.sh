#!/usr/bin/env bash
# The scripts behind `./dev bench` notice what they are there to notice: a hash, a verdict or a run
# that differs between two builds, a build that cannot be compared, and a machine that was busy. And the table of
# bench/explored.sh is shared out whole.
#
# Usage: bench_scripts.sh WHORL, in the project's folder.
set -euo pipefail
readonly whorl="$1"
scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT
failures=0

expect() {  # expect WHAT TEXT: a line of $said has the text
  if ! grep --quiet --fixed-strings -- "$2" <<<"$said"; then
    printf 'FAILED: %s: expected "%s" in:\n%s\n' "$1" "$2" "$said"
    failures=$((failures + 1))
  fi
}

worlds() {  # worlds CODE ARGUMENTS...: leaves its output in $said
  local code=0 expected="$1"
  shift
  said="$(bench/worlds.sh "$@" 2>&1)" || code=$?
  if ((code != expected)); then
    printf 'FAILED: worlds.sh %s: code %s, expected %s:\n%s\n' "$*" "$code" "$expected" "$said"
    failures=$((failures + 1))
  fi
}

# A build that is as the true one, but for what SED does to its digests or its reports.
build_that() {  # build_that NAME SED_FOR_DIGESTS [SED_FOR_STDOUT]
  cat >"$scratch/$1" <<TEXT
#!/usr/bin/env bash
code=0
"$whorl" "\$@" | sed -e '${3:-}' || code=\${PIPESTATUS[0]}
for i in \$(seq \$#); do
  [[ "\${!i}" != --digests ]] || { next=\$((i + 1)); sed -i -e '$2' "\${!next}"; }
done
exit \$code
TEXT
  chmod +x "$scratch/$1"
}

worlds 0 "$whorl" "$whorl" --runs 130
expect "equal builds" "the same hash and verdicts in every run"
expect "equal builds" "fenced_lease                   130             0                0"

# The last run of all.
build_that other_hash 's/^\(100 .* \)[0-9a-f]*:\([^ ]*\)$/\1ffffffffffffffff:\2/'
worlds 1 "$whorl" "$scratch/other_hash" --runs 130
expect "another hash" "semaphore                      130             1                0"
expect "another hash" "first: 129"
expect "another hash" "hunt --protocol semaphore --show 129 | $whorl replay -"
worlds 0 "$whorl" "$scratch/other_hash" --runs 130 --verdicts
expect "another hash, verdicts compared" "the same verdicts in every run"

build_that other_verdict 's/^\(0 [^ ]* [^ ]*:\)h/\1v/'
worlds 1 "$whorl" "$scratch/other_verdict" --runs 20 --verdicts
expect "another verdict" "spindle_v3                      20             0                1"
expect "another verdict" "hunt --protocol spindle_v3 --show 1 |"

build_that hash_before_verdict 's/^\(0 \)[0-9a-f]*\(:[^ ]* [^ ]*:\)h/\1ffffffffffffffff\2v/'
worlds 1 "$whorl" "$scratch/hash_before_verdict" --runs 20
expect "a hash and a later verdict" "first: 0"
expect "a hash and a later verdict" "first with another verdict: 1"

build_that short 's/ [^ ]*$//'
worlds 1 "$whorl" "$scratch/short" --runs 20
expect "a run that is missing" "DIFFERS: 1 that only the old build reads"

build_that other_scenario '' \
  '/"path": "scenarios.fault_crash.json"/,/"hash"/s/"hash": "[^"]*"/"hash": "0"/'
worlds 1 "$whorl" "$scratch/other_scenario" --runs 1
expect "a scenario's hash" "first: scenarios/fault_crash.json"
expect "a scenario's hash" "$scratch/other_scenario replay scenarios/fault_crash.json"

build_that ancient '' '/--digests/d'
worlds 2 "$scratch/ancient" "$whorl"
expect "an old build" "take a revision that has it, or cherry-pick"
worlds 2 "$whorl" "$whorl" --runs 0
worlds 2 "$whorl" "$whorl" --rums 5

# shellcheck source=../bench/machine.sh
source bench/machine.sh
said="$(machine_text 2 unknown 0.10 0.20 10 1050 1000 100)"
expect "a quiet machine" "other processes used 0.05 cores"
if [[ "$said" == *BUSY* ]]; then expect "a quiet machine" "no word of BUSY"; fi
said="$(machine_text 2 unknown 0.10 0.20 10 1150 1000 100)"
expect "a busy machine" "0.15 cores; BUSY: quote no times, only ratios and instruction counts"
# What it measures itself is not what others used.
machine_begins
awk 'BEGIN { for (i = 0; i < 1e7; ++i) s += i }'
own="$(awk -v before="$_us_before" -v now="$(_ticks_of_us)" 'BEGIN { print (now > before) }')"
machine_ends
said="$own $machine_line"
expect "its own time" "1 machine: "

# Rows of a table are searched by several machines: each by one of them. Seconds and MiB are the machine's.
rows_of() { bench/explored.sh "$whorl" --up-to 600 "$@" | cut -d '|' -f 1-4 | LC_ALL=C sort; }
whole="$(rows_of)"
said="$({ rows_of --shard 1/2; JOB_COMPLETION_INDEX=1 rows_of --shard auto/2 2>"$scratch/taken"; } | LC_ALL=C sort)"
[[ "$(wc -l <<<"$whole")" -gt 2 && "$said" == "$whole" && -n "$(rows_of --shard 2/2)" ]] || {
  printf 'FAILED: rows of two shards: expected\n%s\nin\n%s\n' "$whole" "$said"
  failures=$((failures + 1))
}
said="$(cat "$scratch/taken")"
expect "the engine" "explored.sh: shard 2/2, by Kubernetes, JOB_COMPLETION_INDEX=1"
for shard in 3/2 0/2 1 auto; do
  code=0
  said="$(bench/explored.sh "$whorl" --up-to 600 --shard "$shard" 2>&1)" || code=$?
  ((code == 2)) || said="ended with $code"
  expect "no shard: $shard" "--shard"
done

((failures == 0)) && echo "all as expected"
exit $((failures > 0))
