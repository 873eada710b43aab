#include "cli/hunt/corpus.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "base/text.h"
#include "cli/inputs.h"
#include "cli/output.h"
#include "sim/report/json_print.h"
#include "sim/scenario/loader.h"
#include "sim/scenario/writer.h"
#include "sim/world/mix.h"

namespace whorl::cli {
namespace {

namespace fs = std::filesystem;
using sim::Json;

constexpr std::string_view kHeadName = "corpus.jsonl";
constexpr std::string_view kFormatOfCorpus = "whorl-corpus";
constexpr int kVersionOfCorpus = 1;
constexpr std::string_view kOtherFolder = "; name another folder";

// What has to be the same for all hunts of a corpus.
Json HeadOf(const sim::HuntOptions& hunt) {
  Json kinds = Json::array();
  for (const sim::FaultKind kind : hunt.world.kinds) {
    kinds.push_back(std::string(sim::FaultKindText(kind)));
  }
  return {{"format", kFormatOfCorpus},
          {"version", kVersionOfCorpus},
          {"duration", FormatDuration(hunt.world.duration)},
          {"faults", std::move(kinds)},
          {"beyond_assumptions", hunt.world.beyond_assumptions}};
}

absl::Status BadCorpus(const std::string& path, std::string_view what) {
  return absl::InvalidArgumentError(Cat(Printable(path, 1'000), ": ", what));
}

// Why a corpus with this head is none for the hunt; empty if it is.
std::string DifferenceOf(const Json& head, const sim::HuntOptions& hunt) {
  const Json mine = HeadOf(hunt);
  if (!head.is_object() || !head.contains("format") || head["format"] != mine["format"]) {
    return "expected the line that whorl hunt --corpus has written";
  }
  if (!head.contains("version") || head["version"] != mine["version"]) {
    return Cat("of another version of whorl", kOtherFolder);
  }
  for (const auto& [key, value] : mine.items()) {
    if (head.contains(key) && head[key] == value) continue;
    return Cat("of hunts with other options: it has \"", key,
               "\": ", head.contains(key) ? sim::DumpJson(head[key]) : std::string("nothing"),
               ", and this one ", sim::DumpJson(value), kOtherFolder);
  }
  return {};
}

absl::StatusOr<std::string> TextOfFile(const std::string& path) {
  std::ifstream stream;
  if (absl::Status opened = OpenInput(path, stream); !opened.ok()) return opened;
  return std::string{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

// The scenarios of the folder, by name.
absl::StatusOr<std::vector<std::string>> ScenariosIn(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->path().extension() == ".json") files.push_back(entry->path().string());
  }
  if (error) return absl::UnavailableError(CannotRead(folder, error.message()));
  std::ranges::sort(files);
  return files;
}

}  // namespace

std::string CorpusFolder::PathOf(const std::string& name) const {
  return (fs::path(path_) / name).string();
}

absl::Status CorpusFolder::WriteFile(const std::string& name, const std::string& text) const {
  OutputFile file;
  if (absl::Status opened = file.Open(PathOf(name)); !opened.ok()) return opened;
  file.stream() << text;
  return file.Commit();
}

absl::Status CorpusFolder::ReadHead(const sim::HuntOptions& hunt) const {
  const std::string path = PathOf(std::string(kHeadName));
  const absl::StatusOr<std::string> text = TextOfFile(path);
  if (!text.ok()) return text.status();
  const std::string difference = DifferenceOf(Json::parse(*text, nullptr, false), hunt);
  return difference.empty() ? absl::OkStatus() : BadCorpus(path + ":1", difference);
}

absl::Status CorpusFolder::ReadEntry(const std::string& file, sim::HuntOptions& hunt) {
  const absl::StatusOr<std::string> text = TextOfFile(file);
  // Another hunt that works with the folder may have taken it out.
  std::error_code error;
  if (!text.ok()) return fs::exists(file, error) ? text.status() : absl::OkStatus();
  absl::StatusOr<sim::Scenario> read = sim::ParseScenario(*text, file);
  if (!read.ok()) return read.status();
  if (std::ranges::find(hunt.protocols, read->protocol) == hunt.protocols.end()) {
    return absl::OkStatus();
  }
  const std::string name = fs::path(file).stem().string();
  const sim::Scenario entry = sim::Corpus::EntryOf(*read, read->expect.violates);
  const std::string right = sim::Corpus::NameOf(entry);
  if (*text != sim::ScenarioText(entry) || name != right) {
    return BadCorpus(
        file, Cat("is not as whorl hunt --corpus wrote it: its text has another name, ", right,
                  "; remove it, or bring it back"));
  }
  there_.insert(name);
  hunt.entries.worlds.emplace(name, std::make_shared<const sim::Scenario>(entry));
  return absl::OkStatus();
}

absl::Status CorpusFolder::Open(const std::string& path, sim::HuntOptions& hunt) {
  if (absl::Status made = MakeFolder(path); !made.ok()) return made;
  path_ = path;
  const absl::StatusOr<std::vector<std::string>> files = ScenariosIn(path);
  if (!files.ok()) return files.status();
  std::error_code error;
  if (!fs::exists(PathOf(std::string(kHeadName)), error)) {
    if (!files->empty()) {
      return BadCorpus(path,
                       Cat("has scenarios, and no ", kHeadName, ": it is no corpus", kOtherFolder));
    }
    const std::string head = sim::DumpJson(HeadOf(hunt)) + "\n";
    if (absl::Status done = WriteFile(std::string(kHeadName), head); !done.ok()) return done;
  }
  if (absl::Status same = ReadHead(hunt); !same.ok()) return same;
  for (const std::string& file : *files) {
    if (absl::Status read = ReadEntry(file, hunt); !read.ok()) return read;
  }
  uint64_t hash = there_.size();
  for (const std::string& name : there_) {
    for (const char letter : name) hash = sim::Combine(hash, static_cast<unsigned char>(letter));
  }
  hash_ = HashText(hash);
  return absl::OkStatus();
}

std::string CorpusFolder::Hash() const { return hash_; }

absl::Status CorpusFolder::Write(const sim::Corpus& corpus) {
  absl::Status written = WriteNow(corpus);
  if (!written.ok() && !has_failed_) Complain(std::string(written.message()));
  has_failed_ = !written.ok();
  return written;
}

absl::Status CorpusFolder::WriteNow(const sim::Corpus& corpus) {
  const sim::Entries entries = corpus.entries();
  for (const auto& [name, world] : entries) {
    if (there_.contains(name)) continue;
    if (absl::Status done = WriteFile(name + ".json", sim::ScenarioText(*world)); !done.ok()) {
      return done;
    }
    there_.insert(name);
  }
  for (auto name = there_.begin(); name != there_.end();) {
    if (entries.contains(*name)) {
      ++name;
      continue;
    }
    std::error_code error;  // it may be gone: another hunt has taken it out
    fs::remove(PathOf(*name + ".json"), error);
    name = there_.erase(name);
  }
  return absl::OkStatus();
}

}  // namespace whorl::cli
