// The words of an enumeration: one table says them all, and everything else follows from it.
//
// An enumeration gets its words from a function beside it, in its own namespace:
//
//   enum class Outcome : uint8_t { kCommitted, kAborted, kUnknown };
//   constexpr auto WordTableOf(Outcome) {
//     return MakeWordTable<Outcome>({
//         {Outcome::kCommitted, "committed"},
//         {Outcome::kAborted, "aborted"},
//         {Outcome::kUnknown, "unknown"},
//     });
//   }
//
// Then WordOf(outcome), ParseWord<Outcome>("aborted"), AllWords<Outcome>() and AllOf<Outcome>()
// work. Invariants, each held by the compiler:
//   1. Every enumerator has a word, and stands at its place. One that is added to the enumeration
//      and not to the table does not compile.
//   2. No word is empty, and no two are the same.
// REQUIRES of an enumeration: its enumerators are 0, 1, 2 and so on.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <optional>
#include <string_view>
#include <type_traits>

namespace whorl {

namespace words_internal {

// True if some enumerator has this value: the compiler then prints its name, and otherwise a cast,
// as in "(Outcome)3". No warning has to be on for that, so it also holds in programs that link us.
template <auto kValue>
consteval bool IsEnumerator() {
  std::string_view text = __PRETTY_FUNCTION__;
  text.remove_suffix(1);  // the bracket
  while (text.back() >= '0' && text.back() <= '9') text.remove_suffix(1);
  return text.back() != ')';
}

template <typename Enum, size_t kFirst = 0>
consteval size_t CountFrom() {
  if constexpr (IsEnumerator<static_cast<Enum>(kFirst)>()) {
    return CountFrom<Enum, kFirst + 1>();
  } else {
    return kFirst;
  }
}

}  // namespace words_internal

// How many enumerators there are, words or not.
template <typename Enum>
  requires std::is_enum_v<Enum>
inline constexpr size_t kCountOf = words_internal::CountFrom<Enum>();

// Every enumerator, in order.
template <typename Enum>
constexpr std::array<Enum, kCountOf<Enum>> AllOf() {
  std::array<Enum, kCountOf<Enum>> all{};
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<Enum>(i);
  return all;
}

// A text for each enumerator.
template <typename Enum>
class WordTable {
 public:
  struct Entry {
    Enum enumerator;
    std::string_view text;
  };
  static constexpr size_t kCount = kCountOf<Enum>;

  consteval explicit WordTable(const Entry (&entries)[kCount]) {
    for (size_t i = 0; i < kCount; ++i) {
      if (entries[i].enumerator != static_cast<Enum>(i)) throw "an enumerator is out of its place";
      texts_[i] = entries[i].text;
    }
  }

  constexpr std::string_view operator[](Enum enumerator) const {
    return texts_[static_cast<size_t>(enumerator)];
  }
  constexpr const std::array<std::string_view, kCount>& texts() const { return texts_; }
  constexpr std::optional<Enum> Find(std::string_view text) const {
    for (size_t i = 0; i < kCount; ++i) {
      if (texts_[i] == text) return static_cast<Enum>(i);
    }
    return std::nullopt;
  }

 private:
  std::array<std::string_view, kCount> texts_;
};

// The compiler names this concept if an enumerator has no entry, or an entry no enumerator.
template <typename Enum, size_t kEntries>
concept OneEntryForEachEnumerator = kEntries == kCountOf<Enum>;

// Texts that are no words, such as what the enumerators mean: they may be empty, or the same.
template <typename Enum, size_t N>
  requires OneEntryForEachEnumerator<Enum, N>
consteval WordTable<Enum> MakeTextTable(const typename WordTable<Enum>::Entry (&entries)[N]) {
  return WordTable<Enum>(entries);
}

template <typename Enum, size_t N>
  requires OneEntryForEachEnumerator<Enum, N>
consteval WordTable<Enum> MakeWordTable(const typename WordTable<Enum>::Entry (&entries)[N]) {
  const WordTable<Enum> table(entries);
  for (size_t i = 0; i < N; ++i) {
    if (entries[i].text.empty()) throw "an enumerator has an empty word";
    if (*table.Find(entries[i].text) != static_cast<Enum>(i)) throw "two enumerators have one word";
  }
  return table;
}

template <typename Enum>
concept HasWords = std::is_enum_v<Enum> && requires(Enum enumerator) {
  { WordTableOf(enumerator) } -> std::same_as<WordTable<Enum>>;
};

// The table, as an object that lives as long as the program.
template <HasWords Enum>
inline constexpr WordTable<Enum> kWordTable = WordTableOf(Enum{});

template <HasWords Enum>
constexpr std::string_view WordOf(Enum enumerator) {
  return kWordTable<Enum>[enumerator];
}

// The enumerator that has this word.
template <HasWords Enum>
constexpr std::optional<Enum> ParseWord(std::string_view word) {
  return kWordTable<Enum>.Find(word);
}

// In the order of the enumerators.
template <HasWords Enum>
constexpr const std::array<std::string_view, kCountOf<Enum>>& AllWords() {
  return kWordTable<Enum>.texts();
}

}  // namespace whorl
