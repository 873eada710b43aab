# Weaves mutants into a source: prints it with every function that some of them change holding all
# its bodies, of which WHORL_MUTANT chooses one. So a source is compiled once for all its mutants.
#
#   awk -v path=PATH [-v check=1] -f weave.awk SOURCE ONE.diff OTHER.diff...
#
# SOURCE is the file that stands at PATH, from the repository's root. With `check`, nothing is
# printed.
#
# A mutant is a diff without line numbers. After lines that begin with '#', each change is
#
#   @@ PATH            of a source
#    a line            stands there, and stays
#   -a line            stands there, and goes
#   +a line            comes in its place
#
# The lines that stand there have to be found in the source exactly once: what a mutant means must
# not depend on where the source has moved it. Changes lie in bodies of functions that begin in the
# first column. If a function's head changes, too, the changed one is an overload beside the
# other, so what calls it has to be changed by the same mutant.

function complain(what) {
  printf "The mutant %s does not apply. Write tests/mutants/%s.diff anew, so that it makes the " \
         "same mistake in the code as it is now: %s\n", mutant, mutant, what > "/dev/stderr"
  failed = 1
}

# How often `old` stands in `text`, up to 2, and from where: in `at`.
function count(text, old,  rest) {
  at = index(text, old)
  if (!at) return 0
  rest = substr(text, at + 1)
  return index(rest, old) ? 2 : 1
}

# Makes the change that was read last in the mutant's copy of the source.
function change(  found) {
  if (changes_this) {
    found = count(mutated, old)
    if (found == 0) complain(path " has no such lines:\n" old)
    else if (found == 2) complain(path " has these lines twice:\n" old)
    else mutated = substr(mutated, 1, at - 1) new substr(mutated, at + length(old))
  }
  changes_this = 0
  old = new = ""
}

function begin_mutant() {
  mutant = FILENAME
  sub(/.*\//, "", mutant)
  sub(/\.diff$/, "", mutant)
  declared = declared "extern bool " mutant ";\n"
  mutated = source
  in_changes = changes_this = 0
}

function end_mutant() {
  change()
  if (!in_changes) complain("it changes nothing")
  if (!failed) take_mutated()
}

# Splits `text` into functions and what stands between them: into chunk[1..] and, of functions,
# head[1..]; returns how many. Code is formatted, so a body ends where a line begins with '}'. Types
# and what is initialised by a list have no head.
function split_chunks(text, chunk, head,  lines, n, i, line, chunks, open, pending) {
  split("", chunk)
  split("", head)
  n = split(text, lines, "\n") - 1  # behind the last newline there is nothing
  chunks = 0
  open = 0
  pending = ""
  for (i = 1; i <= n; ++i) {
    line = lines[i]
    pending = pending line "\n"
    if (open) {
      if (line !~ /^}/) continue
      open = 0
    } else if (line ~ /{$/ && line !~ /^namespace/) {
      open = 1
      if (pending !~ /^(struct|class|enum|union) / && line !~ /= {$/) {
        head[chunks + 1] = substr(pending, 1, length(pending) - 3)
      }
      continue
    } else if (line ~ /^[^ #\/].*\)[a-z ]* { .*}$/) {
      match(line, /\)[a-z ]* { /)
      head[chunks + 1] = substr(line, 1, RSTART + RLENGTH - 4)
    } else if (line !~ /^$/ && line !~ /^[#\/}]/ && line !~ /[;{}]$/) {
      continue
    }
    chunk[++chunks] = pending
    pending = ""
  }
  return chunks
}

# What stands between the braces of a function.
function body_of(chunk, head,  body) {
  body = substr(chunk, length(head) + 3)
  sub(/}[^}]*$/, "", body)
  return body
}

# Compares the mutated source with the original, function by function.
function take_mutated(  chunks, chunk, head, i, last) {
  chunks = split_chunks(mutated, chunk, head)
  last = 0
  for (i = 1; i <= chunks; ++i) {
    if (chunk[i] in where_original) {
      if (i in head) last = where_original[chunk[i]]
      continue
    }
    if (!(i in head)) {
      complain("it changes what stands outside of functions:\n" chunk[i])
      return
    }
    changed = 1
    if (head[i] in where_head) {
      last = where_head[head[i]]
      variants[last] = variants[last] "if (whorl::mutants::" mutant ") {\n" \
        body_of(chunk[i], head[i]) "} else "
    } else {
      added[last] = added[last] chunk[i]
    }
  }
  if (!changed) complain("it changes nothing in " path)
}

FNR == 1 && NR != 1 {
  if (seen++) end_mutant()
  else {
    chunks = split_chunks(source, original, original_head)
    for (i = 1; i <= chunks; ++i) {
      where_original[original[i]] = i
      if (i in original_head) where_head[original_head[i]] = i
    }
  }
  begin_mutant()
  changed = 0
}

!seen { source = source $0 "\n"; next }

/^@@ / { change(); in_changes = 1; changes_this = substr($0, 4) == path; next }
/^#/ && !in_changes { next }
/^[ +-]/ && in_changes {
  if ($0 !~ /^\+/) old = old substr($0, 2) "\n"
  if ($0 !~ /^-/) new = new substr($0, 2) "\n"
  next
}
{ complain("this line of it is no change: " $0) }

END {
  if (seen) end_mutant()
  if (failed) exit 1
  if (check) exit 0
  printf "namespace whorl::mutants {\n%s}\n", declared  # chosen.cc defines them
  for (i = 1; i <= chunks; ++i) {
    if (i in variants) {
      printf "%s {\n%s{\n%s}\n}\n", original_head[i], variants[i],
             body_of(original[i], original_head[i])
    } else {
      printf "%s", original[i]
    }
    printf "%s", added[i]
  }
}
