#!/usr/bin/env bash
# examples/engines/: one hunt in shards, started as each engine would start them, adds up to the hunt in
# one piece, byte for byte; also where workers were killed and began again.
#
# Usage: engines.sh WHORL, in the project's folder. What needs a program that is missing is skipped, loudly.
set -euo pipefail
WHORL="$(realpath "$1")"
readonly engines="$PWD/examples/engines"
export WHORL RUNS=160
scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
# The variables of the engine that runs this test.
unset JOB_COMPLETION_INDEX SLURM_ARRAY_TASK_ID AWS_BATCH_JOB_ARRAY_INDEX CLOUD_RUN_TASK_INDEX BATCH_TASK_INDEX \
  TEST_SHARD_INDEX CI_NODE_INDEX
failures=0

fail() {
  echo "FAILED: $*"
  failures=$((failures + 1))
}

"$WHORL" hunt --promised --runs "$RUNS" --json >whole.jsonl 2>log || fail "the whole hunt: $(cat log)"

expect_whole() {  # expect_whole NAME: found/*.jsonl are the whole hunt
  "$WHORL" hunt --merge found/*.jsonl --json >sum.jsonl 2>log || fail "$1: merge: $(cat log)"
  cmp --quiet whole.jsonl sum.jsonl || fail "$1: the shards do not add up to the whole hunt"
  echo "$1: $(find found -name '*.jsonl' | wc -l) shards"
  rm -r found
}

# Kubernetes: the container's arguments, with the variables put in that Kubernetes puts in.
mapfile -t arguments < <(sed -nE '/^ *args:/,/workingDir/{s/^ +- (.*)$/\1/p}' "$engines/kubernetes.yaml")
((${#arguments[@]} == 7)) || fail "kubernetes.yaml has other arguments: ${arguments[*]}"
pod() {  # pod INDEX: becomes the pod, so it needs a shell of its own
  local -a own=("${arguments[@]//1000000/$RUNS}")
  export JOB_COMPLETION_INDEX="$1"
  exec "$WHORL" "${own[@]//'$(JOB_COMPLETION_INDEX)'/$1}" --jobs=1 >text
}
mkdir found
for index in {0..7}; do
  # Two pods are preempted once they have begun, and their shards are done by others.
  if ((index % 4 == 1)); then
    pod "$index" 2>log &
    until [[ -e found/$index.hunt ]] || ! kill -0 $! 2>/dev/null; do :; done
    kill -KILL $! 2>/dev/null || true
    wait $! 2>/dev/null || true
  fi
  (pod "$index") 2>log || fail "pod $index: $(cat log)"
done
expect_whole Kubernetes
code=0
(pod 8) 2>log || code=$?
((code == 2)) || fail "a ninth pod ended with $code"

# Slurm: the script, with the variables that Slurm sets.
task() {  # task ID MIN MAX COUNT
  SLURM_ARRAY_TASK_ID=$1 SLURM_ARRAY_TASK_MIN=$2 SLURM_ARRAY_TASK_MAX=$3 SLURM_ARRAY_TASK_COUNT=$4 \
    "$engines/slurm.sh" >text 2>log
}
for id in 0 1 2 4 5 6 7; do task $id 0 7 8 || fail "task $id: $(cat log)"; done
# The one that is missing, as an array of its own: refused, unless it says of how many it is.
code=0
task 3 3 3 1 || code=$?
((code == 2)) || fail "an array of one task ended with $code"
SHARD=auto/8 task 3 3 3 1 || fail "task 3: $(cat log)"
expect_whole Slurm

if parallel --version 2>/dev/null | grep --quiet 'GNU parallel'; then
  # GNU parallel asks for a citation on a terminal only.
  "$engines/gnu_parallel.sh" >text 2>log || fail "gnu_parallel.sh: $(cat log)"
  expect_whole "GNU parallel"
else
  echo "SKIPPED: GNU parallel is not installed (Debian package parallel)"
fi

# A worker that is killed again and again, and goes on from its checkpoint each time.
hunting=(hunt --protocol spindle_v2 --runs 2000 --jobs 1)
covered() { grep -oE '"covered":\[\[1,[0-9]+' kept.hunt 2>/dev/null | tail -n 1 | grep -oE '[0-9]+$' || echo 0; }
kills=0
for _ in 1 2 3 4; do
  "$WHORL" "${hunting[@]}" --checkpoint kept.hunt >text 2>log &
  worker=$!
  before="$(covered)"
  until (($(covered) > before)) || ! kill -0 $worker 2>/dev/null; do :; done
  if kill -KILL $worker 2>/dev/null; then kills=$((kills + 1)); fi
  wait $worker 2>/dev/null || true
done
((kills > 0 && $(covered) > 0)) || fail "no worker was killed in the middle"
"$WHORL" "${hunting[@]}" --checkpoint kept.hunt --out resumed.jsonl >text 2>log || true
"$WHORL" "${hunting[@]}" --out undisturbed.jsonl >text 2>log || true
cmp --quiet resumed.jsonl undisturbed.jsonl || fail "a hunt that went on reports something else"
echo "killed $kills times, and went on"

# Manifests that no engine reads here are at least what they say that they are.
if python3 -c 'import yaml' 2>/dev/null; then
  python3 - "$engines" <<'PYTHON' || fail "a manifest is damaged"
import json, sys, yaml
folder = sys.argv[1]
job = yaml.safe_load(open(folder + "/kubernetes.yaml"))
spec = job["spec"]
assert (job["apiVersion"], job["kind"], spec["completionMode"]) == ("batch/v1", "Job", "Indexed")
container = spec["template"]["spec"]["containers"][0]
assert "--shard=auto/%d" % spec["completions"] in container["args"]
for rule in spec["podFailurePolicy"]["rules"]:
    assert rule["action"] in ("Ignore", "FailIndex")
    if "onExitCodes" in rule:
        assert rule["onExitCodes"]["containerName"] == container["name"]
assert spec["template"]["spec"]["restartPolicy"] == "Never"  # podFailurePolicy asks for it
mounts = {mount["name"] for mount in container["volumeMounts"]}
assert mounts == {volume["name"] for volume in spec["template"]["spec"]["volumes"]}
workflow = yaml.safe_load(open(folder + "/github_actions.yml"))
shards = workflow["jobs"]["hunt"]["strategy"]["matrix"]["shard"]
assert shards == list(range(1, len(shards) + 1))
assert "/%d " % len(shards) in workflow["jobs"]["hunt"]["steps"][0]["run"]
json.load(open(folder + "/aws_batch.json"))
PYTHON
else
  echo "SKIPPED: manifests are not parsed, for there is no PyYAML (Debian package python3-yaml)"
fi

((failures == 0))
