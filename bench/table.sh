# shellcheck shell=bash disable=SC2154
# `./dev bench --table`: the workloads of docs/MEASURED.md, of a revision and of the working tree,
# as a table in Markdown. For sourcing by dev_bench.sh.

# A row: KEY|HOW|LABEL. HOW: `count` of instructions, `ns` of CPU or wall time, or `day`, the ns in
# which a day is simulated, to be printed as simulated seconds in a second.
readonly table_rows="
simulated second of three processes|count|a quiet day of three processes (\`bench/three_nodes_one_day.json\`), a simulated second: instructions
event of three processes|count|the same, an event: instructions
Nodes/3/real_time|day|the same: simulated seconds in a second
simulated second of a hundred|count|a hundred such processes, a simulated second: instructions
Nodes/100/real_time|day|the same: simulated seconds in a second
hunted run|count|a hunted run of \`fenced_lease\`, one in 20 run twice: instructions
hunt of RUNS, wall|ns|RUNS of them on all cores: wall time
hunt of RUNS, CPU|ns|the same: CPU time
QuietNodes/500|ns|ten simulated minutes of 500 quiet processes
WorldCopied/3|ns|a copy of a world of three processes
WorldSuccessor/3|ns|its successor: a copy, and one event
WorldFingerprinted/3|ns|its fingerprint
measured takeover|count|a measured takeover of \`fenced_lease\`: instructions
takeover after a crash|count|a takeover after a crash (\`whorl bench takeover --lease 10s --fault crash\`): instructions
takeovers after a crash, CPU|ns|2,500 of them: CPU time
start|count|the start of the program: instructions
start, CPU|ns|the same: CPU time"

readonly table_filter='^(Nodes/|QuietNodes/500$|(WorldCopied|WorldSuccessor|WorldFingerprinted)/3$)'

bench_table() {
  local rest=()
  read_rounds_and_runs "$@"
  [[ -z "${rest[*]}" ]] || die "$usage_error" \
    "bench --table does not know the argument ${rest[0]}; see ./dev bench --help"
  install_packages all
  scratch="$(mktemp -d)"
  trap 'rm -rf "$scratch"' EXIT
  build_revision "$revision" whorl whorl_bench
  build release "whorl whorl_bench" >&2
  machine_begins
  table_counts "$built_tree" "$scratch/old"
  table_counts "$root" "$scratch/new"
  by_turns table_round "$runs"
  machine_ends
  print_table "$scratch" "$revision" "$rounds" "$runs"
}

# Instructions, into FILE.counts: lines of key and number.
table_counts() {  # table_counts TREE FILE
  say "counting instructions of $(basename "$1")"
  "$root/bench/instructions.sh" "$1/build/whorl" --csv >"$2.csv"
  awk -F, '$2 == "all" { print $1 "\t" $3 }' "$2.csv" >"$2.counts"
  # Of a day: events, and instructions an event.
  "$1/build/whorl" replay --json "$root/bench/three_nodes_one_day.json" |
    awk -v counts="$2.counts" -F'[:,]' '
      /"events":/ { events = $2 / 86400 }
      END {
        while ((getline line < counts) > 0) {
          split(line, part, "\t")
          if (part[1] == "simulated second of three processes" && events > 0) {
            printf "event of three processes\t%.0f\n", part[2] / events >> counts
          }
        }
      }'
}

table_round() {  # table_round TREE FILE RUNS
  local whorl="$1/build/whorl"
  bench_once "$1" "$2" --benchmark_filter="$table_filter"
  timed "$2" "hunt of RUNS" 1 "$whorl" hunt --protocol fenced_lease --promised --runs "$3"
  timed "$2" "takeovers after a crash" 1 "$whorl" bench takeover --lease 10s --fault crash --runs 500
  timed "$2" "start" 200 "$whorl" --version
}

# Adds wall and CPU time of the command, in nanoseconds, of TIMES calls in a row.
timed() {  # timed FILE KEY TIMES COMMAND...
  local file="$1" key="$2" times="$3" taken i TIMEFORMAT='%R %U %S'
  shift 3
  taken="$({ time for ((i = 0; i < times; ++i)); do
    "$@" >/dev/null 2>"$scratch/complained" || exit
  done; } 2>&1)" || die "$cannot_run" "failed: $* ($(cat "$scratch/complained"))"
  awk -v key="$key" -v times="$times" '{
    printf "%s, wall\t%.0f\n%s, CPU\t%.0f\n", key, $1 * 1e9 / times, key, ($2 + $3) * 1e9 / times
  }' <<<"$taken" >>"$file"
}

print_table() {  # print_table FOLDER REV ROUNDS RUNS
  local old new
  old="$(commit_of "$2")"
  new="$(git -C "$root" describe --always --dirty --abbrev=12)"
  # In one line, since fmt puts two blanks after a sentence that ends one.
  fmt --width=100 <<<"Measured by hand on $(date +%Y-%m-%d), by\
 \`./dev bench --table $2 --rounds $3 --runs $4\`, checkers and hash on,\
 g++ $(g++ -dumpfullversion), $(sed -n 's/^model name[[:space:]]*: //p' /proc/cpuinfo | head -n 1).\
 Instructions by callgrind; times by turns in one run: the medians, and the median of the rounds'\
 ratios with the least and the greatest. Machine: ${machine_line#machine: }."
  cat <<TEXT

| workload | $2 ($old) | working tree ($new) | ratio, old to new |
|---|---|---|---|
TEXT
  rows="$table_rows" awk -F'\t' -v rounds="$3" -v runs="$4" \
    "$(cat "$root/bench/median.awk")$table_awk" \
    "$1"/old.counts "$1"/new.counts "$1"/old.[0-9]* "$1"/new.[0-9]*
}

# shellcheck disable=SC2016
readonly table_awk='
  function grouped(number,    text, result) {
    text = sprintf("%.0f", number)
    while (length(text) > 3) {
      result = "," substr(text, length(text) - 2) result
      text = substr(text, 1, length(text) - 3)
    }
    return text result
  }
  function three_digits(number) {
    if (number >= 100) return sprintf("%.0f", number)
    return sprintf(number >= 10 ? "%.1f" : "%.2f", number)
  }
  function shown(number, how) {
    if (how == "count") return grouped(number)
    if (how == "day") return grouped(86400e9 / number)
    if (number >= 1e9) return three_digits(number / 1e9) " s"
    if (number >= 1e6) return three_digits(number / 1e6) " ms"
    return number >= 1e3 ? three_digits(number / 1e3) " µs" : three_digits(number) " ns"
  }
  {
    file = FILENAME; sub(/.*\//, "", file); split(file, part, ".")
    found[part[1], $1, part[2]] = $2
  }
  END {
    count = split(ENVIRON["rows"], row, "\n")
    for (n = 1; n <= count; ++n) {
      if (split(row[n], field, "|") != 3) continue
      pairs = 0; olds = 0; news = 0
      for (r = 0; r <= rounds; ++r) {
        round = r == 0 ? "counts" : r
        has_old = ("old", field[1], round) in found; has_new = ("new", field[1], round) in found
        if (has_old) was[++olds] = found["old", field[1], round]
        if (has_new) is[++news] = found["new", field[1], round]
        if (has_old && has_new && is[news] > 0) ratio[++pairs] = was[olds] / is[news]
      }
      label = field[3]; gsub("RUNS", grouped(runs), label)
      last = "-"
      if (pairs > 0) last = sprintf("%.2f", sorted_middle(ratio, pairs))
      if (pairs > 1) last = last sprintf(" (%.2f-%.2f)", ratio[1], ratio[pairs])
      printf "| %s | %s | %s | %s |\n", label, \
        olds ? shown(sorted_middle(was, olds), field[2]) : "-", \
        news ? shown(sorted_middle(is, news), field[2]) : "-", last
    }
  }'
