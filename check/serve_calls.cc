#include "check/serve_calls.h"

#include <string>
#include <string_view>

#include "check/no_protocol.h"
#include "sim/scenario/rules.h"

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

std::string ServeCalls::LockOf(const Node& object, std::string_view transaction, bool ends) {
  std::string lock;
  if (const Node* parameters = MemberIn(&object, "parameters")) {
    const Node* name = MemberIn(parameters, "name");
    if (name != nullptr && name->IsString()) lock = name->text;
  }
  if (transaction.empty()) return lock;
  auto known = locks_.find(transaction);
  if (known == locks_.end()) {
    if (ends || lock.empty()) return lock;
    if (locks_.size() >= kTransactionsKept) locks_.clear();
    known = locks_.emplace(transaction, lock).first;
  }
  if (!lock.empty() && lock != known->second) known->second.clear();
  lock = known->second;
  if (ends) locks_.erase(known);
  return lock;
}

void ServeCalls::Read(const Node& object, const ProtocolInfo& protocol, const Wanted& wanted,
                      const Place& place, std::vector<Operation>& out) {
  const Timestamp at = TimeIn(object, "at");
  const Timestamp received = at + ParseLength(TextIn(object, "took"), "took");
  const std::string_view method = TextIn(object, "method");
  const Node* code = Find(object, "code");
  const bool has_code = code != nullptr && code->IsString();
  const std::string_view transaction = TextIn(object, "transaction", /*required=*/false);
  const Statement statement =
      StatementOf(method, has_code ? code->text : std::string_view(), !transaction.empty());
  const bool commits = Find(object, "commit_timestamp") != nullptr;
  const Node* lock = Find(object, "lock");
  const bool ends = commits || method == "Rollback" || statement == Statement::kAborted;
  std::string about = LockOf(object, transaction, ends);
  if (lock != nullptr) about = TextIn(object, "lock");
  const bool is_side = !wanted.lock.empty() && RulesFor(protocol).is_side_row(wanted.lock, about);
  if (about.empty() || is_side) about = wanted.lock;
  if (!commits && statement == Statement::kOther) return;
  if (Find(object, "id") == nullptr) throw Wrong{std::string(kNoName)};
  const std::string sender(TextIn(object, "id"));
  if (!wanted.Wants(about)) return;
  if (commits) {
    out.push_back({.place = place,
                   .what = CommitRecord{.process = place.file,
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
                 .what = LogLine{.process = place.file,
                                 .lock = about,
                                 .at = received,
                                 .number = {},
                                 .statement = statement,
                                 .lapses_in = {},
                                 .asked = {},
                                 .token = {},
                                 .sender = sender}});
}

}  // namespace whorl::check
