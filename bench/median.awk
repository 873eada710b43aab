# Sorts values[1..count] and returns the one in the middle.
function sorted_middle(values, count,    i, j, kept) {
  for (i = 2; i <= count; ++i) {
    kept = values[i]
    for (j = i - 1; j >= 1 && values[j] > kept; --j) values[j + 1] = values[j]
    values[j + 1] = kept
  }
  return count % 2 ? values[(count + 1) / 2] : (values[count / 2] + values[count / 2 + 1]) / 2
}
