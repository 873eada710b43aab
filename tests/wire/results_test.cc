// Results on the wire: a client reassembles the parts of a stream to the same rows.
#include "wire/results.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

#include "tests/wire/wire_testing.h"

namespace whorl::wire::results_test {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

struct Result {
  Response response;
  ResultShape shape;
};

Result AnyResult() {
  Result result;
  const auto width = *rc::gen::inRange<size_t>(0, 4);
  for (size_t i = 0; i < width; ++i) {
    result.shape.columns.push_back({.name = *AnyText(), .type = *AnyType()});
  }
  result.shape.is_dml = width == 0 || *rc::gen::arbitrary<bool>();
  if (result.shape.is_dml) result.response.result.row_count = *rc::gen::inRange(0, 100);
  const int rows = width == 0 ? 0 : *rc::gen::inRange(0, 5);
  for (int i = 0; i < rows; ++i) {
    Row row;
    for (const Column& column : result.shape.columns) row.push_back(*AnyValueOf(column.type));
    result.response.result.rows.push_back(std::move(row));
  }
  result.response.transaction = *rc::gen::element<std::string>("", "17", std::string("\0\xFF", 2));
  if (*rc::gen::arbitrary<bool>()) result.response.read_timestamp = *AnyTimestamp();
  if (*rc::gen::arbitrary<bool>()) {
    result.response.precommit_token = "token";
    result.response.precommit_sequence = *rc::gen::inRange(0, 9);
  }
  if (*rc::gen::arbitrary<bool>()) {
    result.shape.undeclared_parameters.push_back({.name = "p", .type = *AnyType()});
  }
  return result;
}

RC_GTEST_PROP(WireResultsTest, AWholeResultComesBack, ()) {
  const Result sent = AnyResult();
  Result heard;
  const v1::ResultSet proto = Sent(EncodeResultSet(sent.response, sent.shape));
  const Status status = DecodeResultSet(proto, heard.response, heard.shape);
  RC_ASSERT(status.ok());
  RC_ASSERT(heard.response == sent.response);
  RC_ASSERT(heard.shape == sent.shape);
}

// A stream may be divided after any number of bytes, also inside a string or a character.
RC_GTEST_PROP(WireResultsTest, AResultInPartsComesBack, ()) {
  const Result sent = AnyResult();
  const auto max_bytes = *rc::gen::inRange<size_t>(1, 40);
  PartialResultDecoder decoder;
  for (const auto& part : EncodePartialResultSets(sent.response, sent.shape, max_bytes)) {
    RC_ASSERT(decoder.Add(Sent(part)).ok());
  }
  Result heard;
  RC_ASSERT(decoder.Finish(heard.response, heard.shape).ok());
  RC_ASSERT(heard.response == sent.response);
  RC_ASSERT(heard.shape == sent.shape);
}

// A lost or repeated row would be a wrong answer.
RC_GTEST_PROP(WireResultsTest, AResumedStreamGivesEachRowOnce, ()) {
  const Result sent = AnyResult();
  std::vector<v1::PartialResultSet> parts =
      EncodePartialResultSets(sent.response, sent.shape, *rc::gen::inRange<size_t>(1, 40));
  const size_t token_at = *rc::gen::inRange<size_t>(0, parts.size());
  const size_t breaks_at = *rc::gen::inRange<size_t>(token_at, parts.size());
  parts[token_at].set_resume_token("here");
  PartialResultDecoder decoder;
  for (size_t i = 0; i <= breaks_at; ++i) RC_ASSERT(decoder.Add(parts[i]).ok());
  RC_ASSERT(decoder.resume_token() == "here");
  decoder.Rewind();
  for (size_t i = token_at + 1; i < parts.size(); ++i) RC_ASSERT(decoder.Add(parts[i]).ok());
  Result heard;
  RC_ASSERT(decoder.Finish(heard.response, heard.shape).ok());
  RC_ASSERT(heard.response == sent.response);
}

Result OneText(std::string text) {
  Result result;
  result.shape.columns = {{.name = "t", .type = Type::kString}};
  result.response.result.rows = {{std::move(text)}};
  return result;
}

// Most results are one message with its end marked.
TEST(WireResultsTest, ASmallResultIsOnePart) {
  const Result result = OneText("small");
  const auto parts = EncodePartialResultSets(result.response, result.shape);
  ASSERT_THAT(parts, SizeIs(1));
  EXPECT_TRUE(parts[0].last());
  EXPECT_FALSE(parts[0].chunked_value());
  EXPECT_FALSE(parts[0].has_stats());
}

// gRPC refuses messages above 4 MiB; Spanner's columns hold 10 MiB.
TEST(WireResultsTest, ALongTextIsCutBetweenCharacters) {
  const Result result = OneText("\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC");
  const auto parts = EncodePartialResultSets(result.response, result.shape, 5);
  ASSERT_THAT(parts, SizeIs(3));
  EXPECT_EQ(parts[0].values(0).string_value(), "\xE2\x82\xAC");
  EXPECT_TRUE(parts[0].chunked_value());
  EXPECT_FALSE(parts[2].chunked_value());
  EXPECT_FALSE(parts[0].last());
}

// So that a stream of long values can be resumed, and is not kept in vain.
TEST(WireResultsTest, PartsEndWithRowsAsFarAsTheyCan) {
  for (const size_t length : {20U, 60U, 95U, 150U, 250U}) {
    Result result = OneText(std::string(length, 'x'));
    result.response.result.rows.resize(20, result.response.result.rows[0]);
    const auto parts = EncodePartialResultSets(result.response, result.shape, 100);
    const auto whole = std::ranges::count_if(
        parts, [](const v1::PartialResultSet& part) { return !part.chunked_value(); });
    // Those that a row fits into, or one for each row.
    EXPECT_EQ(whole, length < 92 ? static_cast<long>(parts.size()) : 20) << length;
  }
}

google::protobuf::Value List(const std::vector<std::string>& texts) {
  google::protobuf::Value value;
  for (const std::string& text : texts) {
    value.mutable_list_value()->add_values()->set_string_value(text);
  }
  return value;
}

std::vector<std::string> Texts(const google::protobuf::Value& list) {
  std::vector<std::string> texts;
  for (const auto& value : list.list_value().values()) texts.push_back(value.string_value());
  return texts;
}

// A server may divide values of types that whorl does not have.
TEST(WireResultsTest, ListsAreJoinedAtTheirEnds) {
  google::protobuf::ListValue values;
  *values.add_values() = List({"a", "b"});
  google::protobuf::ListValue next;
  *next.add_values() = List({"c", "d"});
  *next.add_values() = List({"e"});
  ASSERT_TRUE(AppendValues(next.values(), true, values).ok());
  ASSERT_EQ(values.values_size(), 2);
  EXPECT_THAT(values.values(0), testing::ResultOf(Texts, testing::ElementsAre("a", "bc", "d")));
  EXPECT_THAT(values.values(1), testing::ResultOf(Texts, testing::ElementsAre("e")));

  google::protobuf::ListValue number;
  number.add_values()->set_number_value(1);
  EXPECT_EQ(AppendValues(number.values(), true, values).code, Code::kInternal);
}

Status FinishOf(const std::vector<v1::PartialResultSet>& parts) {
  PartialResultDecoder decoder;
  for (const v1::PartialResultSet& part : parts) {
    if (Status status = decoder.Add(part); !status.ok()) return status;
  }
  Response response;
  ResultShape shape;
  return decoder.Finish(response, shape);
}

// A broken stream must not look like a short result: a lock whose row is missing would be taken.
TEST(WireResultsTest, AStreamThatEndsInTheMiddleIsAnError) {
  const Result result = OneText("cut here");
  auto parts = EncodePartialResultSets(result.response, result.shape, 4);
  ASSERT_TRUE(FinishOf(parts).ok());
  parts.pop_back();
  EXPECT_THAT(FinishOf(parts).message, HasSubstr("inside a value"));
  EXPECT_THAT(FinishOf({}).message, HasSubstr("before its metadata"));
  EXPECT_THAT(FinishOf({v1::PartialResultSet()}).message, HasSubstr("begins without metadata"));
  v1::PartialResultSet half = EncodePartialResultSets(result.response, result.shape)[0];
  half.mutable_metadata()->mutable_row_type()->add_fields()->mutable_type()->set_code(v1::STRING);
  EXPECT_THAT(FinishOf({half}).message, HasSubstr("inside a row"));
}

// Commit carries the token with the greatest sequence number, whatever the order of arrival.
TEST(WireResultsTest, TheNewestPrecommitTokenCounts) {
  Response response;
  TakePrecommitToken(EncodePrecommitToken("second", 2), response);
  TakePrecommitToken(EncodePrecommitToken("first", 1), response);
  TakePrecommitToken(v1::MultiplexedSessionPrecommitToken(), response);
  EXPECT_EQ(response.precommit_token, "second");
  EXPECT_EQ(response.precommit_sequence, 2);
}

}  // namespace
}  // namespace whorl::wire::results_test
