// The known word that a person most likely meant.
//
// Invariants:
//   1. A suggestion is one of the known words; of equally near ones, the first.
//   2. Nothing is suggested when nothing is near: more than a third of the letters wrong, or no
//      letter right. A far-fetched suggestion is worse than none.
// Upper and lower case, and `-` and `_`, count as the same letter.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace whorl::sim {

// How many letters have to be inserted, deleted, replaced or swapped with their neighbour to turn
// `a` into `b` (bytes; each place is edited once). Words above 64 bytes are as far as they are
// long.
size_t EditDistance(std::string_view a, std::string_view b);

// A view of one of `known`, or nothing.
std::optional<std::string_view> NearestWord(std::string_view word,
                                            std::span<const std::string_view> known);

// `; did you mean "b"?` for the end of an error, or "" when nothing is near.
std::string DidYouMean(std::string_view word, std::span<const std::string_view> known);

}  // namespace whorl::sim
