// Names of Google's API resources: projects/P/instances/I/databases/D/sessions/S and their parts.
//
// A name is well-formed when its fixed words are there and what stands between them is not empty;
// whether the thing exists is another question.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "protocol/spanner/status.h"

namespace whorl::server {

bool IsProjectName(std::string_view name);
bool IsDatabaseName(std::string_view name);

struct SessionPath {
  std::string database;  // its whole name
  std::string session;   // the last part alone
};
std::optional<SessionPath> ParseSessionName(std::string_view name);
std::string MakeSessionName(const std::string& database, const std::string& session);

// The instance of a database. REQUIRES: IsDatabaseName(database).
std::string InstanceOf(std::string_view database);
// What a resource of `parent` with this id is called, e.g. kind "databases".
std::string ChildName(std::string_view parent, std::string_view kind, std::string_view id);
// What may stand for a new instance or database, as Spanner says it: a lower-case letter, then
// lower-case letters, digits, hyphens and (databases only) underscores, no hyphen last; 2 to 64
// characters (databases: 2 to 30).
bool IsNewInstanceId(std::string_view id);
bool IsNewDatabaseId(std::string_view id);

// In the words from which wire/status.h takes the details that Spanner's clients read.
Status InstanceNotFound(const std::string& name);
Status DatabaseNotFound(const std::string& name);

// The id in CREATE DATABASE `id`, with or without the quotes; nothing for any other text.
std::optional<std::string> ParseCreateDatabase(std::string_view statement);

}  // namespace whorl::server
