// Statuses on the wire: a client that does not see RetryInfo or ResourceInfo retries wrongly.
#include "wire/status.h"

#include <gmock/gmock.h>
#include <grpcpp/support/status.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <optional>
#include <string>

#include "google/rpc/error_details.pb.h"
#include "tests/wire/wire_testing.h"

namespace whorl::wire::status_test {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

Status AbortedWithPause() {
  return {.code = Code::kAborted,
          .retry_after = Milliseconds(12),
          .message = "Transaction was aborted."};
}

TEST(WireStatusTest, EveryStatusComesBack) {
  const bool holds = rc::check([] {
    Status sent = {.code = static_cast<Code>(*rc::gen::inRange(1, 17)),
                   .retry_after = std::nullopt,
                   .message = *AnyText()};
    if (*rc::gen::arbitrary<bool>()) {
      sent.retry_after = Duration{*rc::gen::arbitrary<int64_t>()};
    }
    RC_ASSERT(DecodeStatus(EncodeStatus(sent)) == sent);
    RC_ASSERT(DecodeRpcStatus(EncodeRpcStatus(sent)) == sent);
  });
  EXPECT_TRUE(holds);
  EXPECT_EQ(DecodeStatus(EncodeStatus(Status())), Status());
}

// Old and new clients look in different places.
TEST(WireStatusTest, RetryInfoIsFoundInDetailsAndInTheTrailer) {
  const Status aborted = AbortedWithPause();
  const std::optional<std::string> trailer = EncodeRetryInfoTrailer(aborted);
  ASSERT_TRUE(trailer.has_value());
  const grpc::Status bare(grpc::StatusCode::ABORTED, aborted.message.str());
  EXPECT_EQ(DecodeStatus(bare, *trailer), aborted);
  EXPECT_EQ(DecodeStatus(EncodeStatus(aborted)), aborted);
  EXPECT_EQ(DecodeStatus(bare).retry_after, std::nullopt);
  EXPECT_EQ(EncodeRetryInfoTrailer(Error(Code::kAborted, "")), std::nullopt);
}

// Google's clients recognise a lost session by its ResourceInfo and create a new one.
TEST(WireStatusTest, AMissingSessionIsNamedInTheDetails) {
  const std::string session = "projects/p/instances/i/databases/d/sessions/7";
  const grpc::Status status = EncodeStatus(Error(Code::kNotFound, "Session not found: " + session));
  google::rpc::Status details;
  ASSERT_TRUE(details.ParseFromString(status.error_details()));
  ASSERT_EQ(details.details_size(), 1);
  google::rpc::ResourceInfo info;
  ASSERT_TRUE(details.details(0).UnpackTo(&info));
  EXPECT_EQ(info.resource_type(), "type.googleapis.com/google.spanner.v1.Session");
  EXPECT_EQ(info.resource_name(), session);
  EXPECT_EQ(info.description(), "Session does not exist.");
}

// gRPC lets about 8 kB of trailers pass, which have the message escaped and once more in the details.
TEST(WireStatusTest, OfALongMessageTheMiddleIsLeftOut) {
  for (const std::string letter : {"x", "\u00e9", "\u20ac"}) {
    std::string text = "begin ";
    while (text.size() < 100'000) text += letter;
    text += " [at 1:8]";
    const grpc::Status status = EncodeStatus(Error(Code::kNotFound, "Session not found: " + text));
    EXPECT_LE(status.error_message().size(), kMessageMax);
    EXPECT_LE(3 * status.error_message().size() + status.error_details().size() * 4 / 3, 8'000U);
    EXPECT_THAT(status.error_message(), StartsWith("Session not found: begin " + letter));
    EXPECT_THAT(status.error_message(), EndsWith(letter + " [at 1:8]"));
    EXPECT_THAT(status.error_message(), HasSubstr(letter + " ... ("));
    EXPECT_THAT(status.error_message(), HasSubstr(" bytes left out) ... " + letter));
    google::rpc::Status details;
    ASSERT_TRUE(details.ParseFromString(status.error_details()));
    EXPECT_EQ(details.message(), status.error_message());
  }
  const std::string longest(kMessageMax, 'x');
  EXPECT_EQ(EncodeStatus(Error(Code::kInternal, longest)).error_message(), longest);
}

// Malformed details from a broken proxy must not hide the code.
TEST(WireStatusTest, DetailsThatCannotBeParsedAreLeftOut) {
  const grpc::Status status(grpc::StatusCode::ABORTED, "text", "\xFF\xFF");
  EXPECT_EQ(DecodeStatus(status, "\xFF"), Error(Code::kAborted, "text"));
}

}  // namespace
}  // namespace whorl::wire::status_test
