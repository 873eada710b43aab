#include "cli/grpc_commands.h"

#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "base/text.h"
#include "cli/exit_code.h"
#include "cli/output.h"

namespace whorl::cli {
namespace {

struct Program {
  std::string_view name;
  std::string_view remedy;
};
constexpr Program kGrpcProgram = {
    .name = "whorl-grpc",
    .remedy =
        "./dev build makes it, with Google's protos, and the Debian package whorl-locks brings it"};
constexpr Program kPlayProgram = {
    .name = "whorl-play",
    .remedy = "./dev build makes it, with Debian's package libcpp-httplib-dev"};

// Returns only after a failure, which it has printed. `what` names the option or command that needs
// the program.
void Become(const Program& program, std::string_view what, char** argv) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  const fs::path beside = self.parent_path() / program.name;
  const fs::path installed = self.parent_path().parent_path() / "libexec/whorl" / program.name;
  for (const fs::path& path : {beside, installed}) {
    execv(path.c_str(), argv);
    if (errno == ENOENT) continue;
    return Complain(Cat(path.string(), ": ", std::generic_category().message(errno)));
  }
  Complain(
      Cat(what, " needs the program ", beside.string(), ", which is missing: ", program.remedy));
}
void BecomeGrpcProgram(std::string_view what, char** argv) { Become(kGrpcProgram, what, argv); }

// `lock exec` leaves lower codes to the command that it runs.
int CodeOfMissingLock(int argc, char** argv) {
  const bool is_exec = argc > 2 && std::string_view(argv[2]) == "exec";
  return is_exec ? static_cast<int>(kExecFailed) : static_cast<int>(kCannotRun);
}

}  // namespace

GrpcCommands HandedOver(int argc, char** argv) {
  const auto on = [argv](const auto& /*request*/) {
    BecomeGrpcProgram("--on", argv);
    return static_cast<int>(kCannotRun);
  };
  const auto database = [argv](const auto& /*request*/) {
    BecomeGrpcProgram("whorl check --database", argv);
    return static_cast<int>(kCannotRun);
  };
  const auto lock = [argc, argv] {
    BecomeGrpcProgram("whorl lock", argv);
    return CodeOfMissingLock(argc, argv);
  };
  const auto other = [argv] {
    BecomeGrpcProgram(Cat("whorl ", argv[1]), argv);
    return static_cast<int>(kCannotRun);
  };
  const auto play = [argv] {
    Become(kPlayProgram, "whorl play", argv);
    return static_cast<int>(kCannotRun);
  };
  return {.lock = lock,
          .serve = other,
          .proxy = other,
          .conform = other,
          .play = play,
          .replay_on = on,
          .takeover_on = on,
          .check_database = database};
}

}  // namespace whorl::cli
