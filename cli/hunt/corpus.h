// Keeps the folder of `whorl hunt --corpus DIR`: the runs of hunts that are worth keeping
// (sim/hunt/corpus.h), as scenarios that `whorl replay` runs, and a line that names the hunts that
// may use them.
//
//   DIR/corpus.jsonl                         {"format":"whorl-corpus","version":1,"duration":"120s",...}
//   DIR/fenced_lease-0123456789abcdef.json   the scenario with that name (Corpus::NameOf)
// Invariants:
//   1. A file is whole or is not there: it is written beside its place and renamed. An entry goes when what
//      covers it is written, not before.
//   2. Several hunts may work with one folder. What one of them takes out is covered by what it leaves.
//   3. What a hunt leaves in a folder that it has for itself depends on its options and on what was there.
#pragma once

#include <set>
#include <string>

#include "absl/status/status.h"
#include "sim/hunt/hunt.h"

namespace whorl::cli {

class CorpusFolder {
 public:
  // Reads the folder, which is made if it is not there: the entries of the hunt's protocols go into
  // hunt.entries.
  //   kInvalidArgument: it is of hunts with other options, or of another version, it is no corpus, or an
  //   entry is not what its name says; the message names the file. Nothing is changed.
  //   kUnavailable: it cannot be read or written.
  absl::Status Open(const std::string& path, sim::HuntOptions& hunt);

  bool is_open() const { return !path_.empty(); }
  // Which entries there were, as a hash.
  std::string Hash() const;

  // Writes what is not there yet, and then takes out what is not in the corpus any more. A failure is told
  // at once, and again after a later write has succeeded; nothing is taken out then.
  absl::Status Write(const sim::Corpus& corpus);

 private:
  absl::Status ReadHead(const sim::HuntOptions& hunt) const;
  absl::Status ReadEntry(const std::string& file, sim::HuntOptions& hunt);
  absl::Status WriteFile(const std::string& name, const std::string& text) const;
  absl::Status WriteNow(const sim::Corpus& corpus);
  std::string PathOf(const std::string& name) const;

  std::string path_;
  std::set<std::string> there_;  // the entries of the hunt's protocols
  std::string hash_;
  bool has_failed_ = false;
};

}  // namespace whorl::cli
