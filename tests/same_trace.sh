#!/usr/bin/env bash
# A run is its inputs: the trace of every scenario is the same, byte for byte, from two runs, over
# one and two jobs, and from the commands of two compilers. A difference is nondeterminism that
# would make every finding of this testbed unrepeatable.
#
# Usage: same_trace.sh COMMAND [FOLDER]; $WHORL_CLANG is the command of the other compiler.
# Exit codes: 0 the same; 1 a difference, or no trace; 77 $WHORL_CLANG is not set.
set -euo pipefail

command="$1"
scenarios="${2:-scenarios}"

if [[ -z "${WHORL_CLANG:-}" ]]; then
  echo "WHORL_CLANG is not set, so there is no second compiler's command to compare with"
  exit 77
fi

traces="$(mktemp -d)"
trap 'rm -rf "$traces"' EXIT

trace() {  # trace NAME COMMAND JOBS: writes the traces of all scenarios into $traces/NAME
  local code=0
  "$2" replay "$scenarios" --jobs "$3" --trace "$traces/$1" >/dev/null || code=$?
  # 1 is an expectation that failed, which is for other tests to tell.
  if ((code > 1)); then
    echo "$1: $2 replay ended with code $code"
    exit 1
  fi
}

first_difference() {  # first_difference FILE OTHER_FILE: the first line that differs, of both
  local line
  line="$(cmp "$1" "$2" 2>&1 | sed -n 's/.*line \([0-9]*\).*/\1/p' | head -n 1)"
  sed --separate --quiet "${line:-1}p" "$1" "$2" | cut -c 1-1000
}

compare() {  # compare NAME: prints what differs from the first traces, and fails if anything does
  local file other same=0
  if ! diff <(ls "$traces/first") <(ls "$traces/$1"); then
    echo "$1 has other traces than the first run"
    same=1
  fi
  for file in "$traces/first"/*.jsonl; do
    other="$traces/$1/${file##*/}"
    if [[ -f "$other" ]] && ! cmp --silent "$file" "$other"; then
      echo "${file##*/} of $1 differs from that of the first run, first in:"
      first_difference "$file" "$other"
      same=1
    fi
  done
  return "$same"
}

trace first "$command" 1
trace again "$command" 1
trace two_jobs "$command" 2
trace clang "$WHORL_CLANG" 1

count="$(find "$traces/first" -name '*.jsonl' -size +0 | wc -l)"
if ((count == 0)); then
  echo "no trace was written"
  exit 1
fi
code=0
for name in again two_jobs clang; do
  compare "$name" || code=1
done
if ((code == 0)); then
  echo "$count traces: the same from two runs, over 1 and 2 jobs, and from both commands"
fi
exit "$code"
