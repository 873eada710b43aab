#!/usr/bin/env bash
# A field of a state that its canonical form does not mention does not compile.
#
#   forgotten_field.sh SOURCE_DIR COMPILER
#
# Adds a field to each struct below, in a copy of its header, and expects the compiler to name each of them where
# the canonical form adds its fields. It only parses, so this takes seconds.
set -euo pipefail

readonly source_dir="$1" compiler="$2"
all_errors=-fmax-errors=0
[[ "$("$compiler" --version)" != *clang* ]] || all_errors=-ferror-limit=0
overlay="$(mktemp -d)"
trap 'rm -rf "$overlay"' EXIT

failed=0

# check FILE HEADER:STRUCT..: FILE encodes these structs.
check() {
  local file="$1" header struct errors
  shift
  rm -rf "${overlay:?}"/*
  for each in "$@"; do
    header="${each%:*}" struct="${each#*:}"
    mkdir -p "$overlay/$(dirname "$header")"
    [[ -f "$overlay/$header" ]] || cp "$source_dir/$header" "$overlay/$header"
    sed -i -E "s/^( *)struct $struct \{/&\n\1  int forgotten = 0;/; s/WHORL_FIELDS\($struct, /&forgotten, /" \
      "$overlay/$header"
    (($(grep -c forgotten "$overlay/$header") >= 2)) || { echo "$header has no $struct with fields" && failed=1; }
  done
  errors="$("$compiler" -std=c++20 -fsyntax-only "$all_errors" -I"$overlay" -I"$source_dir" \
    "$source_dir/$file" 2>&1 || true)"
  for each in "$@"; do
    struct="${each#*:}"
    # As g++ and clang++ name what AddFields was given.
    grep -qE "(\\bT = |AddFields<[^,]*CanonicalForm, )([a-zA-Z]+::)*$struct[;,]" <<<"$errors" ||
      { echo "$file: nothing is said of a new field of $struct" && failed=1; }
  done
  grep -q "has no role in its canonical form" <<<"$errors" || { echo "$file: no word of roles" && failed=1; }
}

check sim/explore/components/canonical_world.cc \
  sim/world/world.h:{ActiveTimer,ActiveRunner,Participant,Node,Call,WorldState} \
  sim/world/node_clock.h:NodeClock \
  sim/world/pending.h:{NodeStarts,FaultBegins,FaultEnds,Choice,PendingSlot} \
  sim/world/fault_effects.h:{OfNode,ActiveFaults} \
  spanner_model/transaction.h:{BufferedWrite,ServedStatement,Age,TransactionState} \
  spanner_model/storage.h:Version \
  spanner_model/database.h:{SplitState,Database}
check sim/explore/components/model_state.cc \
  sim/judge/ledger.h:Lock sim/judge/checkers/has_lock_truthful.h:Ceased
exit "$failed"
