#include "cli/hunt/digests.h"

#include <cstddef>
#include <string_view>

#include "base/text.h"

namespace whorl::cli {
namespace {

constexpr uint64_t kDigestsInLine = 100;

// By Verdict.
constexpr std::string_view kLetters = "hvpu-";
static_assert(kLetters.size() == kCountOf<sim::Verdict>);

}  // namespace

absl::Status DigestFile::Open(const std::string& path) {
  is_wanted_ = !path.empty();
  return is_wanted_ ? file_.Open(path) : absl::OkStatus();
}

void DigestFile::Add(const sim::RunDigest& digest) {
  if (!is_wanted_) return;
  std::ostream& out = file_.stream();
  if (count_ % kDigestsInLine == 0) {
    if (count_ > 0) out << '\n';
    out << count_;
  }
  out << ' ' << HashText(digest.hash) << ':';
  for (const sim::Verdict verdict : digest.verdicts) out << kLetters[static_cast<size_t>(verdict)];
  ++count_;
}

absl::Status DigestFile::Commit() {
  if (!is_wanted_) return absl::OkStatus();
  if (count_ > 0) file_.stream() << '\n';
  return file_.Commit();
}

}  // namespace whorl::cli
