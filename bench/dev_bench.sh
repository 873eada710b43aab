# shellcheck shell=bash disable=SC2154
# The sub-command `bench` of ./dev, which sources this file: it runs the benchmarks and compares two
# revisions. machine.sh says what else ran, table.sh prints the table of docs/MEASURED.md, and worlds.sh
# compares runs.

# shellcheck source=bench/machine.sh
source "$root/bench/machine.sh"
# shellcheck source=bench/table.sh
source "$root/bench/table.sh"

run_bench() {
  local mode="${1:-}" target=whorl_bench revision="" rounds=5 runs=100000 scratch built_tree=""
  [[ "$mode" =~ ^--(wire|instructions|spin|compare|table|worlds)$ ]] || mode=""
  [[ -z "$mode" ]] || shift
  case "$mode" in
    --instructions)
      install_packages all
      build release whorl >&2
      measured "$root/bench/instructions.sh" "$root/build/whorl" "$@"
      ;;
    --spin)
      install_packages all
      build release whorl_toy_lease_search >&2
      "$root/bench/explore_against_spin.sh" "$root/build/bench/whorl_toy_lease_search" "$@"
      ;;
    --compare | --table | --worlds)
      if [[ -n "${1:-}" && "$1" != -* ]]; then
        revision="$1"
        shift
      fi
      : "${revision:=$(last_revision)}"
      "bench_${mode#--}" "$@"
      ;;
    *)
      [[ -z "${1:-}" || "$1" == --benchmark_* ]] || die "$usage_error" \
        "bench does not know the argument $1; see ./dev bench --help"
      if [[ "$mode" == --wire ]]; then target=whorl_wire_bench; fi
      install_packages all
      fetch_protos
      build release "$target" >&2
      measured "$root/build/bench/$target" "$@"
      ;;
  esac
}

measured() {  # measured EXECUTABLE ARGUMENTS...: runs it, and says what else ran
  local code=0
  machine_begins
  "$@" || code=$?
  machine_ends
  if [[ "$*" =~ --benchmark_(format=(json|csv)|list_tests) ]]; then
    say "$machine_line"
  else
    echo "$machine_line"
  fi
  return "$code"
}

# Sets `rounds` and `runs`, and leaves in `rest` what else was asked for.
read_rounds_and_runs() {
  rest=()
  while (($#)); do
    case "$1" in
      --rounds | --runs)
        [[ "${2:-}" =~ ^[1-9][0-9]{0,8}$ ]] || die "$usage_error" "$1 wants a number from 1"
        printf -v "${1#--}" '%s' "$2"
        shift
        ;;
      *) rest+=("$1") ;;
    esac
    shift
  done
}

last_revision() {
  if git -C "$root" diff --quiet HEAD; then echo HEAD~1; else echo HEAD; fi
}

commit_of() {  # commit_of REV
  git -C "$root" rev-parse --verify --quiet --short=12 "$1^{commit}" ||
    die "$usage_error" "there is no revision $1"
}

# The targets of REV, in a worktree that is kept for the next time; its path is left in `built_tree`.
build_revision() {  # build_revision REV TARGETS...
  local commit other
  commit="$(commit_of "$1")"
  built_tree="$root/.deps/bench-$commit"
  say "building $1 ($commit) in .deps/bench-$commit/"
  for other in "$root"/.deps/bench-*; do  # one is kept
    [[ ! -d "$other" || "$other" == "$built_tree" ]] || git -C "$root" worktree remove --force "$other"
  done
  [[ -d "$built_tree" ]] || git -C "$root" worktree add --detach --quiet "$built_tree" "$commit" >&2
  (cd "$built_tree" && cmake --preset release && cmake --build build --target "${@:2}") >&2 ||
    die "$cannot_run" "$1 does not build; git worktree remove --force .deps/bench-$commit begins anew"
}

bench_worlds() {
  local rest=()
  read_rounds_and_runs "$@"
  install_packages replay
  build_revision "$revision" whorl
  build release whorl >&2
  "$root/bench/worlds.sh" "$built_tree/build/whorl" "$root/build/whorl" --runs "$runs" "${rest[@]}"
}

bench_compare() {
  local rest=()
  read_rounds_and_runs "$@"
  [[ -z "${rest[*]}" || "${rest[0]}" == --benchmark_* ]] || die "$usage_error" \
    "bench --compare does not know the argument ${rest[0]}; see ./dev bench --help"
  install_packages all
  scratch="$(mktemp -d)"
  trap 'rm -rf "$scratch"' EXIT
  build_revision "$revision" whorl_bench
  build release whorl_bench >&2
  machine_begins
  by_turns bench_once "${rest[@]}"
  machine_ends
  awk -v rounds="$rounds" -f "$root/bench/median.awk" -f "$root/bench/ratios.awk" \
    "$scratch"/old.* "$scratch"/new.*
  echo "$machine_line"
}

# Runs COMMAND TREE FILE ARGUMENTS... for both trees in each round, by turns, so that neither always
# follows the other's heat. It leaves old.N and new.N in $scratch.
by_turns() {  # by_turns COMMAND ARGUMENTS...
  local round which order=(old new)
  for ((round = 1; round <= rounds; ++round)); do
    say "round $round of $rounds"
    for which in "${order[@]}"; do
      "$1" "$(if [[ $which == old ]]; then echo "$built_tree"; else echo "$root"; fi)" \
        "$scratch/$which.$round" "${@:2}"
    done
    order=("${order[1]}" "${order[0]}")
  done
}

# One round: name and nanoseconds of CPU time, tab-separated, a benchmark to a line; none where an
# older revision has none that is asked for.
bench_once() {  # bench_once TREE FILE ARGUMENTS...
  # Not its CSV, which ends the program where two benchmarks have different counters. A line is: name,
  # time, unit, CPU time, unit, and so on.
  "$1/build/bench/whorl_bench" --benchmark_color=false --benchmark_min_time=0.2 "${@:3}" 2>/dev/null |
    awk 'BEGIN { ns["ns"] = 1; ns["us"] = 1e3; ns["ms"] = 1e6; ns["s"] = 1e9 }
         ($3 in ns) && ($5 in ns) { print $1 "\t" $4 * ns[$5] }' >"$2"
  [[ -s "$2" || "$2" == */old.* ]] || die "$cannot_run" "no benchmark of that name ran"
}
