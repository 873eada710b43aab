// The answers of a change stream, as the emulator sends them and as Spanner may divide them.
#include "real_client/change_records.h"

#include <gmock/gmock.h>
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace whorl::real_client::change_records_test {
namespace {

using google::spanner::v1::PartialResultSet;
using testing::HasSubstr;

constexpr const char* kMetadata =
    R"("metadata":{"rowType":{"fields":[{"name":"ChangeRecord","type":{"code":"ARRAY","arrayElementType":)"
    R"({"code":"STRUCT","structType":{"fields":[{"name":"data_change_record","type":{"code":"ARRAY",)"
    R"("arrayElementType":{"code":"STRUCT","structType":{"fields":[{"name":"commit_timestamp","type":)"
    R"({"code":"TIMESTAMP"}},{"name":"mods","type":{"code":"ARRAY","arrayElementType":{"code":"STRUCT",)"
    R"("structType":{"fields":[{"name":"keys","type":{"code":"JSON"}}]}}}}]}}}},{"name":"heartbeat_record",)"
    R"("type":{"code":"ARRAY","arrayElementType":{"code":"STRUCT","structType":{"fields":[{"name":)"
    R"("timestamp","type":{"code":"TIMESTAMP"}}]}}}},{"name":"child_partitions_record","type":{"code":)"
    R"("ARRAY","arrayElementType":{"code":"STRUCT","structType":{"fields":[{"name":"start_timestamp",)"
    R"("type":{"code":"TIMESTAMP"}},{"name":"child_partitions","type":{"code":"ARRAY","arrayElementType":)"
    R"({"code":"STRUCT","structType":{"fields":[{"name":"token","type":{"code":"STRING"}},{"name":)"
    R"("parent_partition_tokens","type":{"code":"ARRAY","arrayElementType":{"code":"STRING"}}}]}}}}]}}}}]}}}}]}})";

PartialResultSet PartOf(const std::string& rest, bool is_first = true) {
  PartialResultSet part;
  const std::string json = "{" + std::string(is_first ? kMetadata : "") +
                           (is_first && !rest.empty() ? "," : "") + rest + "}";
  EXPECT_TRUE(google::protobuf::util::JsonStringToMessage(json, &part).ok()) << json;
  return part;
}

TEST(ChangeRecordsTest, HasDataHeartbeatsAndChildren) {
  ChangeRecordDecoder decoder;
  std::vector<ChangeRecord> records;
  const PartialResultSet part = PartOf(
      R"("values":[[[[["2026-11-24T02:00:00.5Z",[["{\"name\":\"a\"}"]]]],[],[]]],[[[],[["2026-11-24T02:00:01Z"]],[]]],)"
      R"([[[],[],[["2026-11-24T02:00:02Z",[["c",["p","q"]],["d",["p"]]]]]]]])");
  ASSERT_TRUE(decoder.Add(part, records).ok());
  ASSERT_EQ(records.size(), 4U);
  const auto& data = std::get<DataChange>(records[0]);
  EXPECT_EQ(FormatRfc3339(data.commit), "2026-11-24T02:00:00.5Z");
  EXPECT_THAT(data.json, HasSubstr(R"("mods":[{"keys":"{\"name\":\"a\"}"}])"));
  EXPECT_THAT(data.json, HasSubstr(R"("commit_timestamp":"2026-11-24T02:00:00.5Z")"));
  EXPECT_EQ(FormatRfc3339(std::get<Heartbeat>(records[1]).at), "2026-11-24T02:00:01Z");
  const auto& child = std::get<ChildPartition>(records[2]);
  EXPECT_EQ(child.token, "c");
  EXPECT_THAT(child.parents, testing::ElementsAre("p", "q"));
  EXPECT_EQ(std::get<ChildPartition>(records[3]).token, "d");
}

// Spanner divides large rows anywhere.
TEST(ChangeRecordsTest, ARowThatComesInPartsIsOne) {
  ChangeRecordDecoder decoder;
  std::vector<ChangeRecord> records;
  const PartialResultSet first =
      PartOf(R"("values":[[[[["2026-11-24T02:00:00Z",[["{\"name"]]]]]]],"chunkedValue":true)");
  ASSERT_TRUE(decoder.Add(first, records).ok());
  EXPECT_TRUE(records.empty());
  const PartialResultSet second = PartOf(
      R"("values":[[[[[[["\":\"a\"}"]]]],[],[]]],[[[],[["2026-11-24T02:00:01Z"]],[]]]])", false);
  ASSERT_TRUE(decoder.Add(second, records).ok());
  ASSERT_EQ(records.size(), 2U);
  EXPECT_THAT(std::get<DataChange>(records[0]).json,
              HasSubstr(R"("mods":[{"keys":"{\"name\":\"a\"}"}])"));
  EXPECT_EQ(FormatRfc3339(std::get<Heartbeat>(records[1]).at), "2026-11-24T02:00:01Z");
}

TEST(ChangeRecordsTest, OtherAnswersAreErrors) {
  const auto add = [](const PartialResultSet& part) {
    ChangeRecordDecoder decoder;
    std::vector<ChangeRecord> records;
    return decoder.Add(part, records).code;
  };
  EXPECT_EQ(add(PartOf(R"("values":["text"])")), Code::kInternal);
  EXPECT_EQ(add(PartOf(R"("values":[[[[["no time",[]]],[],[]]]])")), Code::kInternal);
  EXPECT_EQ(add(PartOf(R"("values":[[[[],[],[["2026-11-24T02:00:02Z",[["",[]]]]]]]])")),
            Code::kInternal);
  PartialResultSet two;
  two.mutable_metadata()->mutable_row_type()->add_fields()->set_name("a");
  two.mutable_metadata()->mutable_row_type()->add_fields()->set_name("b");
  EXPECT_EQ(add(two), Code::kInternal);
}

}  // namespace
}  // namespace whorl::real_client::change_records_test
