#!/usr/bin/env bash
# Applies every mutant of this folder to its sources, without compiling, and names all that do not
# apply.
set -euo pipefail
root="$(cd "$(dirname "$0")/../.." && pwd)"
readonly root
cd "$root/tests/mutants"

failed=0
for path in $(sed -n 's/^@@ //p' ./*.diff | sort -u); do
  awk -v path="$path" -v check=1 -f weave.awk "$root/$path" $(grep -l "^@@ $path\$" ./*.diff) ||
    failed=$((failed + 1))
done
mutants=(*.diff)
if ((failed > 0)); then
  echo "$failed sources have mutants that do not apply; they are named above" >&2
  exit 1
fi
echo "${#mutants[@]} mutants apply"
