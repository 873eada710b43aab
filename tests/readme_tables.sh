#!/usr/bin/env bash
# What README.md shows of long runs is what they print: below each line
#
#   <!-- Printed by build/whorl ARGUMENTS -->
#
# stands its output, as a table up to the next empty line or in a ```text block; and a file that it
# writes by --plot is the one of that name here.
#
# Usage: readme_tables.sh WHORL, in the project's folder.
set -euo pipefail

whorl="$(realpath "$1")"
project="$PWD"
scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT
ln -s "$project/scenarios" "$scratch/scenarios"
mkdir "$scratch/docs"

shown_below() {  # shown_below LINE_NUMBER
  tail --lines="+$(($1 + 1))" "$project/README.md" | awk '
    NR == 1 && /^```text$/ { fenced = 1; next }
    fenced ? /^```$/ : /^$/ { exit }
    { print }'
}

failed=0
complain() {
  echo "$*"
  failed=1
}

check() {  # check LINE_NUMBER ARGUMENTS...
  local line="$1" code=0 printed plot
  shift
  # 1 is what a hunt ends with that has found something.
  printed="$(cd "$scratch" && "$whorl" "$@")" || code=$?
  ((code <= 1)) || complain "whorl $* ended with code $code"
  diff <(shown_below "$line") <(echo "$printed") ||
    complain "README.md:$line shows something else (<) than build/whorl $* prints (>)"
  plot="$(sed -n 's/.*--plot \([^ ]*\).*/\1/p' <<<"$*")"
  [[ -z "$plot" ]] || cmp "$project/$plot" "$scratch/$plot" ||
    complain "$plot is not what build/whorl $* draws"
}

commands="$(sed -n '/^<!-- Printed by build\/whorl .* -->$/{=;s/^<!-- Printed by build\/whorl \(.*\) -->$/\1/p}' \
  README.md)"
[[ -n "$commands" ]] || complain "README.md has no line <!-- Printed by build/whorl ... -->"
while read -r line && read -r -a arguments; do
  check "$line" "${arguments[@]}"
done <<<"$commands"
exit "$failed"
