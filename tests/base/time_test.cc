#include "base/time.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

#include "protocol/field_tree.h"
#include "protocol/spanner/fingerprint.h"

namespace whorl::time_test {
namespace {

constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
constexpr int64_t kGreatest = std::numeric_limits<int64_t>::max();

Timestamp Parsed(std::string_view text) {
  const std::optional<Timestamp> timestamp = ParseRfc3339(text);
  EXPECT_TRUE(timestamp.has_value()) << text;
  return timestamp.value_or(Timestamp());
}

TEST(DurationTest, IsPrintedExactlyWithOneUnit) {
  // Reports and traces are read back by people and by scripts; a rounded duration would lie.
  EXPECT_EQ(FormatDuration(Duration{}), "0s");
  EXPECT_EQ(FormatDuration(Seconds(90)), "90s");
  EXPECT_EQ(FormatDuration(Milliseconds(1'500)), "1.5s");
  EXPECT_EQ(FormatDuration(Milliseconds(200)), "200ms");
  EXPECT_EQ(FormatDuration(Microseconds(1'250)), "1.25ms");
  EXPECT_EQ(FormatDuration(Nanoseconds(1'001)), "1.001us");
  EXPECT_EQ(FormatDuration(Nanoseconds(7)), "7ns");
  EXPECT_EQ(FormatDuration(Nanoseconds(1'000'000'001)), "1.000000001s");
  EXPECT_EQ(FormatDuration(Milliseconds(-1'500)), "-1.5s");
}

TEST(DurationTest, TheLeastOneIsPrintedToo) {
  // It has no positive counterpart, so that a naive sign change would be undefined.
  EXPECT_EQ(FormatDuration({kLeast}), "-9223372036.854775808s");
  EXPECT_EQ(FormatDuration(Duration::Max()), "9223372036.854775807s");
}

TEST(DurationTest, ArithmeticSaturatesInsteadOfOverflowing) {
  // "Now plus the longest timeout" has to stay in the future.
  EXPECT_EQ(Duration::Max() + Nanoseconds(1), Duration::Max());
  EXPECT_EQ(Duration{kLeast} - Nanoseconds(1), Duration{kLeast});
  EXPECT_EQ(-Duration{kLeast}, Duration::Max());
  Duration sum = Duration::Max();
  sum += Seconds(1);
  EXPECT_EQ(sum, Duration::Max());
  sum -= Duration::Max();
  EXPECT_EQ(sum, Duration{});
}

TEST(LocalInstantTest, MixesWithLengthsOnlyWhereThatMeansSomething) {
  // A length taken for an instant would not be moved with the others when a state is.
  static_assert(!std::is_convertible_v<Duration, LocalInstant>);
  static_assert(!std::is_convertible_v<LocalInstant, Duration>);
  static_assert(!std::is_assignable_v<LocalInstant&, Duration>);
  static_assert(!std::is_invocable_v<std::plus<>, LocalInstant, LocalInstant>);
  static_assert(!std::is_invocable_v<std::less<>, LocalInstant, Duration>);
  constexpr LocalInstant kTenth = {Seconds(10).ns};
  EXPECT_EQ(kTenth + Seconds(2) - kTenth, Seconds(2));
  EXPECT_EQ(kTenth - (kTenth + Seconds(2)), Seconds(-2));
  EXPECT_LT(kTenth - Nanoseconds(1), kTenth);
}

TEST(LocalInstantTest, ArithmeticSaturatesInsteadOfOverflowing) {
  // "No end" has to stay without end whatever is added to it.
  EXPECT_EQ(LocalInstant::Max() + Nanoseconds(1), LocalInstant::Max());
  EXPECT_EQ(LocalInstant{kLeast} - Nanoseconds(1), LocalInstant{kLeast});
  EXPECT_EQ(LocalInstant::Max() - LocalInstant{-1}, Duration::Max());
}

TEST(LocalInstantTest, IsPrintedAndFingerprintedAsTheLengthSinceZero) {
  // Traces and reports that name instants stay as they are.
  constexpr LocalInstant kInstant = {1'500'000'000};
  EXPECT_EQ(std::get<Duration>(ToFieldTree(kInstant).what), Milliseconds(1'500));
  Fingerprint of_instant;
  of_instant.Add(kInstant);
  Fingerprint of_length;
  of_length.Add(Milliseconds(1'500));
  EXPECT_EQ(of_instant.value(), of_length.value());
}

TEST(TimestampTest, KeepsItsNanosecondsPositiveBeforeTheEpoch) {
  // Comparison is by seconds and then nanoseconds: a negative part would order wrongly.
  const Timestamp before = Timestamp::FromUnixNanos(-1);
  EXPECT_EQ(before.seconds(), -1);
  EXPECT_EQ(before.nanos(), 999'999'999);
  EXPECT_LT(before, Timestamp());
  EXPECT_EQ(FormatRfc3339(before), "1969-12-31T23:59:59.999999999Z");
}

TEST(TimestampTest, RoundTripsThroughUnixNanosecondsToTheVeryEnds) {
  // Tokens are compared as unix nanoseconds; two of them must not become one.
  for (const int64_t ns : {kLeast, kLeast + 1, kLeast + 900'000'000, int64_t{-1}, int64_t{0},
                           int64_t{1}, kGreatest - 1, kGreatest}) {
    EXPECT_EQ(Timestamp::FromUnixNanos(ns).UnixNanos(), ns);
  }
  EXPECT_EQ(Timestamp::Min().UnixNanos(), kLeast);
  EXPECT_EQ(Timestamp::Max().UnixNanos(), kGreatest);
}

TEST(TimestampTest, IsRefusedOutsideOfSpannersRange) {
  // Spanner stores the years 1 to 9999, and nothing else may look like a TIMESTAMP.
  EXPECT_EQ(Timestamp::FromParts(-62'135'596'800, 0), Timestamp::Min());
  EXPECT_EQ(Timestamp::FromParts(253'402'300'799, 999'999'999), Timestamp::Max());
  EXPECT_EQ(Timestamp::FromParts(-62'135'596'801, 999'999'999), std::nullopt);
  EXPECT_EQ(Timestamp::FromParts(253'402'300'800, 0), std::nullopt);
  EXPECT_EQ(Timestamp::FromParts(0, -1), std::nullopt);
  EXPECT_EQ(Timestamp::FromParts(0, 1'000'000'000), std::nullopt);
}

TEST(TimestampTest, ArithmeticSaturatesAtSpannersEnds) {
  // The checkers add leases to whatever a row holds, the year 9999 included.
  EXPECT_EQ(Timestamp::Max() + Nanoseconds(1), Timestamp::Max());
  EXPECT_EQ(Timestamp::Min() - Nanoseconds(1), Timestamp::Min());
  EXPECT_EQ(Timestamp::Max() + Duration::Max(), Timestamp::Max());
  EXPECT_EQ(Timestamp::Max() - Timestamp::Min(), Duration::Max());
  EXPECT_EQ(Timestamp::Min() - Timestamp::Max(), Duration{kLeast});
}

TEST(TimestampTest, ADifferenceIsExactAsLongAsItFits) {
  // A lease's age is a difference; a product that overflows on the way would saturate too early.
  const Timestamp base = Parsed("2026-01-01T00:00:00.9Z");
  EXPECT_EQ(base + Milliseconds(200) - base, Milliseconds(200));
  EXPECT_EQ(base - (base + Milliseconds(200)), Milliseconds(-200));
  EXPECT_EQ(base + Duration::Max() - base, Duration::Max());
  EXPECT_EQ(base + (Duration::Max() - Nanoseconds(1)) - base, Duration::Max() - Nanoseconds(1));
  EXPECT_EQ(base - (base + Duration::Max()), -Duration::Max());
}

TEST(TimestampTest, CarriesBetweenSecondsAndNanoseconds) {
  // One lost carry moves a commit timestamp by a second.
  const Timestamp base = Parsed("2026-01-01T00:00:00.9Z");
  EXPECT_EQ(FormatRfc3339(base + Milliseconds(100)), "2026-01-01T00:00:01Z");
  EXPECT_EQ(FormatRfc3339(base - Milliseconds(901)), "2025-12-31T23:59:59.999Z");
}

TEST(TimestampTest, TruncatesToMicrosecondsTowardsThePast) {
  // Spanner's clocks tick in microseconds; rounding up would put a commit into the future.
  EXPECT_EQ(Parsed("2026-01-01T00:00:00.123456999Z").TruncatedToMicros(),
            Parsed("2026-01-01T00:00:00.123456Z"));
  EXPECT_EQ(Timestamp::FromUnixNanos(-1).TruncatedToMicros(), Timestamp::FromUnixNanos(-1'000));
}

TEST(Rfc3339Test, TrimsTrailingZerosOfTheFraction) {
  // spindle hashes this text: one zero too many is another token.
  EXPECT_EQ(FormatRfc3339(Timestamp()), "1970-01-01T00:00:00Z");
  EXPECT_EQ(FormatRfc3339(Timestamp::FromUnixNanos(500'000'000)), "1970-01-01T00:00:00.5Z");
  EXPECT_EQ(FormatRfc3339(Timestamp::FromUnixNanos(10)), "1970-01-01T00:00:00.00000001Z");
  EXPECT_EQ(FormatRfc3339(Timestamp::FromUnixNanos(123'456'000)), "1970-01-01T00:00:00.123456Z");
}

TEST(Rfc3339Test, KnowsTheCalendar) {
  // Century years are leap years only every fourth time.
  EXPECT_EQ(FormatRfc3339(Timestamp::Min()), "0001-01-01T00:00:00Z");
  EXPECT_EQ(FormatRfc3339(Timestamp::Max()), "9999-12-31T23:59:59.999999999Z");
  EXPECT_EQ(Parsed("2000-02-29T00:00:00Z").seconds(), 951'782'400);
  EXPECT_EQ(Parsed("2024-02-29T12:34:56Z").seconds(), 1'709'210'096);
  EXPECT_EQ(Parsed("2026-11-21T06:36:59Z").seconds(), 1'795'243'019);
  EXPECT_EQ(ParseRfc3339("1900-02-29T00:00:00Z"), std::nullopt);
  EXPECT_EQ(ParseRfc3339("2023-02-29T00:00:00Z"), std::nullopt);
}

TEST(Rfc3339Test, RoundTripsOverAllOfSpannersRange) {
  // What is written to a trace or sent as a parameter has to come back as the same value.
  constexpr int64_t kStep = 977 * 86'400 + 12'345;
  for (int64_t seconds = Timestamp::Min().seconds(); seconds <= Timestamp::Max().seconds();
       seconds += kStep) {
    const std::optional<Timestamp> timestamp = Timestamp::FromParts(seconds, seconds & 0xfff'ffff);
    ASSERT_TRUE(timestamp.has_value());
    ASSERT_EQ(ParseRfc3339(FormatRfc3339(*timestamp)), timestamp) << seconds;
  }
}

TEST(Rfc3339Test, RefusesWhatIsNotOfTheForm) {
  // A scenario's or a server's malformed time must not be read as some other time.
  for (const std::string_view text : {"",
                                      "2026-01-01",
                                      "2026-01-01T00:00:00",
                                      "2026-01-01T00:00:00+00:00",
                                      "2026-01-01 00:00:00Z",
                                      "2026-01-01T00:00:00.Z",
                                      "2026-01-01T00:00:00.1234567890Z",
                                      "2026-01-01T00:00:00ZZ",
                                      "2026-1-01T00:00:00Z",
                                      "2026-13-01T00:00:00Z",
                                      "2026-00-01T00:00:00Z",
                                      "2026-01-00T00:00:00Z",
                                      "2026-04-31T00:00:00Z",
                                      "2026-01-01T24:00:00Z",
                                      "2026-01-01T00:60:00Z",
                                      "2026-01-01T00:00:60Z",
                                      "0000-12-31T23:59:59Z",
                                      "-026-01-01T00:00:00Z",
                                      "2026-01-01t00:00:00Z",
                                      "2026-01-01T00:00:00z"}) {
    EXPECT_EQ(ParseRfc3339(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace whorl::time_test
