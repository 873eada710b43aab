#include <utility>
#include <vector>

#include "cli/commands.h"
#include "cli/exit_code.h"

namespace whorl::cli {

SubCommand AddBenchCommand(CLI::App& root, const GrpcCommands& grpc) {
  CLI::App* app = root.add_subcommand("bench", "Measure takeover latency and cost");
  app->require_subcommand(1);
  app->footer("whorl bench SUBCOMMAND --help says more.");
  std::vector<SubCommand> benches = {
      AddTakeoverCommand(*app, grpc),
      AddCostCommand(*app),
  };
  return {.app = app, .run = [benches = std::move(benches)] {
            for (const SubCommand& bench : benches) {
              if (bench.app->parsed()) return bench.run();
            }
            return static_cast<int>(kBadInput);
          }};
}

}  // namespace whorl::cli
