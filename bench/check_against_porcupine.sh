#!/usr/bin/env bash
# `whorl check` beside Porcupine, on the same histories of a lock: both judge whether tokens rise, and whether
# each answer to "do I have the lock?" was true at some instant between question and answer. They run in
# turns, so that both meet the same load.
set -euo pipefail

readonly usage="Usage: check_against_porcupine.sh WHORL [--limit SECONDS] [--clients N] [--lost N] [OPERATIONS..]

WHORL is build/whorl. Of whorl it is the seconds of the whole command, reading included; of Porcupine those of
its search alone. --limit: what Porcupine may take for one history (default: 60). --clients: that take the lock
in turn (default: 10). --lost: of so many of a thousand takeovers the taker never learns (default: 20).
OPERATIONS: sizes of histories (default: 1000 10000 100000 1000000). Needs Go, and its module proxy once."

fail() {  # fail CODE TEXT
  echo "check_against_porcupine.sh: $2" >&2
  exit "$1"
}

limit=60
clients=10
lost=20
sizes=()
whorl="${1:-}"
[[ "$whorl" != --help ]] || { echo "$usage" && exit 0; }
[[ -x "$whorl" ]] || { echo "$usage" >&2 && exit 2; }
shift
while (($# > 0)); do
  case "$1" in
    --limit | --clients | --lost)
      [[ "${2:-}" =~ ^[0-9]{1,6}$ ]] || fail 2 "$1 wants a number"
      declare "${1#--}=$2"
      shift 2
      ;;
    *)
      [[ "$1" =~ ^[1-9][0-9]{0,8}$ ]] || fail 2 "unknown option or size $1"
      sizes+=("$1")
      shift
      ;;
  esac
done
((${#sizes[@]} > 0)) || sizes=(1000 10000 100000 1000000)

if ! command -v go >/dev/null && [[ -x /usr/local/go/bin/go ]]; then PATH=$PATH:/usr/local/go/bin; fi
if ! command -v go >/dev/null; then
  echo "SKIPPED: there is no Go on PATH, so Porcupine cannot be built" >&2
  exit 77
fi
whorl="$(realpath "$whorl")"
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT
(cd "$here/porcupine" && go build -o "$scratch/porcupine_locks" .) ||
  fail 3 "Porcupine could not be built: its module is fetched by go, once"
cd "$scratch"

# What whorl says of the two together, as Porcupine says one thing.
verdict_of() {
  local words
  words="$(sed -nE 's/^([a-z]+) +(has_lock_truthful|handed_token_monotonic)( .*)?$/\1/p' "$1" | sort -u)"
  for word in violated unknown possible holds; do
    if grep -qx "$word" <<<"$words"; then echo "$word" && return; fi
  done
  echo "nothing"
}

echo "| operations | whorl check | s | Porcupine | s | ratio |"
echo "|---|---|---|---|---|---|"
for size in "${sizes[@]}"; do
  ./porcupine_locks write history.jsonl "$size" "$clients" "$lost"
  begin="$EPOCHREALTIME"
  code=0
  "$whorl" check history.jsonl --protocol fenced_lease --lease 1ms --window 1s >verdict.txt || code=$?
  ((code <= 1)) || fail 3 "whorl check ended with code $code"
  whorl_seconds="$(awk -v a="$begin" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.3f", b - a }')"
  # In a process of its own, which the machine may end for the memory it takes.
  said="$(./porcupine_locks check history.jsonl "$limit")" || said="$size killed -"
  read -r _ verdict seconds <<<"$said"
  if [[ "$verdict" == unknown ]]; then
    verdict="gave up after the limit"
    ratio="above $(awk -v a="$limit" -v b="$whorl_seconds" 'BEGIN { printf "%.0f", a / b }')"
  elif [[ "$verdict" == killed ]]; then
    ratio=-
  else
    ratio="$(awk -v a="$seconds" -v b="$whorl_seconds" 'BEGIN { printf "%.2f", a / b }')"
  fi
  echo "| $size | $(verdict_of verdict.txt) | $whorl_seconds | $verdict | $seconds | $ratio |"
done
