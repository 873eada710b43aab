#!/usr/bin/env bash
# One hunt as an array of eight tasks: sbatch slurm.sh. To run some tasks again, give --shard auto/8: an
# array of these alone would be taken for another hunt, which whorl refuses.
#SBATCH --job-name=whorl-hunt
#SBATCH --array=0-7
#SBATCH --cpus-per-task=1
#SBATCH --requeue
set -euo pipefail

mkdir -p found
"${WHORL:-whorl}" hunt --promised --runs "${RUNS:-1000000}" --jobs 1 --shard "${SHARD:-auto}" \
  --exit-code-found 0 --checkpoint "found/$SLURM_ARRAY_TASK_ID.hunt" \
  --out "found/$SLURM_ARRAY_TASK_ID.jsonl"
