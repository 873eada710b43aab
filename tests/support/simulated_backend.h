// Runs a script as the simulation does: runner, session pool and Spanner model are values, in
// virtual time, without threads.
#pragma once

#include <string>
#include <vector>

#include "tests/support/scripted_network.h"

namespace whorl {

class SimulatedBackend final : public ScriptBackend {
 public:
  // `ddl`: CREATE TABLE statements.
  explicit SimulatedBackend(std::vector<std::string> ddl) : ddl_(std::move(ddl)) {}
  std::vector<std::string> Run(const Script& script) override;

 private:
  std::vector<std::string> ddl_;
};

}  // namespace whorl
