// Serves the Spanner model until SIGTERM, for whorl_fuzz_calls: the part of `whorl serve` that a client's
// call reaches, without the rest of the command, so that a sanitizer's tree builds it quickly.
//
//   whorl_fuzz_server serve --ddl FILE --database NAME [--like-emulator]
#include "spanner_model/server/server.h"

#include <signal.h>  // NOLINT(modernize-deprecated-headers): POSIX's, not C's

#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace whorl::fuzz {
namespace {

int Serve(int argc, char** argv) {
  server::ServerOptions options;
  server::InitialDatabase database;
  for (int i = 2; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--like-emulator") {
      options.backend = server::EmulatorLike();
    } else if (i + 1 < argc && word == "--database") {
      database.name = argv[++i];
    } else if (i + 1 < argc && word == "--ddl") {
      std::ifstream in(argv[++i]);
      for (std::string line; std::getline(in, line);) {
        database.statements.push_back(line.substr(0, line.find(';')));
      }
    }
  }
  options.backend.databases = {std::move(database)};
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);  // before the threads, which inherit it
  auto server = server::Server::Start(std::move(options));
  if (!server.ok()) {
    (void)std::fprintf(stderr, "%s\n", std::string(server.status().message()).c_str());
    return 3;
  }
  std::printf("SPANNER_EMULATOR_HOST=%s\n", (*server)->address().c_str());
  (void)std::fflush(stdout);
  int received = 0;
  sigwait(&ends, &received);
  (*server)->Shutdown();
  return 0;
}

}  // namespace
}  // namespace whorl::fuzz

int main(int argc, char** argv) { return whorl::fuzz::Serve(argc, argv); }
