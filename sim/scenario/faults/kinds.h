// Declares the kinds of faults: one struct for each, with what a fault of that kind says beyond its
// trigger and its node, and the variant of them all.
//
// Everything that the language says of a kind stands in its file faults/<kind>.cc: Describe() gives
// its word, its keys and an example. Loader, writer, schema, guide and hunts work from that and from
// the struct's fields.
// Invariants:
//   1. A field has the name of its key; only `lasts` is "for", whose name C++ has taken. Fields
//      stand in the order in which they are written. A field of type DelaySpec, TrueTimeSpec or
//      RowOfLock reads and writes keys of its own.
//   2. The kinds stand in the order of the guide. That order is also the order in which hunts draw
//      kinds, so that a new kind is appended.
// What a struct may say of its kind besides, each with a default (bottom of this file):
//   kGoesOn          without `lasts` the fault goes on until the run ends
//   kStaysSet        without `lasts` it sets something for good, and is over at once
//   kLeadsTo         what its node does afterwards, where that changes
//   StrikesIn()      in which lives of its node it finds something to strike
//   StrikesOneCall() whether it strikes one call, rather than what is there for some time
//   ConflictingSetting(other) what it and another fault of the kind set to different values; empty if nothing
//   Detail()         what reports say of it beyond its kind, where nothing else shows it
//   Writes(row)      of a kind whose `target` is a row: what an operator writes to that row
//                    (operator_write.h). It needs no effect of its own in any host
//   Check(reading)   reports keys that contradict each other (faults/keys.h)
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/time.h"
#include "protocol/names.h"
#include "protocol/spanner/fields.h"
#include "protocol/spanner/mutation.h"
#include "protocol/spanner/sql.h"
#include "protocol/spanner/status.h"
#include "protocol/spanner/words.h"
#include "sim/scenario/direction.h"
#include "sim/scenario/truetime_spec.h"

namespace whorl::sim {

struct FaultInfo;     // sim/scenario/language.h
struct FaultReading;  // sim/scenario/faults/keys.h
struct OperatedRow;   // sim/scenario/operator_write.h
using OperatorWrite = std::variant<Mutation, Statement>;

// What a node is doing, as a set of possibilities.
enum Lives : unsigned { kNoLife = 0, kIsDown = 1, kIsRunning = 2, kIsStopped = 4 };
inline constexpr unsigned kHasProcess = kIsRunning | kIsStopped;
inline constexpr unsigned kAnyLife = kIsDown | kHasProcess;

// --- parts of faults ---------------------------------------------------------------------------

enum class PartitionMode : uint8_t { kBlackHole, kRefuse };
constexpr auto WordTableOf(PartitionMode) {
  return MakeWordTable<PartitionMode>({
      {PartitionMode::kBlackHole, "black_hole"},
      {PartitionMode::kRefuse, "refuse"},
  });
}

// By which an `error` answers.
enum class ErrorCode : uint8_t {
  kInternal,
  kResourceExhausted,
  kPermissionDenied,
  kFailedPrecondition,
  kDeadlineExceeded,
  kUnknown,
  kUnavailable,
  kCancelled,
  kNotFound,
  kUnauthenticated,
  kInvalidArgument,
  kUnimplemented,
  kAlreadyExists,
  kOutOfRange,
  kAborted,
  kDataLoss,
};
constexpr auto WordTableOf(ErrorCode) {
  return MakeWordTable<ErrorCode>({
      {ErrorCode::kInternal, WordOf(Code::kInternal)},
      {ErrorCode::kResourceExhausted, WordOf(Code::kResourceExhausted)},
      {ErrorCode::kPermissionDenied, WordOf(Code::kPermissionDenied)},
      {ErrorCode::kFailedPrecondition, WordOf(Code::kFailedPrecondition)},
      {ErrorCode::kDeadlineExceeded, WordOf(Code::kDeadlineExceeded)},
      {ErrorCode::kUnknown, WordOf(Code::kUnknown)},
      {ErrorCode::kUnavailable, WordOf(Code::kUnavailable)},
      {ErrorCode::kCancelled, WordOf(Code::kCancelled)},
      {ErrorCode::kNotFound, WordOf(Code::kNotFound)},
      {ErrorCode::kUnauthenticated, WordOf(Code::kUnauthenticated)},
      {ErrorCode::kInvalidArgument, WordOf(Code::kInvalidArgument)},
      {ErrorCode::kUnimplemented, WordOf(Code::kUnimplemented)},
      {ErrorCode::kAlreadyExists, WordOf(Code::kAlreadyExists)},
      {ErrorCode::kOutOfRange, WordOf(Code::kOutOfRange)},
      {ErrorCode::kAborted, WordOf(Code::kAborted)},
      {ErrorCode::kDataLoss, WordOf(Code::kDataLoss)},
  });
}
constexpr Code CodeOf(ErrorCode code) { return *ParseWord<Code>(WordOf(code)); }

// Which calls of a step an `error` answers; calls that are none of these (Rollback) it never answers.
enum class ErrorCall : uint8_t {
  kBegin,
  kFirstStatement,  // of an attempt, whether it begins the transaction or not
  kStatement,       // each of them
  kCommit,
  kCreateSession,  // of no step: a process needs a new session
};
constexpr auto WordTableOf(ErrorCall) {
  return MakeWordTable<ErrorCall>({
      {ErrorCall::kBegin, "begin"},
      {ErrorCall::kFirstStatement, "first_statement"},
      {ErrorCall::kStatement, "statement"},
      {ErrorCall::kCommit, "commit"},
      {ErrorCall::kCreateSession, "create_session"},
  });
}

// Quantiles of a delay, linear between them. REQUIRES: they do not fall.
struct DelaySpec {
  Duration min;
  Duration p50;
  Duration p99;
  Duration max;
  WHORL_FIELDS(DelaySpec, min, p50, p99, max);
};

// A row of the protocol's table that an operator acts on.
struct RowOfLock {
  uint16_t lock = 0;  // for which the operator means to act
  std::string row;    // its key
  WHORL_FIELDS(RowOfLock, lock, row);
};

// --- the kinds ---------------------------------------------------------------------------------

struct PauseFault {
  Duration lasts;
  static FaultInfo Describe();
  unsigned StrikesIn() const { return kHasProcess; }
  WHORL_FIELDS(PauseFault, lasts);
};

struct CrashFault {
  std::optional<Duration> restart_after;
  static constexpr unsigned kResultingState = kIsDown;
  static FaultInfo Describe();
  unsigned StrikesIn() const { return kHasProcess; }
  WHORL_FIELDS(CrashFault, restart_after);
};

struct StopFault {
  std::optional<Duration> restart_after;
  static constexpr unsigned kResultingState = kIsStopped;
  static FaultInfo Describe();
  unsigned StrikesIn() const { return kIsRunning; }
  WHORL_FIELDS(StopFault, restart_after);
};

struct StartFault {
  static constexpr unsigned kResultingState = kIsRunning;
  static FaultInfo Describe();
  unsigned StrikesIn() const { return kIsDown | kIsStopped; }
  WHORL_NO_FIELDS(StartFault);
};

struct PartitionFault {
  std::optional<Duration> lasts;
  PartitionMode mode = PartitionMode::kBlackHole;
  Direction direction = Direction::kBoth;
  static constexpr bool kUntilRunEnd = true;
  static FaultInfo Describe();
  std::string_view ConflictingSetting(const PartitionFault& other) const;
  WHORL_FIELDS(PartitionFault, lasts, mode, direction);
};

struct LatencyFault {
  std::optional<Duration> lasts;
  Direction direction = Direction::kBoth;
  DelaySpec add;
  static constexpr bool kUntilRunEnd = true;
  static FaultInfo Describe();
  std::string Detail() const;
  WHORL_FIELDS(LatencyFault, lasts, direction, add);
};

struct DropRequestFault {
  static FaultInfo Describe();
  bool StrikesOneCall() const { return true; }
  void Check(const FaultReading& reading) const;
  WHORL_NO_FIELDS(DropRequestFault);
};

struct DropReplyFault {
  static FaultInfo Describe();
  bool StrikesOneCall() const { return true; }
  WHORL_NO_FIELDS(DropReplyFault);
};

struct AbortFault {
  std::optional<Duration> lasts;  // without it, one call is aborted
  int64_t percent = 100;
  static FaultInfo Describe();
  bool StrikesOneCall() const { return !lasts; }
  std::string Detail() const;
  void Check(const FaultReading& reading) const;
  WHORL_FIELDS(AbortFault, lasts, percent);
};

struct UnavailableFault {
  Duration lasts;
  static FaultInfo Describe();
  WHORL_FIELDS(UnavailableFault, lasts);
};

struct SessionLossFault {
  static FaultInfo Describe();
  unsigned StrikesIn() const { return kHasProcess; }
  WHORL_NO_FIELDS(SessionLossFault);
};

struct ClockFault {
  std::optional<Duration> lasts;    // how long `stands` lasts
  std::optional<Duration> offset;   // the wall clock's error from now on
  std::optional<Duration> step;     // added to the wall clock
  std::optional<int64_t> rate_ppm;  // the rate of both clocks from now on
  bool stands = false;              // for a while nothing runs, and both clocks stand still
  static constexpr bool kStaysSet = true;
  static FaultInfo Describe();
  unsigned StrikesIn() const { return stands ? kHasProcess : kAnyLife; }
  std::string_view ConflictingSetting(const ClockFault& other) const;
  void Check(const FaultReading& reading) const;
  WHORL_FIELDS(ClockFault, lasts, offset, step, rate_ppm, stands);
};

struct TrueTimeFault {
  std::optional<Duration> lasts;
  TrueTimeSpec truetime;  // all of it, from now on
  static constexpr bool kStaysSet = true;
  static FaultInfo Describe();
  std::string_view ConflictingSetting(const TrueTimeFault& other) const;
  void Check(const FaultReading& reading) const;
  WHORL_FIELDS(TrueTimeFault, lasts, truetime);
};

struct CurrentTimestampFault {
  std::optional<Duration> lasts;
  Duration error;  // minus true time
  static constexpr bool kStaysSet = true;
  static FaultInfo Describe();
  std::string_view ConflictingSetting(const CurrentTimestampFault& other) const;
  WHORL_FIELDS(CurrentTimestampFault, lasts, error);
};

struct DeleteRowFault {
  RowOfLock target;
  static FaultInfo Describe();
  std::string Detail() const;
  OperatorWrite Writes(const OperatedRow& row) const;
  WHORL_FIELDS(DeleteRowFault, target);
};

struct ErrorFault {
  std::optional<Duration> lasts;  // without it, `calls` calls are answered so
  int64_t percent = 100;
  int64_t calls = 1;
  std::optional<StepName> of_step;   // whose calls; else of the step that `when` names, or of all
  std::optional<ErrorCall> of_call;  // which of them; else each
  ErrorCode code = ErrorCode::kInternal;
  bool applied = false;     // the call is served first, and was answered OK
  bool impossible = false;  // even where Spanner never answers so (protocol/spanner/answers.h)
  static FaultInfo Describe();
  bool StrikesOneCall() const { return !lasts; }
  std::string Detail() const;
  void Check(const FaultReading& reading) const;
  void CheckStep(const FaultReading& reading) const;
  WHORL_FIELDS(ErrorFault, lasts, percent, calls, of_step, of_call, code, applied, impossible);
};

struct ReleaseRowFault {
  RowOfLock target;
  static FaultInfo Describe();
  std::string Detail() const;
  void Check(const FaultReading& reading) const;
  OperatorWrite Writes(const OperatedRow& row) const;
  WHORL_FIELDS(ReleaseRowFault, target);
};

struct EmptyRowFault {
  RowOfLock target;
  static FaultInfo Describe();
  std::string Detail() const;
  OperatorWrite Writes(const OperatedRow& row) const;
  WHORL_FIELDS(EmptyRowFault, target);
};

struct SlowResourceFault {
  std::optional<Duration> lasts;
  DelaySpec add;
  static constexpr bool kUntilRunEnd = true;
  static FaultInfo Describe();
  std::string Detail() const;
  WHORL_FIELDS(SlowResourceFault, lasts, add);
};

struct AnnounceFault {
  static FaultInfo Describe();
  unsigned StrikesIn() const { return kIsRunning; }
  WHORL_NO_FIELDS(AnnounceFault);
};

struct DeleteSideRowsFault {
  RowOfLock target;
  static FaultInfo Describe();
  std::string Detail() const;
  void Check(const FaultReading& reading) const;
  OperatorWrite Writes(const OperatedRow& row) const;
  WHORL_FIELDS(DeleteSideRowsFault, target);
};

struct DuplicateRequestFault {
  Duration after;  // how much later the copy arrives
  static FaultInfo Describe();
  bool StrikesOneCall() const { return true; }
  std::string Detail() const;
  WHORL_FIELDS(DuplicateRequestFault, after);
};

using AnyFault =
    std::variant<PauseFault, CrashFault, StopFault, StartFault, PartitionFault, LatencyFault,
                 DropRequestFault, DropReplyFault, AbortFault, UnavailableFault, SessionLossFault,
                 ClockFault, TrueTimeFault, CurrentTimestampFault, DeleteRowFault, ErrorFault,
                 ReleaseRowFault, EmptyRowFault, SlowResourceFault, AnnounceFault,
                 DeleteSideRowsFault, DuplicateRequestFault>;

// --- kinds as values ---------------------------------------------------------------------------

inline constexpr size_t kFaultKindCount = std::variant_size_v<AnyFault>;

// The place of a kind in AnyFault, for lists and counts of kinds.
enum class FaultKind : uint8_t {};
inline FaultKind KindOf(const AnyFault& fault) { return static_cast<FaultKind>(fault.index()); }
template <typename T>
inline constexpr FaultKind kKindOf = []<size_t... I>(std::index_sequence<I...>) {
  return static_cast<FaultKind>(
      ((std::is_same_v<T, std::variant_alternative_t<I, AnyFault>> ? I : 0) + ...));
}(std::make_index_sequence<kFaultKindCount>());

// A fault of the kind that says nothing yet.
AnyFault MakeFault(FaultKind kind);
// The word in a scenario.
std::string_view FaultKindText(FaultKind kind);

// For std::visit: one function of several, by the kind.
template <typename... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};
template <typename... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;

// --- what every kind can be asked --------------------------------------------------------------

// How long the fault lasts, where its kind has that key and it says so.
std::optional<Duration> LastsOf(const AnyFault& fault);
// REQUIRES: its kind has that key.
void SetLasts(AnyFault& fault, Duration lasts);
// Both ways, where its kind has no such key.
Direction DirectionOf(const AnyFault& fault);
// The percentage of calls that it strikes; 100 if its kind has no such key.
int64_t PercentOf(const AnyFault& fault);
// After how long its node starts again, if it does.
std::optional<Duration> RestartAfterOf(const AnyFault& fault);

// The row on which an operator acts; null for a fault that is not an operator's.
const RowOfLock* TargetOf(const AnyFault& fault);
RowOfLock* TargetOf(AnyFault& fault);

// As the comment at the top says.
bool GoesOn(const AnyFault& fault);
bool StaysSet(const AnyFault& fault);
unsigned LeadsTo(const AnyFault& fault);
unsigned StrikesIn(const AnyFault& fault);
bool StrikesOneCall(const AnyFault& fault);
std::string DetailOf(const AnyFault& fault);
// What two faults of one kind both set; empty for faults of different kinds.
std::string_view ConflictingSetting(const AnyFault& a, const AnyFault& b);
// Whether two faults of the kind can set something to different values at all.
bool CanContradict(FaultKind kind);
// Whether they say the same except for how long they last.
bool SetTheSame(const AnyFault& a, const AnyFault& b);

}  // namespace whorl::sim
