#include "tests/fuzz/calls/draw_calls.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/struct.pb.h>
#include <google/protobuf/text_format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <initializer_list>
#include <random>
#include <string_view>
#include <utility>

#include "google/spanner/v1/spanner.pb.h"
#include "spanner_model/server/methods.h"

namespace whorl::fuzz {
namespace {

namespace v1 = google::spanner::v1;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

struct ColumnOf {
  const char* name;
  v1::TypeCode type;
  bool is_array = false;
};
struct TableOf {
  const char* name;
  std::vector<ColumnOf> columns;
  size_t key_parts;  // the first columns
};
const std::vector<TableOf>& Tables() {
  static const std::vector<TableOf> tables = {
      {"t1", {{"k", v1::STRING}, {"n", v1::INT64}, {"s", v1::STRING}, {"ts", v1::TIMESTAMP}}, 1},
      {"t2", {{"a", v1::INT64}, {"b", v1::BYTES}, {"f", v1::FLOAT64}, {"v", v1::STRING}}, 2},
      {"t3",
       {{"d", v1::DATE},
        {"o", v1::BOOL},
        {"t", v1::TIMESTAMP},
        {"m", v1::NUMERIC},
        {"js", v1::JSON},
        {"words", v1::STRING, true},
        {"numbers", v1::INT64, true},
        {"f32", v1::FLOAT32}},
       3},
      {"t4", {{"x", v1::BOOL}, {"y", v1::INT64}}, 1},
      // Comes and goes.
      {"t5", {{"id", v1::FLOAT64}, {"z", v1::STRING}}, 1},
  };
  return tables;
}

// Statements that are right for the schema; {} is a place for a value, @p and @q are parameters.
constexpr auto kStatements = std::to_array<std::string_view>({
    "SELECT 1",
    "SELECT * FROM t1",
    "SELECT k, n FROM t1 WHERE k = {}",
    "SELECT DISTINCT n FROM t1 ORDER BY n DESC LIMIT 3",
    "SELECT DISTINCT 1, 'a' FROM t1 LIMIT 1 OFFSET 1",
    "SELECT n, COUNT(*), MIN(s), MAX(k), SUM(n) FROM t1 GROUP BY n HAVING COUNT(*) > 0 ORDER BY 1",
    "SELECT k FROM t1 WHERE n IN (1, 2, NULL, @p) AND s LIKE '%a_b%'",
    "SELECT k FROM t1 WHERE k BETWEEN 'a' AND {} OR n IS NOT NULL",
    "SELECT k FROM t1@{FORCE_INDEX=t1_by_n} WHERE n = @p",
    "SELECT CASE n WHEN 1 THEN 'one' WHEN 2 THEN 'two' ELSE s END FROM t1",
    "SELECT CASE WHEN n > 1 THEN n ELSE -n END FROM t1 WHERE k = @q",
    "SELECT IF(n IS NULL, 0, n), COALESCE(s, k, 'x'), IFNULL(n, 7) FROM t1",
    "SELECT LENGTH(s), UPPER(k), CONCAT(k, '-', s), SUBSTR(s, 2, 3) FROM t1",
    "SELECT CAST(n AS STRING), SAFE_CAST(s AS INT64), CAST('2024-01-01' AS DATE) FROM t1",
    "SELECT CURRENT_TIMESTAMP(), TIMESTAMP_ADD(ts, INTERVAL 1 SECOND) FROM t1",
    "SELECT TIMESTAMP_DIFF(CURRENT_TIMESTAMP(), ts, MILLISECOND) FROM t1 WHERE ts > "
    "CURRENT_TIMESTAMP()",
    "SELECT TIMESTAMP '2024-01-01T00:00:00Z', b'\\x00\\xff', r'\\d', 0x1F, 1e10, .5",
    "SELECT EXISTS(SELECT 1 FROM t2 WHERE a = 1), (SELECT MAX(n) FROM t1)",
    "SELECT k FROM t1 WHERE n IN (SELECT a FROM t2) AND k NOT IN UNNEST(['x', @q])",
    "SELECT a, b, f, v FROM t2 WHERE a = 1 AND b = b'x' ORDER BY f DESC, v",
    "SELECT a + 1, a - 2, a * 3, f / 2.0, -a, +f FROM t2 WHERE NOT (a = 1)",
    "SELECT 9223372036854775807 + 1, 1 / 0, -9223372036854775808",
    "SELECT d, m, o, t, js, words, numbers, f32 FROM t3 WHERE o = TRUE AND d = DATE '2024-01-01'",
    "SELECT COUNT(*) FROM t3 WHERE t < CURRENT_TIMESTAMP()",
    "SELECT x FROM t4 WHERE x = (@p = 1) AND @q = @q",
    "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = ''",
    "SELECT t.k AS key FROM t1 AS t WHERE t.n > 0 ORDER BY key",
    "@{optimizer_version=5} SELECT k FROM t1",
    "INSERT INTO t1 (k, n) VALUES ({}, 1), ('b', @p)",
    "INSERT INTO t1 (k, n, ts) VALUES ({}, 2, PENDING_COMMIT_TIMESTAMP()) THEN RETURN k, n",
    "INSERT OR UPDATE INTO t1 (k, n) VALUES ({}, 3)",
    "INSERT OR IGNORE INTO t1 (k, s) SELECT CAST(a AS STRING), v FROM t2",
    "INSERT INTO t2 (a, b, f) VALUES (1, b'x', 1.5), (NULL, NULL, 2)",
    "INSERT INTO t3 (d, m, o, t) VALUES (DATE '2024-01-01', NUMERIC '1', TRUE, "
    "CURRENT_TIMESTAMP())",
    "INSERT OR UPDATE INTO t4 (x, y) VALUES (TRUE, @p)",
    "INSERT INTO t5 (id, z) VALUES (1.0, {})",
    "UPDATE t1 SET n = n + 1, ts = PENDING_COMMIT_TIMESTAMP() WHERE k = {}",
    "UPDATE t1 SET s = REPEAT('ab', 100) WHERE n > @p THEN RETURN k, s",
    "UPDATE t1 SET n = DEFAULT WHERE TRUE",
    "UPDATE t2 SET f = CASE WHEN a > 1 THEN 1.0 ELSE f END, v = 'z' WHERE a IS NULL OR a = @p",
    "UPDATE t3 SET words = ['a', NULL], numbers = NULL, js = JSON '{\"a\": [1]}' WHERE o",
    "DELETE FROM t1 WHERE k = {}",
    "DELETE FROM t1 WHERE k IN (SELECT v FROM t2) THEN RETURN *",
    "DELETE FROM t2 WHERE a > 0",
    "DELETE FROM t4 WHERE TRUE",
});

constexpr auto kSchemaChanges = std::to_array<std::string_view>({
    "CREATE TABLE t5 (id FLOAT64, z STRING(MAX)) PRIMARY KEY (id)",
    "DROP TABLE t5",
    "ALTER TABLE t1 ADD COLUMN extra INT64",
    "ALTER TABLE t1 DROP COLUMN extra",
    "CREATE INDEX t2_by_f ON t2 (f)",
    "DROP INDEX t2_by_f",
    "CREATE INDEX t3_by_words ON t3 (words)",
    "CREATE INDEX twice ON t1 (n, n)",
    "CREATE INDEX storing ON t1 (n) STORING (k)",
    "CREATE TABLE t6 (a INT64, a STRING(0)) PRIMARY KEY (b)",
    "CREATE TABLE t7 (a ARRAY<STRING(10)>) PRIMARY KEY (a)",
    "CREATE TABLE t8 () PRIMARY KEY ()",
});

class RoundMaker {
 public:
  explicit RoundMaker(uint64_t seed) : random_(seed) {}

  std::vector<PlayedCall> Make(int calls) {
    for (int thread = 1; thread <= kThreads; ++thread) {
      v1::CreateSessionRequest create;
      create.set_database(kDatabase);
      create.mutable_session()->set_multiplexed(OneIn(3));
      sessions_.push_back(Add(0, "CreateSession", create).number);
    }
    for (int i = Between(1, 4); i > 0; --i) {
      v1::CommitRequest rows;
      rows.set_session(Ref('s', sessions_[0]));
      rows.mutable_single_use_transaction()->mutable_read_write();
      FillMutations(rows.mutable_mutations(), /*mostly_right=*/true);
      Add(0, "Commit", rows);
    }
    for (int i = 0; i < calls; ++i) AddDrawn(Between(1, kThreads));
    return std::move(calls_);
  }

 private:
  // --- chance ------------------------------------------------------------------------------------

  int Below(int end) { return static_cast<int>(random_() % static_cast<uint64_t>(end)); }
  int Between(int least, int most) { return least + Below(most - least + 1); }
  bool OneIn(int count) { return Below(count) == 0; }
  bool Percent(int share) { return Below(100) < share; }
  template <typename Range>
  const auto& Of(const Range& range) {
    return *(std::begin(range) + Below(static_cast<int>(std::size(range))));
  }
  // Mostly small, sometimes as large as `most`.
  int Size(int most) {
    if (Percent(90)) return Below(std::min(most, 4) + 1);
    return Percent(80) ? Below(std::min(most, 300) + 1) : Below(most + 1);
  }

  // --- names -------------------------------------------------------------------------------------

  static std::string Ref(char kind, int call) {
    return std::string("@") + kind + std::to_string(call);
  }

  std::string Session(int thread) {
    if (Percent(96)) return Ref('s', sessions_[static_cast<size_t>(thread) - 1]);
    if (Percent(60)) return Ref('s', Of(sessions_));
    static const std::array<std::string, 5> wrong = {
        "", "x", std::string(kDatabase) + "/sessions/nosuch", std::string(kDatabase) + "/sessions/",
        "projects/p/instances/i/databases/other/sessions/1"};
    return Of(wrong);
  }

  // The id of a transaction: mostly of this thread's newest begin.
  std::string Transaction(int thread) {
    auto& mine = begun_[static_cast<size_t>(thread)];
    if (mine.empty() && Percent(90)) {
      v1::BeginTransactionRequest begin;
      begin.set_session(Session(thread));
      begin.mutable_options()->mutable_read_write();
      AddBegun(thread, "BeginTransaction", begin, true);
    }
    if (!mine.empty() && Percent(92)) return Ref('t', mine.back());
    const auto& any = begun_[static_cast<size_t>(Between(1, kThreads))];
    if (!any.empty() && Percent(80)) return Ref('t', Of(any));
    if (!OneIn(4)) return Ref('t', last_begun_);
    static const std::array<std::string, 4> wrong = {"", "0", "999999999",
                                                     std::string("\0\xff", 2)};
    return Of(wrong);
  }

  // Mostly, a transaction that has ended is not used any more.
  void End(int thread) {
    auto& mine = begun_[static_cast<size_t>(thread)];
    if (!mine.empty() && Percent(80)) mine.pop_back();
  }

  // --- values ------------------------------------------------------------------------------------

  std::string Text() {
    static const std::array<std::string, 14> texts = {"a",     "b",
                                                      "ab",    "zz",
                                                      "",      "\xc3\xa9",
                                                      "%a_b%", "\\",
                                                      "a\nb",  "'",
                                                      "NULL",  "\xf0\x9f\x94\x92",
                                                      "A",     "spanner.commit_timestamp()"};
    if (Percent(95)) return Of(texts);
    return std::string(static_cast<size_t>(Size(20'000)), OneIn(2) ? 'a' : 'b');
  }

  std::string Right(v1::TypeCode type) {
    using Texts = std::vector<std::string>;
    static const Texts integers = {
        "0", "1", "2", "-1", "9223372036854775807", "-9223372036854775808"};
    static const Texts bytes = {"", "AA==", "/////w==", "YQ=="};
    static const Texts times = {"2024-01-01T00:00:00Z", "0001-01-01T00:00:00Z",
                                "9999-12-31T23:59:59.999999999Z", "2030-01-01T00:00:00Z",
                                "spanner.commit_timestamp()"};
    static const Texts dates = {"2024-01-01", "0001-01-01", "9999-12-31"};
    static const Texts numerics = {"0", "1.5", "-99999999999999999999999999999.999999999"};
    static const Texts documents = {"{}", "[1,2]", "{\"a\":{\"b\":null}}", "\"x\"", "null"};
    static const Texts floats = {"NaN", "Infinity", "-Infinity"};
    switch (type) {
      case v1::INT64:
        return Of(integers);
      case v1::BYTES:
        return Of(bytes);
      case v1::TIMESTAMP:
        return Of(times);
      case v1::DATE:
        return Of(dates);
      case v1::NUMERIC:
        return Of(numerics);
      case v1::JSON:
        return Of(documents);
      case v1::FLOAT64:
      case v1::FLOAT32:
        return Of(floats);
      default:
        return Text();
    }
  }

  double Number() {
    static const std::array<double, 9> numbers = {0,      1,     -0.0, 2.5,          1e308,
                                                  1e-320, -1e15, 9e18, 123456789.125};
    return Of(numbers);
  }

  void FillValue(google::protobuf::Value& value, v1::TypeCode type, bool is_array, int depth = 0) {
    if (Percent(6)) return value.set_null_value(google::protobuf::NULL_VALUE);
    if (OneIn(200)) return FillAnyValue(value, depth);
    if (is_array) {
      auto& list = *value.mutable_list_value();
      for (int i = Size(200); i > 0; --i) FillValue(*list.add_values(), type, false, depth + 1);
      return;
    }
    if (type == v1::BOOL) return value.set_bool_value(OneIn(2));
    if ((type == v1::FLOAT64 || type == v1::FLOAT32) && Percent(80)) {
      return value.set_number_value(Number());
    }
    value.set_string_value(Right(type));
  }

  void FillAnyValue(google::protobuf::Value& value, int depth) {
    switch (Below(depth > 6 ? 4 : 6)) {
      case 0:
        return;  // no kind at all
      case 1:
        return value.set_bool_value(OneIn(2));
      case 2:
        return value.set_number_value(Number());
      case 3:
        return value.set_string_value(Text());
      case 4: {
        auto& list = *value.mutable_list_value();
        for (int i = Below(3); i > 0; --i) FillAnyValue(*list.add_values(), depth + 1);
        return;
      }
      default:
        FillAnyValue((*value.mutable_struct_value()->mutable_fields())[Text()], depth + 1);
    }
  }

  void FillKey(google::protobuf::ListValue& key, const TableOf& table, bool may_be_prefix) {
    size_t parts = table.key_parts;
    if (may_be_prefix) parts = static_cast<size_t>(Below(static_cast<int>(parts) + 1));
    if (OneIn(25)) parts = static_cast<size_t>(Below(6));
    for (size_t i = 0; i < parts; ++i) {
      const ColumnOf& column = table.columns[std::min(i, table.columns.size() - 1)];
      FillValue(*key.add_values(), column.type, column.is_array);
    }
  }

  void FillKeys(v1::KeySet& keys, const TableOf& table) {
    if (OneIn(4)) keys.set_all(true);
    for (int i = Size(50); i > 0; --i) FillKey(*keys.add_keys(), table, false);
    for (int i = Below(3); i > 0; --i) {
      v1::KeyRange& range = *keys.add_ranges();
      switch (Below(3)) {
        case 0:
          FillKey(*range.mutable_start_closed(), table, true);
          break;
        case 1:
          FillKey(*range.mutable_start_open(), table, true);
          break;
        default:
          if (!OneIn(10)) FillKey(*range.mutable_start_closed(), table, true);
      }
      if (range.has_start_closed() && OneIn(4)) {  // one key, open or closed
        auto& end = OneIn(2) ? *range.mutable_end_open() : *range.mutable_end_closed();
        end = range.start_closed();
      } else if (OneIn(2)) {
        FillKey(*range.mutable_end_closed(), table, true);
      } else if (!OneIn(15)) {
        FillKey(*range.mutable_end_open(), table, true);
      }
    }
  }

  std::string Column(const TableOf& table) {
    if (OneIn(30)) return OneIn(2) ? "nosuch" : "K";
    return Of(table.columns).name;
  }

  void FillWrite(v1::Mutation::Write& write, bool right) {
    const TableOf& table = Of(Tables());
    write.set_table(OneIn(40) ? "nosuch" : table.name);
    std::vector<ColumnOf> columns(table.columns.begin(),
                                  table.columns.begin() + static_cast<int>(table.key_parts));
    if (!right && OneIn(10) && !columns.empty()) columns.pop_back();
    for (size_t i = table.key_parts; i < table.columns.size(); ++i) {
      if (OneIn(2)) columns.push_back(table.columns[i]);
    }
    if (!right && OneIn(15)) columns.push_back(Of(table.columns));  // perhaps twice
    for (const ColumnOf& column : columns) write.add_columns(column.name);
    for (int i = 1 + Size(100); i > 0; --i) {
      auto& row = *write.add_values();
      for (const ColumnOf& column : columns) {
        FillValue(*row.add_values(), column.type, column.is_array);
      }
      if (!right && OneIn(40)) row.add_values();
    }
  }

  void FillMutations(google::protobuf::RepeatedPtrField<v1::Mutation>* mutations,
                     bool mostly_right) {
    for (int i = 1 + Size(20); i > 0; --i) {
      v1::Mutation& mutation = *mutations->Add();
      switch (Below(mostly_right ? 2 : 6)) {
        case 0:
        case 1:
          FillWrite(*mutation.mutable_insert_or_update(), mostly_right);
          break;
        case 2:
          FillWrite(*mutation.mutable_insert(), false);
          break;
        case 3:
          FillWrite(*mutation.mutable_update(), false);
          break;
        case 4:
          FillWrite(*mutation.mutable_replace(), false);
          break;
        default: {
          const TableOf& table = Of(Tables());
          mutation.mutable_delete_()->set_table(table.name);
          FillKeys(*mutation.mutable_delete_()->mutable_key_set(), table);
        }
      }
    }
  }

  // --- statements --------------------------------------------------------------------------------

  static std::vector<std::string> Tokens(std::string_view text) {
    std::vector<std::string> tokens;
    for (size_t i = 0; i < text.size();) {
      size_t end = i + 1;
      const auto is_word = [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
      };
      if (is_word(text[i])) {
        while (end < text.size() && is_word(text[end])) ++end;
      } else if (text[i] == '\'') {
        end = std::min(text.find('\'', i + 1), text.size() - 1) + 1;
      }
      tokens.emplace_back(text.substr(i, end - i));
      i = end;
    }
    return tokens;
  }

  std::string Literal() {
    static const std::array<std::string_view, 12> literals = {
        "'a'",  "'b'",  "1",
        "NULL", "b'x'", "1.5",
        "TRUE", "@p",   "DATE '2024-01-01'",
        "''",   "-1",   "TIMESTAMP '2024-01-01T00:00:00Z'"};
    return std::string(Of(literals));
  }

  std::string Statement() {
    std::string text(Of(kStatements));
    for (size_t at = text.find("{}"); at != std::string::npos; at = text.find("{}")) {
      text.replace(at, 2, Percent(75) ? "'a'" : Literal());
    }
    if (OneIn(2)) return text;
    std::vector<std::string> tokens = Tokens(text);
    for (int i = Between(1, 3); i > 0 && !tokens.empty(); --i) Mutate(tokens);
    std::string changed;
    for (const std::string& token : tokens) changed += token;
    return changed;
  }

  void Mutate(std::vector<std::string>& tokens) {
    const auto at = [&] { return tokens.begin() + Below(static_cast<int>(tokens.size())); };
    switch (Below(8)) {
      case 0:
        tokens.erase(at());
        return;
      case 1:
        tokens.insert(at(), *at());
        return;
      case 2:
        std::iter_swap(at(), at());
        return;
      case 3: {  // a token of another statement
        const std::vector<std::string> others = Tokens(Of(kStatements));
        *at() = Of(others);
        return;
      }
      case 4:
        *at() = Literal();
        return;
      case 5: {  // a part, many times
        const int first = Below(static_cast<int>(tokens.size()));
        const int length = std::min(Between(1, 6), static_cast<int>(tokens.size()) - first);
        const std::vector<std::string> part(tokens.begin() + first,
                                            tokens.begin() + first + length);
        std::string many;
        for (int i = Size(60'000 / length); i > 0; --i) {
          for (const std::string& token : part) many += token;
          if (many.size() > 600'000) break;
        }
        tokens.insert(tokens.begin() + first, many);
        return;
      }
      case 6: {  // deeper
        const int depth = Size(4'000);
        static const std::array<std::pair<std::string_view, std::string_view>, 5> nests = {
            {{"(", ")"}, {"NOT ", ""}, {"- ", ""}, {"IF(TRUE, ", ", 1)"}, {"(SELECT ", ")"}}};
        const auto& [open, close] = Of(nests);
        std::string deep;
        for (int i = 0; i < depth; ++i) deep += open;
        deep += "1";
        for (int i = 0; i < depth; ++i) deep += close;
        *at() = deep;
        return;
      }
      default: {  // a part of another statement
        const std::vector<std::string> others = Tokens(Of(kStatements));
        const int first = Below(static_cast<int>(others.size()));
        const int length = Between(1, static_cast<int>(others.size()) - first);
        tokens.insert(at(), others.begin() + first, others.begin() + first + length);
      }
    }
  }

  template <typename Proto>
  void FillStatement(Proto& proto) {
    proto.set_sql(Statement());
    for (const char* name : {"p", "q"}) {
      if (proto.sql().find(std::string("@") + name) == std::string::npos && !OneIn(20)) continue;
      if (OneIn(20)) continue;
      static const std::array<v1::TypeCode, 10> types = {
          v1::INT64,   v1::STRING, v1::BYTES, v1::TIMESTAMP, v1::BOOL,
          v1::FLOAT64, v1::DATE,   v1::JSON,  v1::NUMERIC,   v1::TYPE_CODE_UNSPECIFIED};
      const v1::TypeCode usual = name[0] == 'p' ? v1::INT64 : v1::STRING;
      const v1::TypeCode type = OneIn(4) ? Of(types) : usual;
      const bool is_array = OneIn(20);
      FillValue((*proto.mutable_params()->mutable_fields())[name], type, is_array);
      if (OneIn(3)) continue;
      v1::Type& declared = (*proto.mutable_param_types())[name];
      if (is_array) {
        declared.set_code(v1::ARRAY);
        declared.mutable_array_element_type()->set_code(type);
      } else {
        declared.set_code(type);
      }
    }
  }

  // --- transactions ------------------------------------------------------------------------------

  void FillBound(v1::TransactionOptions::ReadOnly& bound) {
    bound.set_return_read_timestamp(OneIn(2));
    const int64_t now = 99'990'000 + Below(10);  // about now: see play_calls.cc
    switch (Below(7)) {
      case 0:
        return bound.set_strong(true);
      case 1:
        return bound.mutable_exact_staleness()->set_seconds(OneIn(8) ? -1
                                                                     : Of(std::array{0, 1, 4000}));
      case 2:
        if (!OneIn(4)) return;
        return bound.mutable_max_staleness()->set_seconds(Of(std::array{0, 10, 4000}));
      case 3:
        return bound.mutable_read_timestamp()->set_seconds(now);
      case 4:
        if (!OneIn(4)) return;
        return bound.mutable_min_read_timestamp()->set_seconds(now);
      case 5:
        // Read at the time of a commit that is there.
        return bound.mutable_exact_staleness()->set_nanos(Between(0, 50'000'000));
      default:
        return;
    }
  }

  void FillOptions(v1::TransactionOptions& options) {
    switch (Below(12)) {
      case 0:
      case 1:
      case 2:
        FillBound(*options.mutable_read_only());
        return;
      case 3:
        options.mutable_partitioned_dml();
        return;
      case 4:
        if (OneIn(4)) return;
        [[fallthrough]];
      default: {
        auto& write = *options.mutable_read_write();
        if (OneIn(4)) write.set_read_lock_mode(v1::TransactionOptions::ReadWrite::OPTIMISTIC);
        if (OneIn(10)) write.set_multiplexed_session_previous_transaction_id("1");
        options.set_exclude_txn_from_change_streams(OneIn(10));
      }
    }
  }

  // Fills the selector; true if it begins a transaction. Most DML gets a transaction in which it can run.
  bool FillSelector(v1::TransactionSelector& selector, int thread, bool is_dml) {
    if (is_dml && !OneIn(10)) {
      if (OneIn(2)) {
        selector.mutable_begin()->mutable_read_write();
        return true;
      }
      selector.set_id(Transaction(thread));
      return false;
    }
    switch (Below(10)) {
      case 0:
        return false;
      case 1:
      case 2:
        FillBound(*selector.mutable_single_use()->mutable_read_only());
        return false;
      case 3:
        if (OneIn(3)) FillOptions(*selector.mutable_single_use());
        return false;
      case 4:
      case 5:
      case 6:
        FillOptions(*selector.mutable_begin());
        return true;
      default:
        selector.set_id(Transaction(thread));
        return false;
    }
  }

  // --- calls -------------------------------------------------------------------------------------

  PlayedCall& Add(int thread, std::string method, const Message& request) {
    PlayedCall call{.number = static_cast<int>(calls_.size()) + 1,
                    .thread = thread,
                    .method = std::move(method)};
    google::protobuf::TextFormat::Printer printer;
    printer.SetSingleLineMode(true);
    printer.PrintToString(request, &call.request);
    // What others build on is not given up.
    if (thread > 0 && call.method != "CreateSession" && call.method != "BeginTransaction") {
      if (OneIn(15)) call.deadline_ms = Of(std::array{1, 3, 20, 100});
      call.cancel = OneIn(25);
      const bool is_stream = call.method.find("Streaming") != std::string::npos;
      if (is_stream && OneIn(4)) call.read_parts = Below(3);
    }
    calls_.push_back(std::move(call));
    return calls_.back();
  }

  void AddBegun(int thread, const std::string& method, const Message& request, bool begins) {
    const int number = Add(thread, method, request).number;
    // A statement may be refused, and its transaction is not begun then.
    if (!begins || (method != "BeginTransaction" && OneIn(2))) return;
    begun_[static_cast<size_t>(thread)].push_back(last_begun_ = number);
  }

  void AddDrawn(int thread) {
    const int kind = Below(100);
    if (kind < 38) return AddExecute(thread);
    if (kind < 44) return AddBatch(thread);
    if (kind < 56) return AddRead(thread);
    if (kind < 66) {
      v1::BeginTransactionRequest begin;
      begin.set_session(Session(thread));
      FillOptions(*begin.mutable_options());
      return AddBegun(thread, "BeginTransaction", begin, true);
    }
    if (kind < 82) return AddCommit(thread);
    if (kind < 85) {
      v1::RollbackRequest rollback;
      rollback.set_session(Session(thread));
      rollback.set_transaction_id(Transaction(thread));
      End(thread);
      Add(thread, "Rollback", rollback);
      return;
    }
    if (kind < 87) return AddSchemaChange(thread);
    if (kind < 90) {
      v1::BatchWriteRequest batch;
      batch.set_session(Session(thread));
      for (int i = Size(10); i > 0; --i) {
        FillMutations(batch.add_mutation_groups()->mutable_mutations(), false);
      }
      Add(thread, "BatchWrite", batch);
      return;
    }
    if (kind < 92) return AddNewSession(thread);
    AddOfAnyMethod(thread);
  }

  void AddExecute(int thread) {
    v1::ExecuteSqlRequest execute;
    execute.set_session(Session(thread));
    FillStatement(execute);
    const bool begins =
        FillSelector(*execute.mutable_transaction(), thread, execute.sql().find("SELECT") != 0);
    execute.set_seqno(OneIn(10) ? Below(3) : ++sequence_);
    if (OneIn(8)) execute.set_query_mode(static_cast<v1::ExecuteSqlRequest::QueryMode>(Below(5)));
    if (OneIn(50) && !streams_.empty()) execute.set_resume_token(Ref('r', Of(streams_)));
    if (OneIn(100)) execute.set_resume_token(OneIn(2) ? "1 0" : "junk");
    const bool streamed = OneIn(2);
    AddBegun(thread, streamed ? "ExecuteStreamingSql" : "ExecuteSql", execute, begins);
    if (streamed) streams_.push_back(calls_.back().number);
  }

  void AddBatch(int thread) {
    v1::ExecuteBatchDmlRequest batch;
    batch.set_session(Session(thread));
    const bool begins = FillSelector(*batch.mutable_transaction(), thread, true);
    for (int i = Size(30); i > 0; --i) {
      auto& statement = *batch.add_statements();
      do FillStatement(statement);
      while (statement.sql().starts_with("SELECT") && !OneIn(10));
    }
    batch.set_seqno(++sequence_);
    AddBegun(thread, "ExecuteBatchDml", batch, begins);
  }

  void AddRead(int thread) {
    const TableOf& table = Of(Tables());
    v1::ReadRequest read;
    read.set_session(Session(thread));
    const bool begins = FillSelector(*read.mutable_transaction(), thread, false);
    read.set_table(OneIn(40) ? "nosuch" : table.name);
    for (int i = 1 + Size(5); i > 0; --i) read.add_columns(Column(table));
    FillKeys(*read.mutable_key_set(), table);
    if (OneIn(4)) read.set_limit(OneIn(10) ? -1 : Of(std::array<int64_t, 3>{1, 2, INT64_MAX}));
    if (OneIn(30)) read.set_index("t1_by_n");
    if (OneIn(50) && !streams_.empty()) read.set_resume_token(Ref('r', Of(streams_)));
    const bool streamed = OneIn(2);
    AddBegun(thread, streamed ? "StreamingRead" : "Read", read, begins);
    if (streamed) streams_.push_back(calls_.back().number);
  }

  void AddCommit(int thread) {
    v1::CommitRequest commit;
    commit.set_session(Session(thread));
    if (OneIn(2)) {
      const std::string id = Transaction(thread);
      End(thread);
      commit.set_transaction_id(id);
      // The newest token that this transaction was given.
      if (!OneIn(10)) commit.mutable_precommit_token()->set_precommit_token(id);
    } else if (!OneIn(10)) {
      commit.mutable_single_use_transaction()->mutable_read_write();
    } else {
      FillOptions(*commit.mutable_single_use_transaction());
    }
    if (OneIn(2)) FillMutations(commit.mutable_mutations(), OneIn(2));
    commit.set_return_commit_stats(OneIn(3));
    if (OneIn(15)) commit.mutable_max_commit_delay()->set_nanos(Below(600) * 1'000'000);
    Add(thread, "Commit", commit);
  }

  void AddSchemaChange(int thread) {
    google::spanner::admin::database::v1::UpdateDatabaseDdlRequest update;
    update.set_database(kDatabase);
    for (int i = 1 + Below(2); i > 0; --i) {
      std::string statement(Of(kSchemaChanges));
      if (OneIn(4)) {
        std::vector<std::string> tokens = Tokens(statement);
        Mutate(tokens);
        statement.clear();
        for (const std::string& token : tokens) statement += token;
      }
      update.add_statements(statement);
    }
    Add(thread, "UpdateDatabaseDdl", update);
  }

  void AddNewSession(int thread) {
    v1::CreateSessionRequest create;
    create.set_database(kDatabase);
    create.mutable_session()->set_multiplexed(OneIn(3));
    if (OneIn(2)) {
      v1::DeleteSessionRequest gone;
      gone.set_name(Ref('s', sessions_[static_cast<size_t>(thread) - 1]));
      Add(thread, "DeleteSession", gone);
    }
    begun_[static_cast<size_t>(thread)].clear();  // they are of the session that was
    sessions_[static_cast<size_t>(thread) - 1] = Add(thread, "CreateSession", create).number;
  }

  // --- any method, with any fields ---------------------------------------------------------------

  void AddOfAnyMethod(int thread) {
    const server::Method& method = Of(server::AllMethods());
    if (method.name == "DeleteSession") return AddNewSession(thread);
    auto request = method.new_request();
    FillAny(*request, thread, 0);
    // The database of the round stays; another one may go.
    if (method.name == "DropDatabase" || method.name == "DeleteInstance") {
      request->Clear();
    }
    Add(thread, std::string(method.name), *request);
  }

  void FillAny(Message& message, int thread, int depth) {
    if (auto* value = dynamic_cast<google::protobuf::Value*>(&message)) {
      return FillAnyValue(*value, depth);
    }
    const auto* reflection = message.GetReflection();
    for (int i = 0; i < message.GetDescriptor()->field_count(); ++i) {
      const FieldDescriptor* field = message.GetDescriptor()->field(i);
      if (field->is_map() || OneIn(3)) continue;
      if (!field->is_repeated()) {
        FillField(message, *reflection, *field, thread, depth);
        continue;
      }
      for (int k = Below(3); k > 0; --k) FillField(message, *reflection, *field, thread, depth);
    }
  }

  std::string AnyName(const FieldDescriptor& field, int thread) {
    const std::string& name = field.name();
    if (name == "session" || (name == "name" && OneIn(2))) return Session(thread);
    if (name == "database") return OneIn(6) ? "projects/p/instances/i/databases/e" : kDatabase;
    if (name == "parent" || name == "instance") return "projects/p/instances/i";
    if (name == "sql" || name == "statements") return Statement();
    if (name == "table") return Of(Tables()).name;
    if (name == "transaction_id" || name == "id") return Transaction(thread);
    if (name == "create_statement") return "CREATE DATABASE `e`";
    return Text();
  }

  void FillField(Message& message, const google::protobuf::Reflection& reflection,
                 const FieldDescriptor& field, int thread, int depth) {
    const bool many = field.is_repeated();
    const auto put = [&](auto set, auto add, auto value) {
      if (many) {
        (reflection.*add)(&message, &field, value);
      } else {
        (reflection.*set)(&message, &field, value);
      }
    };
    using R = google::protobuf::Reflection;
    switch (field.cpp_type()) {
      case FieldDescriptor::CPPTYPE_MESSAGE:
        if (depth > 5) return;
        return FillAny(many ? *reflection.AddMessage(&message, &field)
                            : *reflection.MutableMessage(&message, &field),
                       thread, depth + 1);
      case FieldDescriptor::CPPTYPE_STRING: {
        std::string text = AnyName(field, thread);
        return many ? reflection.AddString(&message, &field, std::move(text))
                    : reflection.SetString(&message, &field, std::move(text));
      }
      case FieldDescriptor::CPPTYPE_BOOL:
        return put(&R::SetBool, &R::AddBool, OneIn(2));
      case FieldDescriptor::CPPTYPE_ENUM:
        return put(&R::SetEnumValue, &R::AddEnumValue, Below(6));
      case FieldDescriptor::CPPTYPE_INT32:
        return put(&R::SetInt32, &R::AddInt32, int32_t{Of(std::array{0, 1, -1, 7, 2147483647})});
      case FieldDescriptor::CPPTYPE_INT64:
        return put(&R::SetInt64, &R::AddInt64,
                   Of(std::array<int64_t, 5>{0, 1, -1, 1'000, INT64_MAX}));
      case FieldDescriptor::CPPTYPE_DOUBLE:
        return put(&R::SetDouble, &R::AddDouble, Number());
      case FieldDescriptor::CPPTYPE_FLOAT:
        return put(&R::SetFloat, &R::AddFloat, static_cast<float>(Below(3)));
      default:
        return;
    }
  }

  std::mt19937_64 random_;
  std::vector<PlayedCall> calls_;
  std::vector<int> sessions_;  // the calls that made them: one for each thread
  std::array<std::vector<int>, kThreads + 1> begun_;  // calls that begin transactions, by thread
  int last_begun_ = 0;
  std::vector<int> streams_;
  int64_t sequence_ = 0;
};

}  // namespace

const std::vector<std::string>& Schema() {
  static const std::vector<std::string> schema = {
      "CREATE TABLE t1 (k STRING(MAX) NOT NULL, n INT64, s STRING(MAX), ts TIMESTAMP OPTIONS "
      "(allow_commit_timestamp = true)) PRIMARY KEY (k)",
      "CREATE INDEX t1_by_n ON t1 (n)",
      "CREATE TABLE t2 (a INT64, b BYTES(MAX), f FLOAT64, v STRING(10)) PRIMARY KEY (a, b)",
      "CREATE TABLE t3 (d DATE, o BOOL, t TIMESTAMP, m NUMERIC, js JSON, words "
      "ARRAY<STRING(MAX)>, numbers ARRAY<INT64>, f32 FLOAT32) PRIMARY KEY (d, o, t)",
      "CREATE TABLE t4 (x BOOL, y INT64) PRIMARY KEY (x)",
  };
  return schema;
}

std::vector<PlayedCall> DrawRound(uint64_t seed, int calls) { return RoundMaker(seed).Make(calls); }

}  // namespace whorl::fuzz
