#include "cli/hand_over.h"

#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "cli/output.h"
#include "sim/scenario/error_text.h"

namespace whorl::cli {

void HandOver(std::string_view program, std::string_view what, char** argv) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  const fs::path beside = self.parent_path() / program;
  const fs::path installed = self.parent_path().parent_path() / "libexec/whorl" / program;
  for (const fs::path& path : {beside, installed}) {
    execv(path.c_str(), argv + 1);  // argv[0] is whorl's
    if (errno == ENOENT) continue;
    return Complain(sim::Cat(path.string(), ": ", std::generic_category().message(errno)));
  }
  Complain(sim::Cat(what, " needs the program ", beside.string(),
                    ", which is missing: ./dev build makes it, with Google's protos"));
}

}  // namespace whorl::cli
