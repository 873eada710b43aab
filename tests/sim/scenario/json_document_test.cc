#include "sim/scenario/json_document.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace whorl::sim::json_document_test {
namespace {

class JsonDocumentTest : public ::testing::Test {
 protected:
  void Read(std::string_view text) { document_ = JsonDocument::Parse(text, problems_); }

  // The value of a key of the document.
  JsonValue At(std::string_view key) const {
    const std::optional<JsonValue> value = document_->root().Find(key);
    EXPECT_TRUE(value.has_value()) << key;
    return value.value_or(document_->root());
  }
  static std::pair<int, int> PlaceOf(const JsonValue& value) {
    return {value.position().line, value.position().column};
  }

  std::vector<Problem> problems_;
  std::optional<JsonDocument> document_;
};

using Place = std::pair<int, int>;

TEST_F(JsonDocumentTest, KnowsTheLineAndTheColumnOfEachKindOfValue) {
  // The library tells where it has read to, not where a value began: each kind is found its own
  // way.
  Read(
      "{\n"
      "  \"null\": null, \"true\": true, \"false\":false,\n"
      "  \"string\": \"a\\\"b\\\\\",\n"
      "  \"number\": -1.5e3\n"
      "  , \"last\":12,\"array\": [\n"
      "    7],\n"
      "  \"object\": {} }");
  ASSERT_TRUE(document_.has_value());
  EXPECT_EQ(PlaceOf(document_->root()), Place(1, 1));
  EXPECT_EQ(PlaceOf(At("null")), Place(2, 11));
  EXPECT_EQ(PlaceOf(At("true")), Place(2, 25));
  EXPECT_EQ(PlaceOf(At("false")), Place(2, 39));
  EXPECT_EQ(PlaceOf(At("string")), Place(3, 13));
  EXPECT_EQ(PlaceOf(At("number")), Place(4, 13));
  EXPECT_EQ(PlaceOf(At("last")), Place(5, 12));
  EXPECT_EQ(PlaceOf(At("array")), Place(5, 24));
  EXPECT_EQ(PlaceOf(At("array").Children().at(0)), Place(6, 5));
  EXPECT_EQ(PlaceOf(At("object")), Place(7, 13));
  EXPECT_EQ(At("string").key_position().column, 3);
}

TEST_F(JsonDocumentTest, CountsColumnsInCharacters) {
  // As editors do.
  Read("{ \"\xc3\xa9\xe2\x82\xac\": 1 }");
  EXPECT_EQ(PlaceOf(At("\xc3\xa9\xe2\x82\xac")), Place(1, 9));
}

TEST_F(JsonDocumentTest, ReadsANumberThatEndsTheText) {
  Read("42");
  EXPECT_EQ(document_->root().AsInt64(), 42);
  EXPECT_EQ(PlaceOf(document_->root()), Place(1, 1));
}

TEST_F(JsonDocumentTest, TakesABomForNoPartOfTheText) {
  Read("\xef\xbb\xbf{ \"a\": 1 }");
  ASSERT_TRUE(document_.has_value());
  EXPECT_EQ(At("a").AsInt64(), 1);
}

TEST_F(JsonDocumentTest, RoundsNoNumber) {
  Read(R"({ "max": 18446744073709551615, "min": -9223372036854775808, "over": 18446744073709551616,
            "double": 1.0, "power": 1e3, "string": "1" })");
  EXPECT_EQ(At("max").AsUint64(), std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(At("max").AsInt64(), std::nullopt);
  EXPECT_EQ(At("min").AsInt64(), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(At("min").AsUint64(), std::nullopt);
  EXPECT_EQ(At("over").AsUint64(), std::nullopt);
  EXPECT_EQ(At("over").text(), "18446744073709551616");
  EXPECT_EQ(At("double").AsInt64(), std::nullopt);
  EXPECT_EQ(At("power").AsInt64(), std::nullopt);
  EXPECT_EQ(At("string").AsInt64(), std::nullopt);
}

TEST_F(JsonDocumentTest, PointsByRfc6901) {
  Read(R"({ "a/b": [ 0, { "m~n": 1 } ] })");
  const JsonValue inner = At("a/b").Children().at(1);
  EXPECT_EQ(document_->root().Pointer(), "");
  EXPECT_EQ(inner.Find("m~n")->Pointer(), "/a~1b/1/m~0n");
}

TEST_F(JsonDocumentTest, KeepsTheFirstOfTwoMembersOfOneName) {
  Read(R"({ "a": 1, "a": { "b": 2 }, "c": 3 })");
  EXPECT_EQ(problems_.size(), 1U);
  EXPECT_EQ(document_->root().ChildCount(), 2U);
  EXPECT_EQ(At("a").AsInt64(), 1);
  EXPECT_EQ(At("c").AsInt64(), 3);
}

TEST_F(JsonDocumentTest, TakesSixtyFourLevelsAndNoMore) {
  Read(std::string(64, '[') + std::string(64, ']'));
  EXPECT_TRUE(document_.has_value());
  Read(std::string(65, '[') + std::string(65, ']'));
  EXPECT_FALSE(document_.has_value());
}

}  // namespace
}  // namespace whorl::sim::json_document_test
