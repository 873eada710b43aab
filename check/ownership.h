// Tells who owned each lock, and when, by the changes of its row.
//
// A version with the commit timestamp c can be seen from some time v on, c <= v. v is not recorded, but
// it has bounds: the reply to the call that committed it, and the row's next commit, which waited for it.
//
//   commits   c1         c2         c3
//   a owns    ..[========]..|            certain from v1 to c2, possible from c1 to v2
//
// Memory: for each lock, the terms that later operations may concern, and a time for each process that ever owned
// it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "check/operation.h"

namespace whorl::check {

class Ownership {
 public:
  explicit Ownership(bool locks_have_names) : locks_have_names_(locks_have_names) {}

  // A committed call, with what was recorded of it.
  struct Writer {
    std::string process;
    Timestamp sent;
    Timestamp received;
    std::string step;
    bool is_by_its_clock = true;  // and not that of a program that the call passed
  };
  struct Term {
    std::string owner;
    bool owner_is_certain = false;  // whether the row's change shows that it took the lock
    std::optional<uint64_t> token;
    Timestamp from;                 // its commit
    std::optional<Writer> granted;  // the call of it
    std::optional<Timestamp> next;  // the row's next commit
    std::optional<Timestamp> to;    // the commit that ended it
    std::optional<Writer> ended;    // the call of that
    std::optional<Timestamp> over;  // the row's next commit after that
  };
  struct Lock {
    std::optional<Timestamp> known_from;  // the first change that was recorded
    std::optional<Timestamp> last;        // and the last one
    std::vector<Term> terms;  // in the order of time; only the last one may not have ended
    // Of processes whose terms were forgotten: when the last of them was surely over.
    std::map<std::string, Timestamp> before;
    std::optional<Timestamp> gap_to;  // changes before it are missing
    // Writes: their commits, and until when they tell.
    std::vector<std::pair<Timestamp, Timestamp>> outside;
  };

  // All in the order of their commits; Changed() comes before what the change did.
  void Changed(const std::string& name, Timestamp commit);
  void Began(const std::string& name, Term term);
  void Ended(const std::string& name, Timestamp commit, std::optional<Writer> by);
  // Changes of the row before it are missing, or came too late.
  void Gap(const std::string& name, Timestamp to);
  // An outside write ended, or set aside, what its row said; until `until` its owner may not know.
  void Outside(const std::string& name, Timestamp commit, Timestamp until);
  // Whether what began before `from` and met another one at `at` may have been broken by an outside write.
  bool IsBrokenOutside(const std::string& name, Timestamp from, Timestamp at) const;
  // Some change, of whatever lock, was not recorded. The first reason is kept.
  void Missing(const std::string& because, const std::string& remedy) {
    if (!missing_) missing_ = Lack{.because = because, .remedy = remedy};
  }
  // Forgets terms that were surely over before it.
  void Forget(Timestamp watermark);

  struct Lack {
    std::string because;
    std::string remedy;
  };
  const std::optional<Lack>& missing() const { return missing_; }
  // Null if no change of the lock's row was recorded. A table whose locks have no names is one lock.
  const Lock* Find(const std::string& name) const;

 private:
  const bool locks_have_names_;
  std::map<std::string, Lock> locks_;
  std::optional<Lack> missing_;
};

}  // namespace whorl::check
