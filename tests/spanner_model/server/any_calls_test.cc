// Random calls of every method, plausible and not: none crashes the server, and each is answered.
#include "tests/spanner_model/server/any_calls.h"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <string>
#include <utility>

namespace whorl::server::any_calls_test {
namespace {

namespace v1 = ::google::spanner::v1;

class CallWriter {
 public:
  explicit CallWriter(uint32_t seed) : chance_(seed) {}

  // One call in the format of AnyCalls::Run.
  std::string Write() {
    const auto method = static_cast<uint8_t>(Draw(AllMethods().size()));
    std::string request = Request(AllMethods()[method].name);
    if (Draw(20) == 0) request = request.substr(0, Draw(request.size() + 1));
    const auto hints = static_cast<uint8_t>(Draw(8) == 0 ? Draw(16) : 1 | 4 | (Draw(2) * 10));
    std::string call;
    call.push_back(static_cast<char>(method));
    call.push_back(static_cast<char>(hints));
    call.push_back(static_cast<char>(Draw(4) == 0 ? Draw(256) : 0));
    call.push_back(static_cast<char>(request.size() / 256));
    call.push_back(static_cast<char>(request.size() % 256));
    return call + request;
  }

 private:
  size_t Draw(size_t below) { return chance_() % below; }

  std::string Sql() {
    static constexpr std::array kTexts = {
        "SELECT k, v, ts FROM t",
        "SELECT v FROM t WHERE k = @k",
        "SELECT 1",
        "nonsense",
        "",
        "INSERT INTO t (k, v, ts) VALUES (@k, @v, PENDING_COMMIT_TIMESTAMP())",
        "UPDATE t SET v = v + @v WHERE k = @k",
        "UPDATE t SET ts = @k WHERE k = @k",
        "DELETE FROM t WHERE true",
        "DELETE FROM t WHERE k = @k THEN RETURN v",
        "SELECT TIMESTAMP_DIFF(CURRENT_TIMESTAMP(), ts, MILLISECOND) FROM t"};
    return kTexts[Draw(kTexts.size())];
  }
  template <typename Proto>
  void SetParameters(Proto& proto) {
    auto& fields = *proto.mutable_params()->mutable_fields();
    static constexpr std::array kKeys = {"a", "b", "c"};
    fields["k"].set_string_value(kKeys[Draw(kKeys.size())]);
    if (Draw(4) == 0) return fields["v"].set_number_value(1);
    fields["v"].set_string_value(std::to_string(Draw(100)));
  }
  void SetTransaction(v1::TransactionSelector& selector) {
    switch (Draw(5)) {
      case 0:
        selector.mutable_begin()->mutable_read_write();
        break;
      case 1:
        selector.mutable_begin()->mutable_read_write()->set_read_lock_mode(
            v1::TransactionOptions::ReadWrite::OPTIMISTIC);
        break;
      case 2:
        selector.mutable_begin()->mutable_read_only()->set_strong(true);
        break;
      case 3:
        selector.mutable_single_use()->mutable_read_only()->mutable_exact_staleness()->set_seconds(
            static_cast<int64_t>(Draw(20)));
        break;
      default:
        break;
    }
  }

  std::string Request(std::string_view method) {
    if (method == "ExecuteSql" || method == "ExecuteStreamingSql") return Execute();
    if (method == "ExecuteBatchDml") return Batch();
    if (method == "Read" || method == "StreamingRead") return ReadAll();
    if (method == "BeginTransaction") return Begin();
    if (method == "Commit") return CommitOne();
    if (method == "UpdateDatabaseDdl") {
      database_admin::UpdateDatabaseDdlRequest proto;
      proto.add_statements(Draw(2) == 0 ? "CREATE TABLE u (k INT64) PRIMARY KEY (k)"
                                        : "DROP TABLE u");
      return proto.SerializeAsString();
    }
    if (method == "BatchCreateSessions") {
      v1::BatchCreateSessionsRequest proto;
      proto.set_session_count(static_cast<int32_t>(Draw(4)));
      return proto.SerializeAsString();
    }
    if (method == "CreateSession") {
      v1::CreateSessionRequest proto;
      proto.mutable_session()->set_multiplexed(Draw(2) == 0);
      return proto.SerializeAsString();
    }
    return {};
  }

  std::string Execute() {
    v1::ExecuteSqlRequest proto;
    proto.set_sql(Sql());
    SetParameters(proto);
    SetTransaction(*proto.mutable_transaction());
    proto.set_seqno(static_cast<int64_t>(Draw(3)));
    return proto.SerializeAsString();
  }
  std::string Batch() {
    v1::ExecuteBatchDmlRequest proto;
    for (size_t i = Draw(3); i > 0; --i) {
      auto& statement = *proto.add_statements();
      statement.set_sql(Sql());
      SetParameters(statement);
    }
    SetTransaction(*proto.mutable_transaction());
    return proto.SerializeAsString();
  }
  std::string ReadAll() {
    v1::ReadRequest proto;
    proto.add_columns("k");
    if (Draw(2) == 0) proto.add_columns("v");
    proto.mutable_key_set()->set_all(true);
    SetTransaction(*proto.mutable_transaction());
    return proto.SerializeAsString();
  }
  std::string Begin() {
    v1::BeginTransactionRequest proto;
    v1::TransactionSelector selector;
    SetTransaction(selector);
    *proto.mutable_options() = selector.begin();
    return proto.SerializeAsString();
  }
  std::string CommitOne() {
    v1::CommitRequest proto;
    if (Draw(2) == 0) proto.mutable_single_use_transaction()->mutable_read_write();
    auto& write = *proto.add_mutations()->mutable_insert_or_update();
    write.set_table("t");
    write.add_columns("k");
    write.add_columns(Draw(2) == 0 ? "v" : "ts");
    auto& row = *write.add_values();
    row.add_values()->set_string_value(Draw(2) == 0 ? "a" : "b");
    row.add_values()->set_string_value(Draw(2) == 0 ? "5" : "spanner.commit_timestamp()");
    proto.set_return_commit_stats(Draw(2) == 0);
    return proto.SerializeAsString();
  }

  std::mt19937 chance_;
};

std::string AnyRun(uint32_t seed) {
  CallWriter writer(seed);
  std::string calls;
  for (int i = 0; i < 200; ++i) calls += writer.Write();
  return calls;
}

// AnyCalls aborts the process if a call is not answered exactly once.
TEST(ServerAnyCallsTest, EveryCallIsAnsweredOnceAlsoWithSlowCommitsAndAsInTheEmulator) {
  BackendOptions slow;
  slow.epsilon = Milliseconds(7);
  slow.replication_latency = Milliseconds(500);
  const std::pair<const char*, BackendOptions> all[] = {
      {"commits at once", {}}, {"slow commits", slow}, {"as in the emulator", EmulatorLike()}};
  for (const auto& [name, options] : all) {
    for (uint32_t seed = 1; seed <= 150; ++seed) {
      SCOPED_TRACE(std::string(name) + ", seed " + std::to_string(seed));
      AnyCalls(options).Run(AnyRun(seed));
    }
  }
}

}  // namespace
}  // namespace whorl::server::any_calls_test
