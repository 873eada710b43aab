// The program whorl-grpc: the command `whorl` with the commands that speak gRPC. The program whorl
// becomes it if the command line asks for one of them; users do not call it themselves.
#include <sys/prctl.h>

#include <cstdlib>
#include <string_view>

#include "cli/grpc/commands.h"
#include "cli/grpc_commands.h"
#include "cli/lock/commands.h"
#include "cli/serve/command.h"
#include "live/messages.h"
#include "live/node_process.h"

int main(int argc, char** argv) {
  using namespace whorl;
  // gRPC's own log lines tell of what whorl says in its words. GRPC_VERBOSITY=ERROR brings them back.
  setenv("GRPC_VERBOSITY", "NONE",
         /*overwrite=*/0);  // NOLINT(concurrency-mt-unsafe): no thread yet
  if (argc == 2 && std::string_view(argv[1]) == live::kNodeArgument) return live::RunNodeProcess();
  // ps and top show what the user typed.
  prctl(PR_SET_NAME, "whorl", 0, 0, 0);
  return cli::Main(argc, argv,
                   {.lock = [argc, argv] { return cli::RunLockCommand(argc, argv); },
                    .serve = [argc, argv] { return cli::RunServeCommand(argc, argv); },
                    .proxy = [argc, argv] { return cli::RunServeCommand(argc, argv); },
                    .conform = [argc, argv] { return cli::RunConformCommand(argc, argv); },
                    .play = cli::HandedOver(argc, argv).play,
                    .replay_on = cli::RunReplayOn,
                    .takeover_on = cli::RunTakeoverOn,
                    .check_database = cli::RunCheckDatabase});
}
