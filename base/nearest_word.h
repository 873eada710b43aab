// Finds the known word that a user most likely meant.
//
// Invariants:
//   1. A suggestion is one of the known words; the first of several that are equally near.
//   2. There is no suggestion if more than a third of the letters are wrong, or none is right. A
//      far-fetched suggestion is worse than none.
// Upper and lower case count as the same letter, and so do `-` and `_`.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace whorl {

// How many bytes must be inserted, deleted, replaced or swapped with their neighbour to turn `a`
// into `b`, each place being edited once. For words above 64 bytes, the length of the longer one.
size_t EditDistance(std::string_view a, std::string_view b);

// The nearest of `known`, as a view of it; nothing if none is near.
std::optional<std::string_view> NearestWord(std::string_view word,
                                            std::span<const std::string_view> known);

// `; did you mean "b"?` for the end of an error; empty if no word is near.
std::string DidYouMean(std::string_view word, std::span<const std::string_view> known);

}  // namespace whorl
