// Takes the fields of a protocol's state, for a host that wants to know what they mean without knowing their
// types. A state is handed over by `sink.Add(state)`: structs add their fields (WHORL_FIELDS), and each kind of
// field has a function here.
//
// Only what matters to later steps is added: of some numbers, that is a part (counting.h).
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/time.h"
#include "protocol/spanner/field_adder.h"
#include "protocol/spanner/rpc.h"
#include "protocol/spanner/shared_text.h"
#include "protocol/spanner/sql.h"
#include "protocol/spanner/value.h"

namespace whorl {

class FieldSink : public FieldAdder<FieldSink> {
 public:
  using FieldAdder::Add;
  static constexpr bool kOnlyWhatMatters = true;

  virtual ~FieldSink() = default;

  virtual void AddWord(uint64_t word) = 0;
  virtual void Add(std::string_view text) = 0;
  virtual void Add(const SharedText& text) = 0;  // of a transaction's id, or another text
  virtual void Add(const ProcessId& process) = 0;
  virtual void Add(const CallName& call) = 0;
  virtual void Add(Timestamp time) = 0;
  virtual void Add(LocalInstant instant) = 0;
  // The process's clock ticks at `next`, which is after local_now(), and after every whole period.
  virtual void AddTick(LocalInstant next, Duration period) = 0;
  virtual void AddToken(Timestamp commit) = 0;
  virtual void AddTokenNumber(uint64_t number) = 0;
  virtual void AddSerial(int64_t number) = 0;
  // Serials that follow are those that stand in texts after this base (random_id.h).
  virtual void SetSerials(std::string_view base) = 0;
  virtual LocalInstant local_now() const = 0;

  void Add(const std::string& text) { Add(std::string_view(text)); }
  void Add(Duration duration) { AddWord(static_cast<uint64_t>(duration.ns)); }
  void Add(Float64 number) { AddWord(std::bit_cast<uint64_t>(number.value())); }
  void Add(Sql sql) { AddWord(sql.digest()); }
};

}  // namespace whorl
