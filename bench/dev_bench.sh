# shellcheck shell=bash disable=SC2154
# The sub-command `bench` of ./dev, which sources this file: running the benchmarks, keeping their
# figures as a baseline, and comparing two revisions. machine.sh says what else ran, table.sh prints
# the table of docs/MEASURED.md, and worlds.sh compares runs.

# shellcheck source=bench/machine.sh
source "$root/bench/machine.sh"
# shellcheck source=bench/table.sh
source "$root/bench/table.sh"

readonly baseline="$root/bench/baseline.csv"
# Folders that do not stay, however this ends: the first holds figures, another one is a worktree
# that is not built yet.
unfinished=()

help_bench() {
  cat <<'TEXT'
Usage: ./dev bench [--wire] [ARGUMENTS OF THE BENCHMARK]
       ./dev bench --instructions [--check|--write]
       ./dev bench --spin [--end N] [--tokens N] [--rounds N]
       ./dev bench --compare [REV|baseline] [--rounds N] [ARGUMENTS OF THE BENCHMARK]
       ./dev bench --baseline [--rounds N] [ARGUMENTS OF THE BENCHMARK]
       ./dev bench --table [REV] [--rounds N] [--runs N]
       ./dev bench --worlds [REV] [--runs N] [--verdicts]

Builds and runs the benchmarks in the release tree: the speed of the simulation, or with --wire that
of SQL and of the server over the model. The line `machine:` says what else ran meanwhile: where it
says BUSY, others used more than a tenth of a core, and times are not to be quoted.

  --instructions   counts the instructions of whole runs by callgrind, by part, beside those that
              bench/instructions.csv has: the same on a busy machine and on a quiet one. A test fails
              where a run is more than 5 % above it. --write writes the file anew.
  --spin      searches the toy lease L1 in turns with SPIN (Debian package spin), and prints the states
              for each second of a core and the bytes for each state of both. --end 14 --tokens 9 has
              50 million states.
  --compare   also builds REV, in a git worktree under .deps/ (kept for the next time; there is one
              at most), runs old and new in turn, and prints how many times faster the new one is:
              the median of the rounds' ratios, and the least and the greatest. REV is the last
              commit where sources have changed since, otherwise the one before it. `baseline` is
              bench/baseline.csv, which says what it was made with: another machine, another figure.
  --baseline  writes bench/baseline.csv
  --table     prints the workloads of docs/MEASURED.md as a Markdown table, of REV and of the
              working tree: instructions by callgrind, times by turns. --runs N is how many hunted
              runs are timed (default: 100,000), on all cores.
  --worlds    compares what REV and the working tree make of the same worlds: the hash and the
              verdicts of every scenario and of N hunted worlds (default: 100,000) of every
              protocol. Names the first that differs of each protocol, and how to replay it. With
              --verdicts hashes may differ. Exit code 1: they are not the same; 2: REV cannot be
              compared.
  --rounds N  how often each is run (default: 5)

Examples:

  ./dev bench --benchmark_filter=REGEX
  ./dev bench --wire
  ./dev bench --instructions
  ./dev bench --compare
  ./dev bench --compare main --rounds 9 --benchmark_filter=QuietNodes
  ./dev bench --table v0.1 --rounds 3 --runs 10000
  ./dev bench --worlds main --runs 1000
TEXT
}

run_bench() {
  case "${1:-}" in
    --instructions)
      ensure_setup
      build release whorl >&2
      machine_begins
      "$root/bench/instructions.sh" "$root/build/whorl" "${@:2}"
      machine_ends
      echo "$machine_line"
      return
      ;;
    --table)
      bench_table "${@:2}"
      return
      ;;
    --worlds)
      bench_worlds "${@:2}"
      return
      ;;
    --spin)
      ensure_setup
      build release whorl_toy_lease_search >&2
      "$root/bench/explore_against_spin.sh" "$root/build/bench/whorl_toy_lease_search" "${@:2}"
      return
      ;;
    --compare | --baseline)
      bench_in_rounds "$@"
      return
      ;;
  esac
  local target=whorl_bench
  if [[ "${1:-}" == --wire ]]; then
    target=whorl_wire_bench
    shift
  fi
  ensure_setup
  if [[ "$target" == whorl_wire_bench ]]; then ensure_protos; fi
  build release "$target" >&2
  run_benchmark "$root/build/bench/$target" "$@"
}

# Runs it, and says what else ran: in what it prints for people, and in the file that it writes.
run_benchmark() {  # run_benchmark EXECUTABLE ARGUMENTS...
  local code=0 argument file="" is_for_people=true
  for argument in "${@:2}"; do
    case "$argument" in
      --benchmark_out=*) file="${argument#*=}" ;;
      --benchmark_format=json | --benchmark_format=csv | --benchmark_list_tests*)
        is_for_people=false
        ;;
    esac
  done
  machine_begins
  "$@" || code=$?
  machine_ends
  if [[ "$is_for_people" == true ]]; then echo "$machine_line"; else say "$machine_line"; fi
  if [[ -n "$file" && -s "$file" ]]; then add_machine_to "$file"; fi
  return "$code"
}

add_machine_to() {  # add_machine_to FILE: a key of the JSON's context, or a comment above the CSV
  if [[ "$(head -c 1 "$1")" == "{" ]]; then
    sed -i "0,/\"context\": {/s//&\n    \"machine\": \"${machine_line#machine: }\",/" "$1"
  else
    sed -i "1i# $machine_line" "$1"
  fi
}

# Reads the options of --worlds, and does what they say.
bench_worlds() {
  local revision="" commit built_tree=""
  if [[ -n "${1:-}" && "$1" != -* ]]; then
    revision="$1"
    shift
  fi
  [[ "$* " =~ ^((--runs [1-9][0-9]{0,8}|--verdicts) )*( )?$ ]] || die "$usage_error" \
    "bench --worlds takes --runs N and --verdicts, and got: $*; see ./dev bench --help"
  revision="${revision:-$(last_revision)}"
  ensure_command_setup
  commit="$(commit_of "$revision")"
  # Not after a build of minutes.
  git -C "$root" grep --quiet -e '"--digests"' "$commit" -- cli/hunt || die "$usage_error" \
    "$revision has no whorl hunt --digests, by which runs are compared; take a revision that has" \
    "it, or cherry-pick $(first_with_digests) onto $revision and compare with that"
  build_revision "$revision" whorl
  build release whorl >&2
  "$root/bench/worlds.sh" "$built_tree/build/whorl" "$root/build/whorl" "$@"
}

first_with_digests() {
  local commit
  commit="$(git -C "$root" log --reverse --format=%h -S'"--digests"' -- cli/hunt | head -n 1)"
  echo "${commit:-the commit that brought it}"
}

# Reads the options of --compare and --baseline, and does what they say.
bench_in_rounds() {
  local mode="$1" revision="" rounds=5 scratch
  shift
  if [[ "$mode" == --compare && -n "${1:-}" && "$1" != -* ]]; then
    revision="$1"
    shift
  fi
  if [[ "${1:-}" == --rounds ]]; then
    [[ "${2:-}" =~ ^[1-9][0-9]{0,2}$ ]] || die "$usage_error" "--rounds wants a number from 1 to 999"
    rounds="$2"
    shift 2
  fi
  [[ -z "${1:-}" || "$1" == --benchmark_* ]] || die "$usage_error" \
    "bench $mode does not know the argument $1; see ./dev bench --help"
  ensure_setup
  scratch_folder
  if [[ "$mode" == --baseline ]]; then
    write_baseline "$scratch" "$rounds" "$@"
  elif [[ "$revision" == baseline ]]; then
    compare_with_baseline "$scratch" "$rounds" "$@"
  else
    compare_with_revision "$scratch" "$rounds" "${revision:-$(last_revision)}" "$@"
  fi
}

# A folder for figures, in `scratch`, that does not stay.
scratch_folder() {
  mkdir -p "$root/.deps"
  scratch="$(mktemp -d "$root/.deps/benching.XXXXXX")"
  unfinished=("$scratch")
  trap remove_unfinished EXIT
}

last_revision() {
  if git -C "$root" diff --quiet HEAD; then echo HEAD~1; else echo HEAD; fi
}

# One round: name and nanoseconds of CPU time, tab-separated, a benchmark to a line; none where an
# older revision has none that is asked for.
bench_once() {  # bench_once EXECUTABLE FILE ARGUMENTS...
  local executable="$1" file="$2"
  shift 2
  # Not its CSV, which ends the program where two benchmarks have different counters. A line is: name,
  # time, unit, CPU time, unit, and so on.
  "$executable" --benchmark_color=false --benchmark_min_time=0.2 "$@" 2>/dev/null |
    awk 'BEGIN { ns["ns"] = 1; ns["us"] = 1e3; ns["ms"] = 1e6; ns["s"] = 1e9 }
         ($3 in ns) && ($5 in ns) { print $1 "\t" $4 * ns[$5] }' >"$file"
  [[ -s "$file" || "$file" == */old.* ]] || die "$cannot_run" "no benchmark of that name ran"
}

# The ratio of old to new in each round; then their median, least and greatest.
print_ratios() {  # print_ratios FOLDER ROUNDS: of files old.N and new.N
  awk -F'\t' -v rounds="$2" '
    function sorted_middle(values, count,    i, j, kept) {
      for (i = 2; i <= count; ++i) {
        kept = values[i]
        for (j = i - 1; j >= 1 && values[j] > kept; --j) values[j + 1] = values[j]
        values[j + 1] = kept
      }
      return count % 2 ? values[(count + 1) / 2] : (values[count / 2] + values[count / 2 + 1]) / 2
    }
    { file = FILENAME; sub(/.*\//, "", file); split(file, part, ".") }
    part[1] == "old" { old[$1, part[2]] = $2 }
    part[1] == "new" { new[$1, part[2]] = $2; if (!($1 in seen)) { seen[$1] = ++names; name[names] = $1 } }
    END {
      printf "%-32s %12s %12s %8s  %s\n", "benchmark", "old ns", "new ns", "ratio", "least-greatest"
      for (n = 1; n <= names; ++n) {
        count = 0
        for (r = 1; r <= rounds; ++r) {
          if (!((name[n], r) in old) || !((name[n], r) in new)) continue
          ++count
          was[count] = old[name[n], r]; is[count] = new[name[n], r]; ratio[count] = was[count] / is[count]
        }
        if (count == 0) { printf "%-32s %12s\n", name[n], "(is new)"; continue }
        middle = sorted_middle(ratio, count)
        word = ratio[1] > 1 ? "  faster" : ratio[count] < 1 ? "  slower" : ""
        printf "%-32s %12.0f %12.0f %8.3f  %.3f-%.3f%s\n", name[n], sorted_middle(was, count), \
          sorted_middle(is, count), middle, ratio[1], ratio[count], word
      }
    }' "$1"/old.* "$1"/new.*
}

commit_of() {  # commit_of REV
  git -C "$root" rev-parse --verify --quiet --short=12 "$1^{commit}" ||
    die "$usage_error" "there is no revision $1"
}

# The tree of REV with the targets built; its path is left in `built_tree`.
build_revision() {  # build_revision REV TARGETS...
  local commit tree other
  commit="$(commit_of "$1")"
  tree="$root/.deps/bench-$commit"
  built_tree="$tree"
  for other in "$root"/.deps/bench-*; do
    if [[ -d "$other" && "$other" != "$tree" ]]; then remove_tree "$other"; fi
  done
  say "building $1 ($commit) in .deps/bench-$commit/"
  if [[ ! -f "$tree/CONFIGURED" ]]; then
    remove_tree "$tree"
    unfinished+=("$tree")
    trap remove_unfinished EXIT
    git -C "$root" worktree add --detach --quiet "$tree" "$commit" >&2
    (cd "$tree" && cmake --preset release) >&2 || die "$cannot_run" "$1 cannot be configured"
    touch "$tree/CONFIGURED"
    unset "unfinished[-1]"
  fi
  cmake --build "$tree/build" --target "${@:2}" >&2 || die "$cannot_run" "$1 does not build"
}

remove_unfinished() {
  local folder
  for folder in "${unfinished[@]}"; do remove_tree "$folder"; done
}

remove_tree() {  # remove_tree FOLDER: a worktree of this repository, or any other
  git -C "$root" worktree remove --force "$1" 2>/dev/null || rm -rf "$1"
  git -C "$root" worktree prune
}

compare_with_revision() {  # compare_with_revision FOLDER ROUNDS REV ARGUMENTS...
  local folder="$1" rounds="$2" revision="$3" round built_tree=""
  shift 3
  build_revision "$revision" whorl_bench
  build release whorl_bench >&2
  machine_begins
  for ((round = 1; round <= rounds; ++round)); do
    say "round $round of $rounds"
    # By turns, so that neither always follows the other's heat.
    if ((round % 2)); then
      bench_once "$built_tree/build/bench/whorl_bench" "$folder/old.$round" "$@"
      bench_once "$root/build/bench/whorl_bench" "$folder/new.$round" "$@"
    else
      bench_once "$root/build/bench/whorl_bench" "$folder/new.$round" "$@"
      bench_once "$built_tree/build/bench/whorl_bench" "$folder/old.$round" "$@"
    fi
  done
  machine_ends
  print_ratios "$folder" "$rounds"
  echo "$machine_line"
}

compare_with_baseline() {  # compare_with_baseline FOLDER ROUNDS ARGUMENTS...
  local folder="$1" rounds="$2" round
  shift 2
  [[ -f "$baseline" ]] || die "$cannot_run" "there is no bench/baseline.csv; ./dev bench --baseline"
  sed -n 's/^# /dev: baseline: /p' "$baseline" >&2
  build release whorl_bench >&2
  machine_begins
  for ((round = 1; round <= rounds; ++round)); do
    say "round $round of $rounds"
    sed -e '/^#/d' -e 's/,/\t/' "$baseline" >"$folder/old.$round"
    bench_once "$root/build/bench/whorl_bench" "$folder/new.$round" "$@"
  done
  machine_ends
  print_ratios "$folder" "$rounds"
  echo "$machine_line"
}

# The median of the rounds, so that one that was disturbed does not count.
write_baseline() {  # write_baseline FOLDER ROUNDS ARGUMENTS...
  local folder="$1" rounds="$2" round
  shift 2
  build release whorl_bench >&2
  machine_begins
  for ((round = 1; round <= rounds; ++round)); do
    say "round $round of $rounds"
    bench_once "$root/build/bench/whorl_bench" "$folder/new.$round" "$@"
    cp "$folder/new.$round" "$folder/old.$round"
  done
  machine_ends
  {
    echo "# commit $(git -C "$root" describe --always --dirty --abbrev=12), g++ $(g++ -dumpfullversion)"
    echo "# $(sed -n 's/^model name[[:space:]]*: //p' /proc/cpuinfo | head -n 1), $(nproc) cores"
    echo "# $machine_line"
    echo "# benchmark,nanoseconds of CPU time (median of $rounds rounds)"
    print_ratios "$folder" "$rounds" | awk 'NR > 1 { print $1 "," $3 }'
  } >"$folder/baseline"
  mv "$folder/baseline" "$baseline"
  say "wrote bench/baseline.csv"
  say "$machine_line"
}
