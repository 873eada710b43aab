#!/usr/bin/env bash
# The table of protocols and invariants in README.md is what the command in the comment above it
# prints.
#
# Usage: readme_table.sh WHORL, in the project's folder.
set -euo pipefail

command="$(sed -n 's/^<!-- Printed by build\/whorl \(.*\) -->$/\1/p' README.md)"
if [[ -z "$command" ]]; then
  echo "README.md has no line <!-- Printed by build/whorl ... -->"
  exit 1
fi
read -r -a arguments <<<"$command"

# 1 is what a hunt ends with that has found something.
code=0
printed="$("$1" "${arguments[@]}")" || code=$?
if ((code > 1)); then
  echo "whorl $command ended with code $code"
  exit 1
fi
shown="$(sed -n '/^<!-- Printed by build/,/^$/p' README.md | sed '1d;/^$/d')"
if ! diff <(echo "$shown") <(echo "$printed"); then
  echo "README.md shows another table (<) than build/whorl $command prints (>)"
  exit 1
fi
