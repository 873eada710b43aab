#include "protocol/random_id.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string_view>
#include <system_error>

namespace whorl {
namespace {

struct Bits128 {
  uint64_t high = 0;
  uint64_t low = 0;
};

uint64_t Draw64(Entropy& entropy, Purpose purpose) {
  constexpr int64_t kAll32 = 0xffff'ffff;
  const auto high = static_cast<uint64_t>(entropy.Between(purpose, 0, kAll32));
  const auto low = static_cast<uint64_t>(entropy.Between(purpose, 0, kAll32));
  return high << 32 | low;
}

Bits128 Draw128(Entropy& entropy, Purpose purpose) {
  const uint64_t high = Draw64(entropy, purpose);
  return {.high = high, .low = Draw64(entropy, purpose)};
}

std::string Hex(Bits128 bits) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out(32, '0');
  for (size_t digit = 0; digit < 16; ++digit) {
    out[digit] = kDigits[bits.high >> (60 - 4 * digit) & 15];
    out[16 + digit] = kDigits[bits.low >> (60 - 4 * digit) & 15];
  }
  return out;
}

}  // namespace

std::string DrawUuid(Entropy& entropy, Purpose purpose) {
  Bits128 bits = Draw128(entropy, purpose);
  bits.high = (bits.high & ~uint64_t{0xf000}) | 0x4000;                // version 4
  bits.low = (bits.low & ~(uint64_t{3} << 62)) | (uint64_t{2} << 62);  // variant 1
  std::string text = Hex(bits);
  for (const size_t place : {20, 16, 12, 8}) text.insert(place, 1, '-');
  return text;
}

std::string DrawHex128(Entropy& entropy, Purpose purpose) { return Hex(Draw128(entropy, purpose)); }

std::optional<NumberedName> ParseNumberedName(std::string_view text) {
  constexpr size_t kDigits = 32;
  if (text.size() < kDigits + 2 || text[kDigits] != '-') return std::nullopt;
  NumberedName name;
  name.base = text.substr(0, kDigits);
  const auto is_hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  if (!std::ranges::all_of(name.base, is_hex)) return std::nullopt;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data() + kDigits + 1, end, name.number);
  if (error != std::errc{} || name.number < 0) return std::nullopt;
  name.more = {rest, static_cast<size_t>(end - rest)};
  return name;
}

std::optional<InstantName> ParseInstantName(std::string_view text) {
  constexpr size_t kDigits = 19;
  for (size_t place = text.find('_'); place != std::string_view::npos;
       place = text.find('_', place + 1)) {
    const std::string_view digits = text.substr(place + 1, kDigits);
    if (digits.size() < kDigits || digits.front() == '0') continue;
    InstantName name = {
        .base = text.substr(0, place), .number = 0, .more = text.substr(place + 1 + kDigits)};
    if (!name.more.empty() && name.more.front() >= '0' && name.more.front() <= '9') continue;
    const char* const end = digits.data() + kDigits;
    const auto [rest, error] = std::from_chars(digits.data(), end, name.number);
    if (error == std::errc{} && rest == end) return name;
  }
  return std::nullopt;
}

}  // namespace whorl
