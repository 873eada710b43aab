// Declares numbers and instants of a protocol's state that matter only in part to what it does next. To the
// code they are ordinary numbers; a FieldSink (field_sink.h) gets that part alone, so that a process that has
// done the same a thousand times is, to the sink, in the state that it had after the first time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "base/time.h"

namespace whorl {

// A form that holds only what matters to later steps, such as a FieldSink.
template <typename Form>
concept TakesWhatMatters = requires { Form::kOnlyWhatMatters; };

// A number that a Counter<0> handed out as a name, from 1; 0 is none. It is compared with others
// of the same process, for equality and order, and may be part of a text (NumberedName in random_id.h).
struct Serial {
  int64_t n = 0;

  constexpr Serial() = default;
  constexpr Serial(int64_t number) : n(number) {}   // NOLINT(google-explicit-constructor)
  constexpr operator int64_t() const { return n; }  // NOLINT(google-explicit-constructor)
  template <typename Form>
  void AddTo(Form& form) const {
    if constexpr (TakesWhatMatters<Form>) {
      form.AddSerial(n);
    } else {
      form.AddWord(static_cast<uint64_t>(n));
    }
  }
};

// Counts up for as long as the process lives. What the process does depends on min(n, kMatters) at
// most: Counter<0> is a statistic, or only hands out the next Serial.
template <int64_t kMatters>
struct Counter {
  int64_t n = 0;

  constexpr Counter() = default;
  constexpr Counter(int64_t count) : n(count) {}    // NOLINT(google-explicit-constructor)
  constexpr operator int64_t() const { return n; }  // NOLINT(google-explicit-constructor)
  constexpr Counter& operator++() {
    ++n;
    return *this;
  }
  constexpr Serial Next()
    requires(kMatters == 0)
  {
    return Serial(++n);
  }
  template <typename Form>
  void AddTo(Form& form) const {
    form.AddWord(static_cast<uint64_t>(TakesWhatMatters<Form> ? std::min(n, kMatters) : n));
  }
};

template <typename T>
inline constexpr bool kIsCounting = std::is_same_v<T, Serial>;
template <int64_t kMatters>
inline constexpr bool kIsCounting<Counter<kMatters>> = true;

// Go's ticker: ticks at `from` and after every whole period. Ticks that were missed are dropped.
struct Ticker {
  LocalInstant from;
  Duration period;  // above zero

  // The first tick after `now`. REQUIRES: `now` is not before `from`.
  constexpr LocalInstant NextAfter(LocalInstant now) const {
    return from + period * ((now - from).ns / period.ns + 1);
  }
  friend constexpr bool operator==(const Ticker&, const Ticker&) = default;
  template <typename Form>
  void AddTo(Form& form) const {
    if constexpr (TakesWhatMatters<Form>) {
      form.AddTick(NextAfter(form.local_now()), period);
    } else {
      form.Add(from);
    }
  }
};

}  // namespace whorl
