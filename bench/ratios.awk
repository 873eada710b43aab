# Of files old.N and new.N with lines of name, tab, nanoseconds: the ratio of old to new in each round
# N, from 1 to `rounds`; of each name their median, least and greatest. Needs median.awk.
BEGIN { FS = "\t" }
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
}
