#include "cli/hunt/checkpoint.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include "absl/status/statusor.h"
#include "base/text.h"
#include "cli/inputs.h"
#include "cli/output.h"

namespace whorl::cli {
namespace {

constexpr std::string_view kRemedy = "; name another file, or remove it to begin anew";

std::string CountOr(std::optional<uint64_t> count, std::string_view otherwise) {
  return count.has_value() ? std::to_string(*count) : std::string(otherwise);
}

// What differs between the hunt of a file and this one; empty if nothing does.
std::string Difference(const HuntReport& read, const HuntReport& mine) {
  const auto differs = [](std::string_view what, const std::string& it,
                          const std::string& this_one) {
    return Cat("it has ", what, " ", it, ", and this one ", this_one);
  };
  if (read.asked != mine.asked) {
    return differs("--runs", CountOr(read.asked, "without end"),
                   CountOr(mine.asked, "without end"));
  }
  if (read.coverage.shards != mine.coverage.shards || read.coverage.runs.size() != 1 ||
      read.coverage.runs.begin()->first != mine.coverage.runs.begin()->first) {
    return differs("--shard", ShardsText(read.coverage), ShardsText(mine.coverage));
  }
  if (read.hunt.seed != mine.hunt.seed) {
    return differs("--seed", std::to_string(read.hunt.seed), std::to_string(mine.hunt.seed));
  }
  const bool is_same = read.hunt == mine.hunt && read.corpus.empty() == mine.corpus.empty();
  return is_same ? "" : "it has other options";
}

}  // namespace

absl::Status HuntCheckpoint::Open(const std::string& path, const HuntReport& begun) {
  if (absl::Status locked = lock_.Take("--checkpoint", path); !locked.ok()) return locked;
  path_ = path;
  report_ = begun;
  std::error_code error;
  return std::filesystem::exists(path, error) ? Read(begun) : absl::OkStatus();
}

absl::Status HuntCheckpoint::Read(const HuntReport& begun) {
  std::ifstream stream;
  if (absl::Status opened = OpenInput(path_, stream); !opened.ok()) return opened;
  const std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  absl::StatusOr<HuntReport> read = ReadReport(text, path_, false);
  if (!read.ok()) return read.status();
  const std::string name = Printable(path_, 1'000);
  if (const std::string difference = Difference(*read, begun); !difference.empty()) {
    return absl::InvalidArgumentError(Cat(name, ": is of another hunt: ", difference, kRemedy));
  }
  const bool has_runs = read->coverage.RunCount() > 0;
  if (has_runs && !read->last.has_value()) {
    return absl::InvalidArgumentError(Cat(
        name, ": is a report, and no checkpoint: it does not say which run was its last", kRemedy));
  }
  if (has_runs && sim::DigestOfRun(read->hunt, read->last->name).hash != read->last->hash) {
    return absl::InvalidArgumentError(
        Cat(name, ": run ", sim::NameText(read->last->name),
            " ended otherwise in the whorl that wrote it, so the sum would be of two programs",
            kRemedy));
  }
  report_ = *std::move(read);
  return absl::OkStatus();
}

absl::Status HuntCheckpoint::Write(const HuntReport& report) {
  absl::Status written = WriteNow(report);
  if (!written.ok() && !has_failed_) Complain(std::string(written.message()));
  has_failed_ = !written.ok();
  return written;
}

absl::Status HuntCheckpoint::WriteNow(const HuntReport& report) const {
  OutputFile file;
  if (absl::Status opened = file.Open(path_); !opened.ok()) return opened;
  file.stream() << ReportLines(report, "whorl", "");
  return file.Commit();
}

}  // namespace whorl::cli
