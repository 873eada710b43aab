#!/usr/bin/env bash
# examples/engines/kubernetes.yaml against the schemas that Kubernetes publishes, of its oldest version that has
# all of the fields and of the newest one here; and manifests with a mistake, which have to be refused.
#
# Usage: kubernetes.sh TREE, in the project's folder. The validator, which brings the schemas, is installed into
# TREE/kubernetes_validate by pip, which refuses files that have other hashes than kubernetes_requirements.txt says.
# Exit codes: 0 as it should be; 1 not so; 77 skipped, loudly: it cannot be had here.
set -euo pipefail
tree="$(realpath "$1")"
readonly tree manifest="$PWD/examples/engines/kubernetes.yaml"
readonly pinned="$PWD/tests/kubernetes_requirements.txt" tools="$tree/kubernetes_validate"
readonly versions=(1.29 1.37)

skip() {
  echo "SKIPPED: $*"
  exit 77
}
fail() {
  echo "FAILED: $*"
  exit 1
}

command -v python3 >/dev/null || skip "there is no python3 (Debian packages python3 and python3-venv)"
if ! cmp --quiet "$pinned" "$tools/installed.txt"; then
  rm -rf "$tools"
  mkdir -p "$tools"
  log="$tools/log"
  python3 -m venv "$tools/venv" >"$log" 2>&1 || skip "python3 makes no venv (Debian package python3-venv): $(tail -n 1 "$log")"
  if ! "$tools/venv/bin/pip" --disable-pip-version-check install --no-deps --require-hashes --quiet --timeout 20 \
    --retries 1 --requirement "$pinned" >"$log" 2>&1; then
    grep --quiet 'DO NOT MATCH THE HASHES' "$log" && fail "a file of PyPI is not the pinned one: $(cat "$log")"
    skip "pip cannot install the validator: $(tail -n 1 "$log")"
  fi
  cp "$pinned" "$tools/installed.txt"
fi

validate() { "$tools/venv/bin/kubernetes-validate" --strict --no-warn --kubernetes-version "$1" "$2" 2>&1; }

for version in "${versions[@]}"; do
  validate "$version" "$manifest" || fail "kubernetes.yaml is not valid for $version"
done

# A validator that accepts everything would say the same.
scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT
expect_refused() {  # expect_refused WHAT SED-SCRIPT
  sed "$2" "$manifest" >"$scratch/spoilt.yaml"
  cmp --quiet "$manifest" "$scratch/spoilt.yaml" && fail "nothing was spoilt: $1"
  validate "${versions[0]}" "$scratch/spoilt.yaml" >"$scratch/said" && fail "not refused: $1"
  grep --quiet ERROR "$scratch/said" || fail "$1: $(cat "$scratch/said")"
}
expect_refused 'a key that there is not' 's/completionMode/completionsMode/'
expect_refused 'a condition without status' '/status: "True"/d'
expect_refused 'a code that is no number' 's/values: \[2\]/values: [two]/'
expect_refused 'a rule without action' 's/- action: FailIndex/- #/'
echo "valid for Kubernetes ${versions[*]}"
