#!/usr/bin/env bash
# A program outside of this repository is built with nothing but what `cmake --install` has put
# there, and takes a lock.
#
# Usage: real_lock.sh TREE COMPILER WITH_DATABASE, in the project's folder. Exit codes: 0 all went as
# it should; 1 something did not.
set -euo pipefail

export CXX="$2"
with_database="$3"

scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT

fail() {
  echo "real_lock.sh: $*" >&2
  exit 1
}

cmake --install "$1" --prefix "$scratch/installed" >"$scratch/log" || fail "$(cat "$scratch/log")"
cmake -S examples/real_lock -B "$scratch/built" -G Ninja \
  -DCMAKE_PREFIX_PATH="$scratch/installed" >"$scratch/log" 2>&1 || fail "$(cat "$scratch/log")"
cmake --build "$scratch/built" || fail "the example does not build"

database=projects/test-project/instances/test-instance/databases/locks
"$with_database" fenced_lease -- bash -c '
  "$0/installed/bin/whorl" lock init --database "$1" --ddl examples/real_lock/accounts.sql >&2 &&
    "$0/built/nightly" "$1"' "$scratch" "$database" |
  tee "$scratch/output" || fail "the example failed"
expected="leads
deposit 1 written
deposit 2 written
deposit 3 written
a write with an older token is refused"
[[ "$(cat "$scratch/output")" == "$expected" ]] || fail "it should have said: $expected"
