#include "check/looks_like.h"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"

namespace whorl::check {
namespace {

constexpr std::string_view kArchive = "an archive: unpack it, and name its files";

constexpr std::array<std::pair<std::string_view, std::string_view>, 10> kFirstBytes = {{
    {"PK\x03\x04", kArchive},
    {"7z\xBC\xAF\x27\x1C", kArchive},
    {"BZh", "compressed by bzip2: unpack it (gzip and zstd are unpacked here)"},
    {"\xFD"
     "7zXZ",
     "compressed by xz: unpack it (gzip and zstd are unpacked here)"},
    {"\x04\x22\x4D\x18", "compressed by lz4: unpack it (gzip and zstd are unpacked here)"},
    {"PAR1", "Parquet: export it as JSON or CSV"},
    {"Obj\x01", "Avro: export it as JSON"},
    {"SQLite format 3", "a database of SQLite: export the rows as JSON or CSV"},
    {"\x7F"
     "ELF",
     "a program"},
    {"%PDF", "a document in PDF"},
}};

bool Matches(std::string_view text, const char* pattern) {
  return RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), pattern);
}

bool IsTar(std::string_view text) {
  constexpr size_t kMagicAt = 257;
  return text.size() > kMagicAt && text.substr(kMagicAt).starts_with("ustar");
}

bool HasMany(std::string_view text, char delimiter) {
  return std::ranges::count(text, delimiter) >= 2;
}

}  // namespace

bool IsBinary(std::string_view first_line) {
  const bool is_known = std::ranges::any_of(
      kFirstBytes, [&](const auto& known) { return first_line.starts_with(known.first); });
  return is_known || first_line.find('\0') != std::string_view::npos;
}

std::string LooksLike(const std::vector<std::string>& lines) {
  const std::string_view first = lines.empty() ? std::string_view() : std::string_view(lines[0]);
  for (const auto& [bytes, what] : kFirstBytes) {
    if (first.starts_with(bytes)) return std::string(what);
  }
  if (IsTar(first)) return std::string(kArchive);
  if (first.find('\0') != std::string_view::npos) return "no text";
  if (Matches(first, R"(^\s*<)")) return "XML or HTML: write the records as JSON or CSV";
  if (Matches(
          first,
          R"((?i)^\s*(--[^-]|/\*|INSERT\s+INTO|CREATE\s|SELECT\s|UPDATE\s|DELETE\s+FROM|BEGIN;?\s*$|SET\s))")) {
    return "SQL: export the rows as JSON or CSV, with commit timestamps";
  }
  const std::string_view log =
      "a log: say how to read it (--pattern FILE, or spindle_v2; docs/CHECKING.md)";
  if (Matches(first, R"(\d\d:\d\d:\d\d)") && !HasMany(first, ',') && !HasMany(first, ';') &&
      !HasMany(first, '\t')) {
    return std::string(log);
  }
  for (const auto& [delimiter, name] : {std::pair(',', "commas"), std::pair(';', "semicolons"),
                                        std::pair('\t', "tabs"), std::pair('|', "bars")}) {
    if (!HasMany(first, delimiter)) continue;
    const bool is_data = Matches(first, R"(\d\d:\d\d:\d\d)");
    return Cat("CSV with ", name, is_data ? " and without a header: its" : ": its",
               " first line names the columns, among them event, or commit_timestamp "
               "(event,id,lock,time)");
  }
  if (Matches(first, R"(^(---|\s*- \w+:|[\w-]+:(\s|$)))")) return "YAML: write it as JSON";
  if (std::ranges::any_of(
          lines, [](const std::string& line) { return Matches(line, R"(\d\d:\d\d:\d\d)"); })) {
    return std::string(log);
  }
  return "no format that is read: those are JSON, EDN, CSV, and with --pattern any log "
         "(docs/CHECKING.md)";
}

}  // namespace whorl::check
