#!/usr/bin/env bash
# examples/engines/slurm.sh on a real Slurm: an array of eight tasks, one of which is killed in the middle
# and one of which is preempted; Slurm starts both again, and the shards add up to the hunt in one piece,
# byte for byte.
#
# Usage: slurm.sh WHORL, in the project's folder. Exit codes: 0 as it should be; 1 not so; 77 skipped, loudly:
# there is no Slurm, or it cannot start here. It starts daemons of its own (munged, slurmctld, slurmd) on
# free ports of the loopback, with all their state in a temporary folder, and ends them by their pids.
set -euo pipefail
WHORL="$(realpath "$1")"
export WHORL RUNS=6000
readonly engines="$PWD/examples/engines"

# The variables of the engine that runs this test.
unset "${!SLURM_@}" "${!SBATCH_@}" JOB_COMPLETION_INDEX AWS_BATCH_JOB_ARRAY_INDEX CLOUD_RUN_TASK_INDEX \
  BATCH_TASK_INDEX TEST_SHARD_INDEX CI_NODE_INDEX

skip() {
  echo "SKIPPED: $*"
  exit 77
}

PATH="$PATH:/usr/sbin:/sbin"
for program in munged slurmctld slurmd sbatch scontrol squeue; do
  command -v "$program" >/dev/null ||
    skip "there is no $program (Debian packages slurmctld, slurmd, slurm-client and munge)"
done
# One that is not root could run jobs, too, but Debian's slurmd wants to be root.
((EUID == 0)) || skip "slurmd is started by root only"

scratch="$(mktemp -d)"
declare -a daemons=()
finish() {
  local pid
  # The one that was started last first: slurmd ends its jobs before munged goes.
  for ((i = ${#daemons[@]} - 1; i >= 0; --i)); do
    pid="${daemons[i]}"
    kill -TERM "$pid" 2>/dev/null || continue
    for _ in {1..50}; do
      kill -0 "$pid" 2>/dev/null || break
      sleep 0.1
    done
    kill -KILL "$pid" 2>/dev/null || true
  done
  wait
  rm -rf "$scratch"
}
trap finish EXIT

fail() {
  echo "FAILED: $*"
  tail -n 20 "$scratch"/*.log 2>/dev/null || true
  exit 1
}

# until_true SECONDS COMMAND...
until_true() {
  local deadline=$((SECONDS + $1))
  shift
  until "$@" >/dev/null 2>&1; do
    ((SECONDS < deadline)) || return 1
    sleep 0.02
  done
}

mapfile -t ports < <(python3 -c '
import socket
held = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
for one in held:
    print(one.getsockname()[1])')
((${#ports[@]} == 2)) || skip "there is no python3 to find free ports"

# --- the daemons -------------------------------------------------------------------------------------

cd "$scratch"
mkdir munge state spool work
chmod 755 . munge
head -c 1024 /dev/urandom >munge/key
chmod 400 munge/key
host="$(hostname -s)"
cat >slurm.conf <<CONF
ClusterName=whorl
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmdUser=root
SlurmctldPort=${ports[0]}
SlurmdPort=${ports[1]}
AuthType=auth/munge
CredType=cred/munge
# A job that is put back into the queue waits as long as its old credential lives.
AuthInfo=socket=$scratch/munge/socket,cred_expire=5
StateSaveLocation=$scratch/state
SlurmdSpoolDir=$scratch/spool
SlurmctldPidFile=$scratch/slurmctld.pid
SlurmdPidFile=$scratch/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
# On the loopback alone.
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
# bash says so of a command that was killed.
RequeueExit=137
KillWait=2
SchedulerParameters=sched_min_interval=100000
NodeName=$host NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=all Nodes=$host Default=YES MaxTime=INFINITE State=UP
CONF
export SLURM_CONF="$scratch/slurm.conf"

start() {  # start COMMAND...: in the background
  "$@" >>"$scratch/$(basename "$1").log" 2>&1 &
  daemons+=($!)
}
could_not() { skip "$1 did not start here: $(tail -n 3 "$scratch/$1.log")"; }

start munged --foreground --force --key-file="$scratch/munge/key" --socket="$scratch/munge/socket" \
  --pid-file="$scratch/munge/pid" --log-file="$scratch/munge/log" --seed-file="$scratch/munge/seed"
until_true 10 test -S munge/socket || could_not munged
start slurmctld -D -f "$SLURM_CONF"
until_true 20 scontrol ping || could_not slurmctld
start slurmd -D -f "$SLURM_CONF" -N "$host"
idle() { [[ "$(sinfo --noheader --format=%T)" == idle ]]; }
until_true 30 idle || could_not slurmd

# --- the hunt ----------------------------------------------------------------------------------------

cd work
"$WHORL" hunt --promised --runs "$RUNS" --json --jobs 1 >whole.jsonl 2>../whole.log || fail "the whole hunt"

job="$(sbatch --parsable --output="$scratch/task_%a.log" --open-mode=append --export=ALL "$engines/slurm.sh")" ||
  fail "sbatch"

# The worker of a task, and how many runs it has saved.
worker_of() {
  local pid
  for pid in $(pgrep -f -- "--checkpoint found/$1\\.hunt"); do
    # Others may run the same command in a folder of theirs.
    if [[ "$(readlink "/proc/$pid/cwd")" == "$scratch/work" ]]; then echo "$pid"; fi
  done
}
covered() { grep -oE '"covered":\[\[[0-9]+,[0-9]+' "found/$1.hunt" 2>/dev/null | tail -n 1 | grep -oE '[0-9]+$' || echo 0; }
has_begun() { (($(covered "$1") > 0)) && [[ -n "$(worker_of "$1")" ]]; }

until_true 60 has_begun 0 || fail "task 0 was not met at work"
kill -KILL "$(worker_of 0)" || fail "task 0 had ended"
echo "killed task 0 after $(covered 0) runs"
until_true 60 has_begun 1 || fail "task 1 was not met at work"
scontrol requeue "${job}_1" || fail "task 1 had ended"
echo "preempted task 1 after $(covered 1) runs"

is_over() { [[ -z "$(squeue --noheader --jobs="$job" 2>/dev/null)" ]]; }
until_true 240 is_over || fail "the array does not end: $(squeue)"

for task in 0 1; do
  grep --quiet 'going on after' "$scratch/task_$task.log" || fail "task $task did not go on from its checkpoint"
done
grep --quiet 'by Slurm, SLURM_ARRAY_TASK_ID=7' "$scratch/task_7.log" || fail "task 7 was no task of Slurm's"
"$WHORL" hunt --merge found/*.jsonl --json >sum.jsonl 2>../merge.log || fail "merge: $(cat ../merge.log)"
cmp --quiet whole.jsonl sum.jsonl || fail "the shards do not add up to the whole hunt"
echo "Slurm $(sinfo --version | cut -d' ' -f2): $(find found -name '*.jsonl' | wc -l) shards"
