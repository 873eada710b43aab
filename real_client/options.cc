#include "real_client/options.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>
#include <vector>

namespace whorl::real_client {
namespace {

// The resource ids of a path in which a collection precedes each id: projects/P/instances/I. Empty
// if the path has other collections or an empty id.
std::vector<std::string> IdsOf(std::string_view path, size_t depth) {
  constexpr std::array<std::string_view, 3> kCollections = {"projects/", "instances/",
                                                            "databases/"};
  std::vector<std::string> ids;
  for (size_t i = 0; i < depth; ++i) {
    if (!path.starts_with(kCollections[i])) return {};
    path.remove_prefix(kCollections[i].size());
    const size_t end = i + 1 < depth ? path.find('/') : path.size();
    if (end == 0 || end == std::string_view::npos) return {};
    ids.emplace_back(path.substr(0, end));
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return ids.back().find('/') == std::string::npos ? ids : std::vector<std::string>();
}

Status IsNoName(std::string_view path, std::string_view what, std::string_view form) {
  return Error(Code::kInvalidArgument, "\"" + std::string(path) + "\" does not name " +
                                           std::string(what) + "; expected " + std::string(form));
}

}  // namespace

Status ParseDatabaseName(std::string_view path, DatabaseName& out) {
  std::vector<std::string> ids = IdsOf(path, 3);
  if (ids.empty()) {
    return IsNoName(path, "a database", "projects/PROJECT/instances/INSTANCE/databases/DATABASE");
  }
  out = {
      .project = std::move(ids[0]), .instance = std::move(ids[1]), .database = std::move(ids[2])};
  return {};
}

Status ValidateInstancePath(std::string_view path) {
  if (!IdsOf(path, 2).empty()) return {};
  return IsNoName(path, "an instance", "projects/PROJECT/instances/INSTANCE");
}

ConnectionOptions Resolve(ConnectionOptions options, std::optional<std::string> emulator_host) {
  const bool own_credentials = !std::holds_alternative<ApplicationDefault>(options.credentials);
  if (!emulator_host || emulator_host->empty() || own_credentials) return options;
  options.endpoint = *std::move(emulator_host);
  options.credentials = Plaintext{};
  return options;
}

ConnectionOptions ResolveWithEnvironment(ConnectionOptions options) {
  // Read on the caller's thread when it creates a client, before that client has its own thread.
  const char* host = std::getenv("SPANNER_EMULATOR_HOST");  // NOLINT(concurrency-mt-unsafe)
  return Resolve(std::move(options),
                 host == nullptr ? std::nullopt : std::optional<std::string>(host));
}

}  // namespace whorl::real_client
