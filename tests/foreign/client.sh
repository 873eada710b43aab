#!/usr/bin/env bash
# Plays cases.json by Google's client of a language on the official emulator and on `whorl serve`, and
# compares the outcomes. They differ in the cases of known_differences.txt, and in no others.
#
# Usage: client.sh go|java|node|python TREE, in the project's folder. Exit codes: 0 as it should be; 1 it is
# not; 77 the language's tools or packages cannot be had, or there is no emulator.
set -euo pipefail

readonly language="$1" tree="$2"
readonly here=tests/foreign
readonly database=projects/foreign/instances/foreign/databases/foreign
scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT
on_emulator=()  # Settings of the client that it needs there, though not elsewhere.

skip() {
  echo "SKIPPED: $*"
  exit 77
}

need() {
  command -v "$1" >/dev/null || skip "no $1, which the cases need"
}

# Runs what brings the packages of the client.
get() {
  timeout 600 "$@" >"$scratch/log" 2>&1 ||
    skip "the packages of the client cannot be had: $(grep -v '^$' "$scratch/log" | tail -n 1)"
}

prepare_go() {
  need go
  get go -C "$here/go" mod download
  (cd "$here/go" && go vet . && go build -o "$scratch/cases" .)
  player=("$scratch/cases")
}

prepare_java() {
  need javac
  need mvn
  # Maven writes beside the file.
  cp "$here/java/pom.xml" "$scratch"
  get mvn -q -f "$scratch/pom.xml" org.apache.maven.plugins:maven-dependency-plugin:3.8.1:build-classpath \
    -Dmdep.outputFile="$scratch/classpath"
  javac -cp "$(cat "$scratch/classpath")" -d "$scratch" "$here/java/Cases.java"
  player=(java -cp "$scratch:$(cat "$scratch/classpath")" Cases)
}

prepare_node() {
  need node
  need npm
  cp "$here/node/"* "$scratch"
  get npm --prefix "$scratch" ci --no-audit --no-fund
  player=(node "$scratch/cases.js")
  # It would look for a server of credentials.
  export METADATA_SERVER_DETECTION=none
  # The emulator answers with regular sessions, which this client does not expect.
  local prefix=GOOGLE_CLOUD_SPANNER_MULTIPLEXED_SESSIONS
  on_emulator=("$prefix=false" "${prefix}_FOR_RW=false" "${prefix}_PARTITIONED_OPS=false")
}

prepare_python() {
  need python3
  get python3 -m venv "$scratch/venv"
  get "$scratch/venv/bin/pip" install -r "$here/python/requirements.txt"
  player=("$scratch/venv/bin/python" "$here/python/cases.py")
}

play() {
  "$@" "${player[@]}" "$here/cases.json" "$database" 2>"$scratch/log" || {
    local code=$?
    cat "$scratch/log"
    return "$code"
  }
}

"prepare_$language"
play env "${on_emulator[@]}" "$tree/tests/whorl_with_database" --emulator -- >"$scratch/emulator" ||
  { (($? != 77)) || skip "no emulator to compare with"; cat "$scratch/emulator"; exit 1; }
play "$tree/whorl" serve --database "${database%/*}/seed" -- >"$scratch/whorl" ||
  { cat "$scratch/whorl"; exit 1; }

# A line is "CASE: OUTCOMES".
differing="$({ diff "$scratch/emulator" "$scratch/whorl" || true; } |
  sed -n 's/^< \([a-z_0-9]*\):.*/\1/p' | sort)"
known="$(sed -nE "/^[a-z_0-9]+  ([^[]|\[([a-z]+ )*$language[] ])/s/  .*//p" \
  "$here/known_differences.txt" | sort)"
if [[ "$differing" != "$known" ]]; then
  echo "differences (<) and known differences (>):"
  diff <(echo "$differing") <(echo "$known") || true
  echo "outcomes on the emulator (<) and on whorl's server (>):"
  diff "$scratch/emulator" "$scratch/whorl" || true
  exit 1
fi
echo "$(wc -l <"$scratch/whorl") cases, $(echo "$known" | wc -l) of them known to differ"
