# shellcheck shell=bash
# What else ran on the machine while something was measured. For sourcing.
#
#   machine_begins
#   ... what is measured, in children of this shell that it waits for ...
#   machine_ends            sets machine_line: one line for people and for files
#
# CPU time of others is what /proc/stat counts for the whole machine, less that of this shell and
# its children. Time that a hypervisor gave to other guests counts as theirs.

# Ticks of CPU time: of the whole machine, and of this shell with the children that have ended.
_ticks_of_all() { awk '$1 == "cpu" { print $2 + $3 + $4 + $7 + $8 + $9 }' /proc/stat; }
_ticks_of_us() {
  # The name in parentheses may contain blanks.
  sed 's/^.*) //' "/proc/$_shell/stat" | awk '{ print $12 + $13 + $14 + $15 }'
}
_load() { cut -d ' ' -f 1 /proc/loadavg; }
_uptime() { cut -d ' ' -f 1 /proc/uptime; }
_governor() {
  cat /sys/devices/system/cpu/cpu0/cpufreq/scaling_governor 2>/dev/null || echo unknown
}

machine_begins() {
  _shell=$BASHPID
  _load_before="$(_load)" _began="$(_uptime)"
  _all_before="$(_ticks_of_all)" _us_before="$(_ticks_of_us)"
}

machine_ends() {
  # shellcheck disable=SC2034
  machine_line="$(machine_text "$(nproc)" "$(_governor)" "$_load_before" "$(_load)" \
    "$(awk -v a="$_began" -v b="$(_uptime)" 'BEGIN { print b - a }')" \
    "$(($(_ticks_of_all) - _all_before))" "$(($(_ticks_of_us) - _us_before))" \
    "$(getconf CLK_TCK)")"
}

# The line. More than a tenth of a core used by others is too much for a time to be quoted.
machine_text() {  # machine_text CORES GOVERNOR LOAD_BEFORE LOAD_AFTER SECONDS TICKS OURS TICK_RATE
  awk -v cores="$1" -v governor="$2" -v before="$3" -v after="$4" -v seconds="$5" -v all="$6" \
    -v ours="$7" -v rate="$8" 'BEGIN {
      others = (all - ours) / rate
      if (others < 0) others = 0
      busy = seconds > 0 ? others / seconds : 0
      printf "machine: %d cores, governor %s, load %s before and %s after; ", cores, governor, \
        before, after
      printf "other processes used %.2f cores", busy
      if (busy > 0.1) printf "; BUSY: quote no times, only ratios and instruction counts"
      print ""
    }'
}
