#include "real_client/version_client.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>
#include <vector>

#include "protocol/spanner/rpc.h"
#include "real_client/lock_table.h"
#include "real_client/query_loop.h"
#include "wire/requests.h"
#include "wire/results.h"

namespace whorl::real_client {
namespace {

namespace v1 = google::spanner::v1;

// How far back is read by default, and by how much less if Spanner no longer has that.
constexpr Duration kLongest = Seconds(3600);
constexpr Duration kLess = Seconds(60);

bool IsTableMissing(const Status& status) {
  const bool is_kind = status.code == Code::kInvalidArgument || status.code == Code::kNotFound;
  return is_kind && status.Says("able not found");
}

bool IsTooOld(const Status& status) {
  return status.code == Code::kFailedPrecondition && status.Says("staleness");
}

size_t KeyColumnOf(const ProtocolInfo& protocol) {
  return static_cast<size_t>(std::ranges::find_if(protocol.columns, &ColumnInfo::key) -
                             protocol.columns.begin());
}

// The row's key, if the column can have it.
std::optional<Value> KeyFrom(const std::string& text, const ColumnInfo& column) {
  if (column.type != Type::kInt64) return Value(text);
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return Value(number);
}

}  // namespace

// Used on the loop's thread only.
class VersionClient::Core final : public QueryLoop::Owner {
 public:
  Core(VersionOptions options, VersionObserver& observer)
      : options_(std::move(options)),
        observer_(observer),
        key_column_(KeyColumnOf(*options_.protocol)),
        loop_({.database = options_.database,
               .database_role = options_.database_role,
               .connection = options_.connection,
               .subject = "the table"},
              *this) {
    Begin(options_.from.value_or(options_.to - kLongest));
    loop_.Open();
  }

  void SendQueries() override {
    for (RowVersions::Read& read : versions_->TakeReads(options_.reads_at_once)) {
      Start(std::move(read));
    }
  }

  void OnLoopEnd(Status status) override { observer_.OnEnd(std::move(status)); }

 private:
  void Begin(Timestamp from) {
    from_ = from;
    ++beginning_;
    versions_.emplace(key_column_, from.TruncatedToMicros(), options_.to.TruncatedToMicros(),
                      options_.step);
  }

  ExecuteSql CallOf(const RowVersions::Read& read) const {
    const ColumnInfo& key_column = options_.protocol->columns[key_column_];
    std::string sql = "SELECT ";
    for (const ColumnInfo& column : options_.protocol->columns) {
      if (&column != &options_.protocol->columns.front()) sql += ", ";
      sql += column.name;
    }
    sql += " FROM " + options_.table;
    ExecuteSql call = {
        .transaction = SingleUseRead{
            .bound = {.kind = BoundKind::kReadTimestamp, .timestamp = read.at, .staleness = {}}}};
    std::optional<Value> key = read.key;
    if (!key && options_.key) key = KeyFrom(*options_.key, key_column);
    if (!key) {
      call.statement = {.sql = Sql::Intern(sql), .parameters = {}};
      return call;
    }
    sql += " WHERE " + std::string(key_column.name) + " = @key";
    call.statement = {.sql = Sql::Intern(sql, {{.name = "key", .type = key_column.type}}),
                      .parameters = {*std::move(key)}};
    return call;
  }

  void Start(RowVersions::Read read) {
    const auto decoder = std::make_shared<wire::PartialResultDecoder>();
    v1::ExecuteSqlRequest request = wire::Encode(CallOf(read));
    loop_.Start(
        std::move(request),
        [decoder](const v1::PartialResultSet& part) { return decoder->Add(part); },
        [this, decoder, read = std::move(read), beginning = beginning_](const Status& status) {
          if (beginning == beginning_) OnAnswer(read, *decoder, status);
        });
  }

  void OnAnswer(const RowVersions::Read& read, const wire::PartialResultDecoder& decoder,
                const Status& status) {
    if (IsTooOld(status)) return OnTooOld(status);
    if (IsTableMissing(status)) {
      missing_ = status;
      return Take(read.id, {});
    }
    Response response;
    wire::ResultShape shape;
    const Status read_status = status.ok() ? decoder.Finish(response, shape) : status;
    if (!read_status.ok()) {
      versions_->Break(read.id);
      return loop_.Fail(read_status);
    }
    was_there_ = true;
    Take(read.id, std::move(response.result.rows));
  }

  void Take(uint64_t read, std::vector<Row> rows) {
    loop_.Heard();
    versions_->Add(read, std::move(rows));
    const Timestamp before = versions_->reached();
    RowVersions::Found found = versions_->Take();
    const bool is_over = versions_->IsDone();
    if (is_over && !was_there_) {
      return loop_.End(Error(Code::kNotFound, std::string(missing_.message.view())));
    }
    if (versions_->reached() > before) observer_.OnVersions(std::move(found), versions_->reached());
    is_over ? loop_.End({}) : loop_.Send();
  }

  void OnTooOld(const Status& status) {
    const bool has_begun = versions_->reached() > Timestamp::Min();
    if (options_.from || has_begun || from_ + kLess >= options_.to) {
      return loop_.End(Error(Code::kOutOfRange, std::string(status.message.view())));
    }
    loop_.Heard();
    Begin(from_ + kLess);
    loop_.Send();
  }

  VersionOptions options_;
  VersionObserver& observer_;
  const size_t key_column_;
  Timestamp from_;
  int beginning_ = 0;  // reads of an earlier one do not count any more
  std::optional<RowVersions> versions_;
  bool was_there_ = false;  // the table, at some time
  Status missing_;          // what was said when it was not
  QueryLoop loop_;          // last: it calls this object until it is gone
};

VersionClient::VersionClient(std::unique_ptr<Core> core) : core_(std::move(core)) {}

VersionClient::~VersionClient() = default;

Status VersionClient::Open(VersionOptions options, VersionObserver& observer,
                           std::unique_ptr<VersionClient>& out) {
  DatabaseName name;
  Status status = ParseDatabaseName(options.database, name);
  if (options.table.empty()) options.table = options.protocol->table;
  if (status.ok()) status = ValidateTable(options.table);
  if (!status.ok()) return status;
  const ColumnInfo& key_column = options.protocol->columns[KeyColumnOf(*options.protocol)];
  if (options.key && !KeyFrom(*options.key, key_column)) {
    return Error(Code::kInvalidArgument, "rows of " + options.table +
                                             " have numbers as keys, not \"" + *options.key + "\"");
  }
  const Timestamp from = options.from.value_or(options.to - kLongest);
  if (options.step < Microseconds(1) ||
      from.TruncatedToMicros() >= options.to.TruncatedToMicros()) {
    return Error(Code::kInvalidArgument, "the time to be read has to be longer than nothing");
  }
  out.reset(new VersionClient(std::make_unique<Core>(std::move(options), observer)));
  return {};
}

}  // namespace whorl::real_client
