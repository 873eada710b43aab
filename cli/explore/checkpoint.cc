#include "cli/explore/checkpoint.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "base/text.h"
#include "cli/inputs.h"
#include "cli/output.h"

namespace whorl::cli {
namespace {

constexpr std::chrono::seconds kEvery(60);
// How often it is written depends on how long that takes: at most two per cent of the time.
constexpr int kShare = 50;

constexpr size_t kShown = 200;  // characters of what a file says

}  // namespace

absl::Status CheckpointFile::Open(const std::string& path, explore::Settings settings) {
  path_ = path;
  settings_ = std::move(settings);
  if (absl::Status locked = lock_.Take("--checkpoint", path); !locked.ok()) return locked;
  std::error_code error;
  return std::filesystem::exists(path, error) ? Read() : absl::OkStatus();
}

absl::Status CheckpointFile::Read() {
  std::ifstream stream;
  if (absl::Status opened = OpenInput(path_, stream); !opened.ok()) return opened;
  try {
    explore::CheckpointReader reader(stream);
    if (absl::Status same = CheckSettings(reader.ReadSettings()); !same.ok()) return same;
    read_ = reader.ReadSearch();
  } catch (const explore::BadCheckpoint& error) {
    return absl::InvalidArgumentError(Cat(path_, ": ", error.what()));
  }
  return absl::OkStatus();
}

absl::Status CheckpointFile::CheckSettings(const explore::Settings& read) const {
  const auto [mine, other] = std::ranges::mismatch(settings_, read);
  if (mine == settings_.end() && other == read.end()) return absl::OkStatus();
  std::string difference = "it has other settings than this one";
  if (mine != settings_.end() && other != read.end() && mine->first == other->first) {
    difference = Cat("it has ", mine->first, " ", Printable(other->second, kShown),
                     ", and this one has ", mine->first, " ", mine->second);
  }
  return absl::InvalidArgumentError(Cat(path_, ": is of another search: ", difference,
                                        "; name another file, or remove it to begin anew"));
}

bool CheckpointFile::IsDue() const { return is_open() && Clock::now() >= due_; }

void CheckpointFile::Write(const explore::SearchRecord& record,
                           const explore::WaitingLinks& waiting, const explore::BadGraph& bad) {
  const Clock::time_point started = Clock::now();
  absl::Status written = WriteNow(record, waiting, bad);
  const Clock::time_point ended = Clock::now();
  due_ = ended + std::max<Clock::duration>(kEvery, kShare * (ended - started));
  is_written_ = is_written_ || written.ok();
  if (!written.ok() && status_.ok()) Complain(std::string(written.message()));
  status_ = std::move(written);
}

absl::Status CheckpointFile::WriteNow(const explore::SearchRecord& record,
                                      const explore::WaitingLinks& waiting,
                                      const explore::BadGraph& bad) const {
  OutputFile file;
  if (absl::Status opened = file.Open(path_); !opened.ok()) return opened;
  explore::WriteCheckpoint(settings_, record, waiting, bad, file.stream());
  return file.Commit();
}

}  // namespace whorl::cli
