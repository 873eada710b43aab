#!/usr/bin/env bash
# One hunt as eight shards, as many at a time as there are cores, each tried three times. Ends as
# `whorl hunt --merge` does: 1 if a promise was broken, 3 if runs are missing. With --sshlogin, on other machines.
set -euo pipefail

export WHORL="${WHORL:-whorl}" RUNS="${RUNS:-1000000}"
mkdir -p found
seq 8 | parallel --retries 3 --halt soon,fail=1 \
  '"$WHORL" hunt --promised --runs "$RUNS" --jobs 1 --shard {}/8 --exit-code-found 0 --checkpoint found/{}.hunt --out found/{}.jsonl'
"$WHORL" hunt --merge found/*.jsonl
