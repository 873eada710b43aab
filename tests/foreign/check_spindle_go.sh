#!/usr/bin/env bash
# Real histories: processes of the original spindle (v2) are paused and killed, and `whorl check` judges what
# happened: from the table alone, with their logs, and with what who killed them says. On whorl's own server by
# the versions of the table's rows, on the official emulator by its change stream.
#
# Usage: check_spindle_go.sh server|emulator TREE, in the project's folder. Exit codes: 0 all went as it should;
# 1 something did not; 77 there is no Go, or its modules or the emulator cannot be had.
set -euo pipefail

readonly backend="$1" whorl="$2/whorl"
readonly database=projects/whorl/instances/whorl/databases/whorl
readonly lease_ms=2000
scratch="$(mktemp -d)"
server=""
declare -A pods=()

finish() {
  [[ -z "${stdin:-}" ]] || exec {stdin}>&-
  exec 2>/dev/null  # or each process that is killed is reported
  for pod in "${pods[@]}" $server; do
    kill -KILL "$pod" 2>/dev/null || true
  done
  rm -rf "$scratch"
}
trap finish EXIT

skip() {
  echo "SKIPPED: $*"
  exit 77
}
fail() {
  echo "FAILED: $*" >&2
  cat "$scratch"/*.verdict "$scratch"/*.err >&2 2>/dev/null || true
  exit 1
}

if ! command -v go >/dev/null && [[ -x /usr/local/go/bin/go ]]; then PATH=$PATH:/usr/local/go/bin; fi
command -v go >/dev/null || skip "no Go, with which the original spindle is built"
(cd examples/foreign/spindle_go && timeout 300 go mod download 2>"$scratch/log") ||
  skip "the modules of spindle cannot be had: $(tail -n 1 "$scratch/log")"
(cd examples/foreign/spindle_go && go build -o "$scratch/spindle" .)

# --- a server with the table ---------------------------------------------------------------------

export WHORL_DATABASE="$database"
if [[ "$backend" == server ]]; then
  "$whorl" serve >"$scratch/server" 2>"$scratch/server.err" &
  server=$!
  for _ in {1..100}; do
    [[ -s "$scratch/server" ]] && break
    sleep 0.1
  done
  export "$(head -n 1 "$scratch/server")"
  "$whorl" lock init --protocol spindle_v2 >/dev/null
  readonly history=(--database "$database" --from 5m)
else
  beside_gcloud="$(dirname "$(realpath "$(command -v gcloud || echo /)")")/cloud_spanner_emulator/emulator_main"
  emulator="${SPANNER_EMULATOR:-$(command -v emulator_main || echo "$beside_gcloud")}"
  [[ -x "$emulator" ]] || skip "no Cloud Spanner emulator (\$SPANNER_EMULATOR, or emulator_main on PATH)"
  port="$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')"
  "$emulator" --host_port "127.0.0.1:$port" >"$scratch/server" 2>"$scratch/server.err" &
  server=$!
  export SPANNER_EMULATOR_HOST="127.0.0.1:$port"
  for _ in {1..100}; do
    "$whorl" lock init --protocol spindle_v2 --create-database --stream >"$scratch/init" 2>&1 && break
    sleep 0.1
  done
  grep -q "change stream locktable_changes" "$scratch/init" || fail "$(cat "$scratch/init")"
  readonly history=(--stream locktable_changes)
fi

# --- processes, and what they say with the time at which they said it -------------------------------

run() {  # run ID: a process that takes part in the lock job
  mkfifo "$scratch/$1.in"
  WHORL_ID="$1" WHORL_TABLE=locktable WHORL_LOCKS='["job"]' WHORL_LEASE_MS="$lease_ms" \
    "$scratch/spindle" <"$scratch/$1.in" 2>"$scratch/$1.log" \
    > >(while IFS= read -r line; do
      at="$(date -u +%Y-%m-%dT%H:%M:%S.%6NZ)"
      case "$line" in
        *'"leads"'*) event=leads ;;
        *'"leads_not"'*) event=leads_not ;;
        *) event=goes_on ;;
      esac
      echo "{\"event\":\"$event\",\"id\":\"$1\",\"lock\":\"job\",\"time\":\"$at\"}"
    done >"$scratch/$1.jsonl") &
  pods[$1]=$!
  exec {stdin}>"$scratch/$1.in"
  for _ in {1..200}; do
    [[ -s "$scratch/$1.jsonl" ]] && break
    sleep 0.05
  done
  echo '{"do":"start","lock":"job"}' >&"$stdin"
}

await() {  # await FILE TEXT: until a line of it has the text
  for _ in {1..300}; do
    grep -q "$2" "$1" 2>/dev/null && return
    sleep 0.1
  done
  fail "$1 has no \"$2\" after half a minute"
}

run pod-a
await "$scratch/pod-a.jsonl" '"leads"'
run pod-b
sleep 3
kill -STOP "${pods[pod-a]}"  # for longer than the lease: the other one takes over
await "$scratch/pod-b.jsonl" '"leads"'
sleep 1
kill -CONT "${pods[pod-a]}"
sleep 5
kill -KILL "${pods[pod-b]}"
wait "${pods[pod-b]}" 2>/dev/null || true
unset "pods[pod-b]"
echo "{\"event\":\"ended\",\"id\":\"pod-b\",\"by\":\"this script\",\"time\":\"$(date -u +%FT%T.%6NZ)\"}" \
  >"$scratch/supervisor.jsonl"
run pod-c
sleep 8

# --- the verdicts --------------------------------------------------------------------------------

judge() {  # judge NAME CODE ARGUMENTS..
  local code=0 name="$1" expected="$2"
  shift 2
  "$whorl" check "${history[@]}" "$@" --protocol spindle_v2 --lease "${lease_ms}ms" \
    >"$scratch/$name.verdict" 2>"$scratch/$name.err" || code=$?
  [[ "$code" =~ ^($expected)$ ]] || fail "$name: code $code, expected $expected"
}
expect() {  # expect NAME PATTERN
  grep -Eq "$2" "$scratch/$1.verdict" || fail "$1: no line like \"$2\""
}

# Who sent the heartbeats of spindle is not in the table, so how long a lease lasted is not certain.
judge table 0
expect table '^holds +token_monotonic'
expect table '^(holds|possible) +lease_respected'
expect table '^unknown +single_leader_belief'
expect table '^grants [3-9].*takeovers [2-9]'
expect table 'gaps 0'
# The paused process believed that it still led.
judge logs 1 "$scratch"/pod-*.jsonl --clock-error 20ms
expect logs '^violated +single_leader_belief'
expect logs 'pod-b believed that it leads lock "job" while pod-a did'
# Without a word of its end, pod-b may have believed so beside whoever led after it.
beliefs() {  # beliefs NAME: how many overlaps of beliefs are possible
  python3 -c "import json, sys
print(json.load(open(sys.argv[1]))['invariants']['single_leader_belief']['possible'])" "$scratch/$1.verdict"
}
judge killed 1 "$scratch"/pod-*.jsonl --clock-error 20ms --json
judge ended 1 "$scratch"/pod-*.jsonl "$scratch/supervisor.jsonl" --clock-error 20ms --json
(($(beliefs ended) < $(beliefs killed))) ||
  fail "possible overlaps: $(beliefs killed), and $(beliefs ended) with the end of pod-b"
# Spindle's own log shows whole seconds only.
judge own_logs "0|1" "$scratch"/pod-*.log --pattern spindle_v2 --lock job --clock-error 20ms
expect own_logs '^(violated|possible) +single_leader_belief'
echo "$backend: $(grep '^row changes' "$scratch/logs.verdict")"
grep -A1 -E '^(holds|violated|possible)' "$scratch/logs.verdict"
