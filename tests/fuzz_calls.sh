#!/usr/bin/env bash
# Sends drawn calls to the server of the sanitizers' tree: tests/fuzz/calls/fuzz_calls.cc.
#
# Usage: fuzz_calls.sh PROGRAM [OPTIONS...], in any folder; $WHORL_OTHER_TREE is the sanitizers' tree, build-asan/
# beside the sources if it is not set. Exit codes: those of the program; 77 that tree is not built.
set -euo pipefail

tree="${WHORL_OTHER_TREE:-$(dirname "$0")/../build-asan}"
server="$tree/tests/whorl_fuzz_server"
if [[ ! -x "$server" ]]; then
  echo "there is no $server: ./dev build asan makes it" >&2
  exit 77
fi
# A crash is reported by the sanitizer, and not handled by anything else.
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:handle_abort=1" UBSAN_OPTIONS="print_stacktrace=1"
exec "$1" --whorl "$server" "${@:2}"
