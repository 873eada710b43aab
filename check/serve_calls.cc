#include "check/serve_calls.h"

#include <string>
#include <string_view>

namespace whorl::check {
namespace {

constexpr std::string_view kNoName =
    "names no process: start whorl serve, or whorl proxy, with the names that the rows have: "
    "--clients pod-a,pod-b";

// What is counted of a call that committed nothing; kOther: it is a part of a transaction, or none.
Statement StatementOf(std::string_view method, std::string_view code, bool is_in_transaction) {
  if (code == "ABORTED") return Statement::kAborted;
  if (method == "Commit" || method == "Rollback") return Statement::kCalled;
  const bool is_query = method == "ExecuteSql" || method == "ExecuteStreamingSql" ||
                        method == "Read" || method == "StreamingRead";
  return is_query && !is_in_transaction ? Statement::kCalled : Statement::kOther;
}

}  // namespace

bool IsServeCall(const Node& object) {
  return Find(object, "method") != nullptr && Find(object, "client") != nullptr &&
         Find(object, "took") != nullptr;
}

void ReadServeCall(const Node& object, const Wanted& wanted, const Place& place,
                   std::vector<Operation>& out) {
  const Timestamp at = TimeIn(object, "at");
  const Timestamp received = at + ParseLength(TextIn(object, "took"), "took");
  const std::string_view method = TextIn(object, "method");
  const Node* lock = Find(object, "lock");
  const std::string about(lock == nullptr ? wanted.lock : TextIn(object, "lock"));
  const Node* code = Find(object, "code");
  const bool has_code = code != nullptr && code->IsString();
  const Statement statement = StatementOf(method, has_code ? code->text : std::string_view(),
                                          Find(object, "transaction") != nullptr);
  const bool commits = Find(object, "commit_timestamp") != nullptr;
  if (!commits && statement == Statement::kOther) return;
  if (Find(object, "id") == nullptr) throw Wrong{std::string(kNoName)};
  const std::string sender(TextIn(object, "id"));
  if (commits) {
    out.push_back({.place = place,
                   .what = Called{.process = place.file,
                                  .lock = about,
                                  .number = {},
                                  .sent = at,
                                  .received = received,
                                  .commit = TimeIn(object, "commit_timestamp"),
                                  .step = {},
                                  .sender = sender}});
    return;
  }
  out.push_back({.place = place,
                 .what = Said{.process = place.file,
                              .lock = about,
                              .at = received,
                              .number = {},
                              .statement = wanted.Wants(about) ? statement : Statement::kOther,
                              .lapses_in = {},
                              .asked = {},
                              .token = {},
                              .sender = sender}});
}

}  // namespace whorl::check
