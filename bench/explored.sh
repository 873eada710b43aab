#!/usr/bin/env bash
# The rows of docs/EXPLORING.md that tell how large a space is, made anew. A row is
#
#   | `OPTIONS` | states | transitions | seconds | MiB |
#
# and means `whorl explore OPTIONS --constants grid --promised --jobs 1`, to its end; where OPTIONS say
# which constants, they are those. Seconds are those of the processor, as of any program beside which others
# run.
set -euo pipefail

readonly usage="Usage: explored.sh WHORL [--check] [--up-to STATES] [--memory SIZE] [--shard I/N]

Without --check: prints each row as it is today. With it: compares states and transitions with the
page, and ends with 1 if one differs. --up-to: leaves out rows whose space had more states by the
page. --memory: at most so much for one search (default: 8G). --shard: every N-th row, from the I-th on; or auto,
or auto/N, by the variables of the engine that it runs on, as of whorl hunt. The rows of all shards are those of
the page. Run it in the project's folder."

TIMEFORMAT=%1U  # of `time`
readonly page=docs/EXPLORING.md

fail() {  # fail CODE TEXT
  echo "explored.sh: $2" >&2
  exit "$1"
}

whorl="${1:-}"
[[ "$whorl" != --help ]] || { echo "$usage" && exit 0; }
[[ -x "$whorl" ]] || { echo "$usage" >&2 && exit 2; }
shift
check=false
up_to=""
memory=8G
shard=1/1
while (($# > 0)); do
  case "$1" in
    --check) check=true ;;
    --up-to | --memory | --shard)
      (($# > 1)) || fail 2 "$1 wants a value"
      case "$1" in
        --up-to) up_to="$2" ;;
        --memory) memory="$2" ;;
        --shard) shard="$2" ;;
      esac
      shift
      ;;
    *) fail 2 "unknown option $1" ;;
  esac
  shift
done
[[ "$up_to" =~ ^[0-9]*$ ]] || fail 2 "--up-to wants a number of states, and got $up_to"
[[ -f "$page" ]] || fail 2 "there is no $page here; run it in the project's folder"

# Whorl knows the engines.
if [[ "$shard" == auto* ]]; then
  said="$("$whorl" hunt --protocol spindle_v2 --runs 1 --shard "$shard" --exit-code-found 0 2>&1 >/dev/null)" ||
    fail 2 "$said"
  echo "explored.sh: $(head -n 1 <<<"$said")" >&2
  shard="$(sed -nE '1s/^.*shard ([0-9]+\/[0-9]+).*$/\1/p' <<<"$said")"
fi
[[ "$shard" =~ ^([1-9][0-9]{0,5})/([1-9][0-9]{0,5})$ && ${BASH_REMATCH[1]} -le ${BASH_REMATCH[2]} ]] ||
  fail 2 "--shard wants I/N, with I from 1 to N, auto or auto/N; and got $shard"
readonly first="${BASH_REMATCH[1]}" shards="${BASH_REMATCH[2]}"

scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT

# With commas between the thousands, as the page has them.
with_commas() { sed -E ':a; s/^([0-9]+)([0-9]{3})/\1,\2/; ta' <<<"$1"; }
number_in() { grep -oE "\"$1\": ?[0-9.]+" "$2" | head -n 1 | grep -oE '[0-9.]+$'; }

rows=0
made=0
differing=0
while IFS='|' read -r _ options states transitions _; do
  options="$(sed -E 's/^ `//; s/` *$//' <<<"$options")"
  states="${states//[, ]/}"
  transitions="${transitions//[, ]/}"
  [[ -z "$up_to" ]] || ((states <= up_to)) || continue
  rows=$((rows + 1))
  ((rows % shards == first % shards)) || continue
  made=$((made + 1))
  code=0
  constants="--constants grid"
  [[ "$options" != *--constants* ]] || constants=""
  # shellcheck disable=SC2086
  {
    time "$whorl" explore $options $constants --promised --jobs 1 --memory "$memory" \
      --out "$scratch/report" >"$scratch/text" 2>"$scratch/end" || code=$?
  } 2>"$scratch/seconds"
  # 1: something was violated, which the page would have to say; 3: it did not end.
  ((code == 0)) || fail 1 "whorl explore $options ended with $code: $(cat "$scratch"/{text,end})"
  new_states="$(number_in states "$scratch/report")"
  new_transitions="$(number_in transitions "$scratch/report")"
  if [[ "$check" == false ]]; then
    mebibytes="$(sed -nE 's/.*, at most ([0-9,]+) MiB.*/\1/p' "$scratch/end")"
    echo "| \`$options\` | $(with_commas "$new_states") | $(with_commas "$new_transitions") |" \
      "$(tail -n 1 "$scratch/seconds") | $mebibytes |"
  elif [[ "$new_states $new_transitions" != "$states $transitions" ]]; then
    echo "explored.sh: $options: $page says $states states and $transitions transitions, and there" \
      "are $new_states and $new_transitions" >&2
    differing=$((differing + 1))
  fi
done < <(grep '^| `--protocol ' "$page")
((rows > 0)) || fail 1 "$page has no such row"
[[ "$check" == false ]] || echo "$made rows, $differing of them differ"
((differing == 0))
