#include "protocol/spanner/answers.h"

#include <algorithm>
#include <array>

namespace whorl {
namespace {

constexpr CodeSet kAnyCall = {Code::kCancelled,         Code::kUnknown,
                              Code::kInvalidArgument,   Code::kDeadlineExceeded,
                              Code::kNotFound,          Code::kPermissionDenied,
                              Code::kResourceExhausted, Code::kFailedPrecondition,
                              Code::kUnimplemented,     Code::kInternal,
                              Code::kUnavailable,       Code::kUnauthenticated};
constexpr CodeSet kOutcomeUnknown = {Code::kCancelled, Code::kUnknown, Code::kDeadlineExceeded,
                                     Code::kInternal, Code::kUnavailable};
// The client may have lost its permissions or its session since then, or its quota may be used up.
constexpr CodeSet kCommitAgain =
    kOutcomeUnknown | CodeSet{Code::kNotFound, Code::kPermissionDenied, Code::kResourceExhausted,
                              Code::kFailedPrecondition, Code::kUnauthenticated};

// A constraint is broken by DML at once, and by mutations at Commit.
constexpr CodeSet kStatement = {Code::kAborted, Code::kAlreadyExists, Code::kOutOfRange};
// In a transaction in which DML broke one, a read repeats that error.
constexpr CodeSet kRead = {Code::kAborted, Code::kAlreadyExists};
constexpr std::array kAnswers = std::to_array<CallAnswers>({
    {.method = "BatchCreateSessions", .can_lose_session = false, .codes = {}},
    // Its groups are answered one by one, each with a status of its own within the reply.
    {.method = "BatchWrite", .codes = {}},
    {.method = "BeginTransaction", .codes = {Code::kAborted}},
    {.method = "Commit", .codes = {Code::kAborted, Code::kAlreadyExists, Code::kOutOfRange}},
    {.method = "CreateSession", .can_lose_session = false, .codes = {}},
    // OK for a session that is gone, too.
    {.method = "DeleteSession", .can_lose_session = false, .codes = {}},
    {.method = "ExecuteBatchDml", .codes = kStatement},
    {.method = "ExecuteSql", .codes = kStatement},
    {.method = "ExecuteStreamingSql", .codes = kStatement},
    {.method = "GetSession", .codes = {}},
    {.method = "ListSessions", .can_lose_session = false, .codes = {}},
    {.method = "PartitionQuery", .codes = {}},
    {.method = "PartitionRead", .codes = {}},
    {.method = "Read", .codes = kRead},
    // "Never returns ABORTED" (its proto).
    {.method = "Rollback", .codes = {}},
    {.method = "StreamingRead", .codes = kRead},
});

}  // namespace

std::span<const CallAnswers> AnswersOfCalls() { return kAnswers; }

const CallAnswers* FindAnswers(std::string_view method) {
  const auto found = std::ranges::find(kAnswers, method, &CallAnswers::method);
  return found == kAnswers.end() ? nullptr : &*found;
}

CodeSet AnyCall() { return kAnyCall; }
CodeSet OutcomeUnknown() { return kOutcomeUnknown; }
CodeSet CommitAgain() { return kCommitAgain; }
CodeSet EndsTransaction() { return {Code::kAborted, Code::kAlreadyExists}; }

bool MayAnswer(std::string_view method, Code code, bool in_read_write) {
  if (code == Code::kAborted && !in_read_write) return false;
  if (kAnyCall.Has(code)) return true;
  const CallAnswers* answers = FindAnswers(method);
  return answers != nullptr && answers->codes.Has(code);
}

}  // namespace whorl
