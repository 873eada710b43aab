// Parses names of Google's API resources: projects/P/instances/I/databases/D/sessions/S and their
// parts.
//
// A name is well-formed if it has its fixed words and no empty part between them; the resource need
// not exist.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "protocol/spanner/status.h"

namespace whorl::server {

bool IsProjectName(std::string_view name);
bool IsDatabaseName(std::string_view name);

struct SessionPath {
  std::string database;  // the full name
  std::string session;   // the last part alone
};
std::optional<SessionPath> ParseSessionName(std::string_view name);
std::string MakeSessionName(const std::string& database, std::string_view session);

// The instance of a database. REQUIRES: IsDatabaseName(database).
std::string InstanceOf(std::string_view database);
// The name of the resource with this id under `parent`; kind is "databases", for example.
std::string ChildName(std::string_view parent, std::string_view kind, std::string_view id);
// Whether Spanner accepts the id for a new instance or database: a lower-case letter, then
// lower-case letters, digits, hyphens and (databases only) underscores, no hyphen last; 2 to 64
// characters (databases: 2 to 30).
bool IsNewInstanceId(std::string_view id);
bool IsNewDatabaseId(std::string_view id);

// Errors whose wording wire/status.h turns into the details that Spanner's clients read.
Status InstanceNotFound(const std::string& name);
Status DatabaseNotFound(const std::string& name);

// The id in CREATE DATABASE `id`, with or without the quotes; nullopt for any other text.
std::optional<std::string> ParseCreateDatabase(std::string_view statement);

}  // namespace whorl::server
