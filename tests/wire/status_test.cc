// Statuses on the wire: a client that does not see RetryInfo or ResourceInfo retries wrongly.
#include "wire/status.h"

#include <grpcpp/support/status.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <optional>
#include <string>

#include "google/rpc/error_details.pb.h"
#include "tests/wire/wire_testing.h"

namespace whorl::wire::status_test {
namespace {

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

// Malformed details from a broken proxy must not hide the code.
TEST(WireStatusTest, DetailsThatCannotBeParsedAreLeftOut) {
  const grpc::Status status(grpc::StatusCode::ABORTED, "text", "\xFF\xFF");
  EXPECT_EQ(DecodeStatus(status, "\xFF"), Error(Code::kAborted, "text"));
}

}  // namespace
}  // namespace whorl::wire::status_test
