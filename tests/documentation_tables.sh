#!/usr/bin/env bash
# What README.md and docs/*.md show of long runs is what they print: below each line
#
#   <!-- Printed by build/whorl ARGUMENTS -->
#
# stands its output, as a table up to the next empty line or in a ```text block. A page named in `for page`
# below that has lost its last such line is an error.
#
# Usage: documentation_tables.sh WHORL, in the project's folder.
set -euo pipefail

whorl="$(realpath "$1")"
project="$PWD"
scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT
ln -s "$project/scenarios" "$scratch/scenarios"

shown_below() {  # shown_below PAGE LINE_NUMBER
  tail --lines="+$(($2 + 1))" "$project/$1" | awk '
    NR == 1 && /^```text$/ { fenced = 1; next }
    fenced ? /^```$/ : /^$/ { exit }
    { print }'
}

failed=0
complain() {
  echo "$*"
  failed=1
}

# Links to scenarios, as they are from the page's folder.
as_seen_from() {  # as_seen_from PAGE
  if [[ "$1" == docs/* ]]; then sed 's:](scenarios/:](../scenarios/:g'; else cat; fi
}

check() {  # check PAGE LINE_NUMBER ARGUMENTS...
  local page="$1" line="$2" code=0 printed
  shift 2
  # 1 is what a hunt ends with that has found a broken promise.
  printed="$(cd "$scratch" && "$whorl" "$@")" || code=$?
  ((code <= 1)) || complain "whorl $* ended with code $code"
  diff <(shown_below "$page" "$line") <(as_seen_from "$page" <<<"$printed") ||
    complain "$page:$line shows something else (<) than build/whorl $* prints (>)"
}

commands_of() {  # commands_of PAGE: number of a line, then its arguments, in turn
  sed -n '/^<!-- Printed by build\/whorl .* -->$/{=;s/^<!-- Printed by build\/whorl \(.*\) -->$/\1/p}' \
    "$1"
}

for page in docs/HUNTING.md docs/MEASURED.md; do
  [[ -n "$(commands_of "$page")" ]] ||
    complain "$page has no line <!-- Printed by build/whorl ... -->"
done
for page in README.md docs/*.md; do
  while read -r line && read -r -a arguments; do
    check "$page" "$line" "${arguments[@]}"
  done < <(commands_of "$page")
done
exit "$failed"
