// Judges one invariant by the lines of processes.
#pragma once

#include <optional>
#include <string>

#include "check/verdict.h"

namespace whorl::check {

class LineJudge {
 public:
  virtual ~LineJudge() = default;

  // Lines of the process are missing between the one at `last` and one at `at`, by its clock: until `last`
  // what it said is certain.
  virtual void Gap(const std::string& process, std::optional<Timestamp> last, Timestamp at) = 0;
  // The process started anew at `at`: it ended some time after the line at `last`, and said so nowhere.
  virtual void Restart(const std::string& /*process*/, std::optional<Timestamp> /*last*/,
                       Timestamp /*at*/) {}
  // The clock of the process is not what it was taken for.
  virtual void Doubt(const std::string& process) = 0;
  // The invariant cannot be said to hold any more. The first reason is kept.
  virtual void Missing(std::string because, std::string remedy) = 0;
  // All lines have been heard.
  virtual void Finish() {}
  virtual InvariantResult Find() const = 0;
};

}  // namespace whorl::check
