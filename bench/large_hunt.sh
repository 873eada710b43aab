#!/usr/bin/env bash
# One large hunt twice: in one piece, and as shards whose workers are killed (SIGKILL) at random moments and go
# on from their checkpoints. The merged reports have to be the hunt in one piece, byte for byte. Prints what
# both took, as a table: docs/HUNTING.md has one.
#
# Usage: bench/large_hunt.sh WHORL RUNS SHARDS [OPTION...]
#   WHORL   the command, such as build/whorl
#   OPTION  of whorl hunt: what to hunt (default: --protocol fenced_lease --promised)
# In the environment: JOBS (default: one for each core) workers or threads at a time; SEED (default 1) of the
# moments; LONGEST (default 40) seconds until a worker is killed, at most; PRICE (default 0.05) of a core for an
# hour, in dollars; WORK, a folder to work in and to go on in (default: a temporary one, which is removed).
# Exit codes: 0 equal; 1 not; 2 bad usage; 3 a worker could not run.
set -euo pipefail

if (($# < 3)); then
  sed -n '2,/^set/{/^#/s/^# \?//p}' "$0" >&2
  exit 2
fi
WHORL="$(realpath "$1")"
readonly WHORL runs="$2" shards="$3"
shift 3
(($#)) || set -- --protocol fenced_lease --promised
readonly -a hunt=(hunt --runs "$runs" "$@")
readonly jobs="${JOBS:-$(nproc)}" longest="${LONGEST:-40}" price="${PRICE:-0.05}"
RANDOM="${SEED:-1}"
if [[ -n "${WORK:-}" ]]; then
  mkdir -p "$WORK"
  work="$(realpath "$WORK")"
else
  work="$(mktemp -d)"
  trap 'rm -rf "$work"' EXIT
fi
cd "$work"

# Sets `cpu` to user and system time of the children that have ended, the killed ones among them, and `wall` to
# the time; both in hundredths of a second. No subshell: it would have no children.
read_times() {
  times >times.txt
  cpu="$(awk 'END { for (i = 1; i <= 2; ++i) { split($i, part, /[ms]/); sum += part[1] * 60 + part[2] }
                    printf "%d", sum * 100 }' times.txt)"
  wall=$((${EPOCHREALTIME/./} / 10000))
}

begin_row() {
  read_times
  cpu_before="$cpu" wall_before="$wall"
}

end_row() {  # end_row WHAT
  read_times
  awk -v what="$1" -v runs="$runs" -v cpu="$((cpu - cpu_before))" -v wall="$((wall - wall_before))" \
    -v price="$price" 'BEGIN {
      cpu /= 100; wall /= 100
      printf "| %s | %d | %.0f | %.0f | %.2f | %d | %.3f |\n", what, runs, wall, cpu, cpu / runs * 1000,
             runs / cpu * 3600, cpu / runs * 1e6 / 3600 * price
    }'
}

echo "| hunt | runs | seconds | CPU seconds | CPU ms a run | runs an hour, one core | \$ for 1,000,000 runs |"
echo '|---|---|---|---|---|---|---|'

if [[ ! -e whole.jsonl ]]; then
  begin_row
  "$WHORL" "${hunt[@]}" --jobs "$jobs" --exit-code-found 0 --out whole.jsonl >whole.txt 2>whole.log || exit 3
  end_row "in one piece, $jobs threads"
fi

# --- shards ------------------------------------------------------------------------------------------

declare -A shard_of=()   # by pid of the worker
declare -A dies_at=()    # by pid: when, in seconds of this shell
declare -a waiting=()
kills=0
for ((shard = 1; shard <= shards; ++shard)); do
  [[ -e $shard.jsonl ]] || waiting+=("$shard")
done

begin() {  # begin SHARD
  "$WHORL" "${hunt[@]}" --jobs 1 --shard "$1/$shards" --exit-code-found 0 --checkpoint "$1.hunt" \
    --out "$1.jsonl" >"$1.txt" 2>>"$1.log" &
  shard_of[$!]="$1"
  dies_at[$!]=$((SECONDS + 1 + RANDOM % longest))
}

# Kills the workers whose moment has come.
preempt() {
  local pid
  for pid in "${!shard_of[@]}"; do
    ((SECONDS >= dies_at[$pid])) || continue
    kill -KILL "$pid" 2>/dev/null || true
  done
}

# The shard of a worker that was killed waits for another one, behind the others.
take_in() {  # take_in PID: of a worker that has ended
  local code=0 shard="${shard_of[$1]}"
  wait "$1" || code=$?
  unset "shard_of[$1]" "dies_at[$1]"
  if ((code == 137)); then
    kills=$((kills + 1))
    waiting+=("$shard")
  elif ((code != 0)); then
    tail -n 3 "$shard.log" >&3
    exit 3
  fi
}

begin_row
while ((${#waiting[@]} + ${#shard_of[@]} > 0)); do
  while ((${#shard_of[@]} < jobs && ${#waiting[@]} > 0)); do
    begin "${waiting[0]}"
    waiting=("${waiting[@]:1}")
  done
  sleep 0.2
  preempt
  for pid in "${!shard_of[@]}"; do
    kill -0 "$pid" 2>/dev/null || take_in "$pid"
  done
done 3>&2 2>shell.log  # bash tells of each worker that was killed
end_row "$shards shards, $jobs at a time, killed $kills times"

"$WHORL" hunt --merge ./[0-9]*.jsonl --exit-code-found 0 --out sum.jsonl >sum.txt
if ! cmp whole.jsonl sum.jsonl || ! cmp whole.txt sum.txt; then
  echo 'FAILED: the shards do not add up to the hunt in one piece' >&2
  exit 1
fi
echo "equal: $(stat -c %s sum.jsonl) bytes"
