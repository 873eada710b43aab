#include "tests/differential/compare.h"

#include <absl/strings/match.h>
#include <absl/strings/str_format.h>

#include <algorithm>

namespace whorl::differential {
namespace {

// "declared parameters": the emulator lists those, too.
std::vector<std::string> WithoutDeclared(std::vector<std::string> undeclared, const Call* call) {
  if (call == nullptr) return undeclared;
  for (const Input& input : call->inputs) {
    const auto is_it = [&](const std::string& field) {
      return input.declared && field.starts_with(input.name + " ");
    };
    undeclared.erase(std::remove_if(undeclared.begin(), undeclared.end(), is_it), undeclared.end());
  }
  return undeclared;
}

std::string FindDifference(bool ordered, const Call* call, ResultAnswer model,
                           ResultAnswer emulator) {
  if (!ordered) {
    std::sort(model.rows.begin(), model.rows.end());
    std::sort(emulator.rows.begin(), emulator.rows.end());
  }
  if (model.columns != emulator.columns) return "columns";
  if (model.undeclared != WithoutDeclared(emulator.undeclared, call))
    return "undeclared parameters";
  if (model.count != emulator.count) return "count of changed rows";
  if (model.rows != emulator.rows) return "rows";
  return "";
}

using grpc::StatusCode;

bool Says(const Answer& answer, StatusCode code, std::string_view text) {
  return answer.code == code && answer.message.find(text) != std::string::npos;
}

// Whether an update of a table follows a replace in the same table.
bool ReplacesThenUpdates(const std::vector<Mutation>& mutations) {
  for (auto one = mutations.begin(); one != mutations.end(); ++one) {
    if (one->kind != MutationKind::kReplace) continue;
    if (std::any_of(one, mutations.end(), [&](const Mutation& later) {
          return later.kind == MutationKind::kUpdate &&
                 absl::EqualsIgnoreCase(later.table, one->table);
        })) {
      return true;
    }
  }
  return false;
}

bool IsTooFarInThePast(const Operation& operation, const Answer& model, const Answer& emulator) {
  const bool reads_none = operation.kind == OperationKind::kExecute &&
                          operation.calls.at(0).sql.find(" FROM ") == std::string::npos;
  return (reads_none || operation.kind == OperationKind::kBegin ||
          emulator.code != StatusCode::OK) &&
         Says(model, StatusCode::FAILED_PRECONDITION, "maximum timestamp staleness");
}

bool TellsOfTheFirstRow(const Operation& operation, const Answer& model, const Answer& emulator) {
  return operation.kind == OperationKind::kCommit && model.code == StatusCode::ABORTED &&
         (Says(emulator, StatusCode::FAILED_PRECONDITION, "exceeds the maximum size limit") ||
          Says(emulator, StatusCode::FAILED_PRECONDITION, "timestamps in the future") ||
          Says(emulator, StatusCode::FAILED_PRECONDITION, "a non-null value") ||
          Says(emulator, StatusCode::FAILED_PRECONDITION, "a null value"));
}

bool TellsOfADeletedRow(const Operation& operation, const Answer& model, const Answer& emulator) {
  return operation.kind == OperationKind::kCommit && model.code != StatusCode::OK &&
         Says(emulator, StatusCode::INVALID_ARGUMENT, "was deleted and then updated");
}

// Whether the call's transaction ends with it, however it ends.
bool IsSingleUse(const Operation& operation) {
  return operation.transaction.kind == SelectorKind::kSingleUse;
}

constexpr KnownDifference kKnown[] = {
    {"crashes of the emulator", "some calls end it, or are never answered",
     [](const Operation&, const Answer&, const Answer& emulator) {
       return emulator.code == StatusCode::UNAVAILABLE ||
              emulator.code == StatusCode::DEADLINE_EXCEEDED;
     },
     Afterwards::kNotTheSame},
    {"older id of a session",
     "the emulator closes it at any later begin, and forgets it if that was inlined",
     [](const Operation& operation, const Answer&, const Answer& emulator) {
       return operation.transaction.kind == SelectorKind::kOf &&
              (Says(emulator, StatusCode::NOT_FOUND, "Transaction not found") ||
               Says(emulator, StatusCode::FAILED_PRECONDITION, "Invalid transaction ID"));
     },
     Afterwards::kNotTheSame},
    {"time too far in the past",
     "the emulator refuses to read a table then, and not to read none, and tells of other errors "
     "first",
     [](const Operation& operation, const Answer& model, const Answer& emulator) {
       return IsSingleUse(operation) && IsTooFarInThePast(operation, model, emulator);
     }},
    {"time too far in the past", "nor to begin a transaction", &IsTooFarInThePast,
     Afterwards::kNotTheSame},
    {"reads older than the schema", "the model has one schema, the emulator one for each time",
     [](const Operation& operation, const Answer& model, const Answer& emulator) {
       const Selector& selector = operation.transaction;
       return model.code == StatusCode::OK &&
              (selector.kind == SelectorKind::kOf || selector.bound.kind != BoundKind::kStrong) &&
              (Says(emulator, StatusCode::INVALID_ARGUMENT, "Table not found") ||
               Says(emulator, StatusCode::NOT_FOUND, "Table not found"));
     },
     Afterwards::kNotTheSame},
    {"batch outside of a read-write transaction",
     "the emulator tells of it in the batch's status, also as an internal error",
     [](const Operation& operation, const Answer& model, const Answer& emulator) {
       return operation.kind == OperationKind::kBatch &&
              Says(model, StatusCode::INVALID_ARGUMENT, "DML statements can only") &&
              emulator.code == StatusCode::OK && emulator.results.empty() &&
              emulator.batch_code != StatusCode::OK;
     }},
    {"values that cannot be read", "the model tells of them before any other error",
     [](const Operation&, const Answer& model, const Answer& emulator) {
       return emulator.code != StatusCode::OK &&
              (Says(model, StatusCode::INVALID_ARGUMENT, "Invalid value for bind parameter") ||
               Says(model, StatusCode::FAILED_PRECONDITION, "Could not parse"));
     }},
    {"first row of a Commit", "the emulator tells what is wrong with it before it takes its lock",
     [](const Operation& operation, const Answer& model, const Answer& emulator) {
       return IsSingleUse(operation) && TellsOfTheFirstRow(operation, model, emulator);
     }},
    {"first row of a Commit", "and then the transaction goes on, or repeats the error",
     &TellsOfTheFirstRow, Afterwards::kNotTheSame},
    {"THEN RETURN of a column that was pending",
     "the emulator refuses it where the statement writes another value",
     [](const Operation& operation, const Answer& model, const Answer& emulator) {
       const bool returns = std::any_of(
           operation.calls.begin(), operation.calls.end(),
           [](const Call& call) { return call.sql.find(" THEN RETURN ") != std::string::npos; });
       return returns && model.code != StatusCode::INVALID_ARGUMENT &&
              (emulator.code == StatusCode::INVALID_ARGUMENT ||
               emulator.batch_code == StatusCode::INVALID_ARGUMENT) &&
              emulator.message.find("has a pending CommitTimestamp") != std::string::npos;
     },
     Afterwards::kNotTheSame},
    {"pending columns and subqueries", "the emulator reads all columns of a subquery's table",
     [](const Operation& operation, const Answer&, const Answer& emulator) {
       const bool has_subquery = std::any_of(
           operation.calls.begin(), operation.calls.end(),
           [](const Call& call) { return call.sql.find("(SELECT ") != std::string::npos; });
       return has_subquery &&
              (emulator.code == StatusCode::INVALID_ARGUMENT ||
               emulator.batch_code == StatusCode::INVALID_ARGUMENT) &&
              emulator.message.find("has a pending CommitTimestamp") != std::string::npos;
     },
     Afterwards::kNotTheSame},
    {"values that cannot be read",
     "the emulator tells of them in the batch's status, after the statements before",
     [](const Operation& operation, const Answer& model, const Answer& emulator) {
       return operation.kind == OperationKind::kBatch && emulator.batch_code == model.code &&
              emulator.message.find("Could not parse") != std::string::npos;
     },
     Afterwards::kNotTheSame},
    {"end that was refused", "the emulator repeats its error to later calls of the transaction",
     [](const Operation& operation, const Answer&, const Answer& emulator) {
       const bool commits = operation.kind == OperationKind::kCommit;
       const bool rolls_back = operation.kind == OperationKind::kRollback;
       return operation.transaction.kind == SelectorKind::kOf &&
              ((!commits && !rolls_back &&
                Says(emulator, StatusCode::FAILED_PRECONDITION, "Cannot commit or rollback")) ||
               (!rolls_back &&
                Says(emulator, StatusCode::FAILED_PRECONDITION, "Cannot rollback a transaction")) ||
               (!commits &&
                Says(emulator, StatusCode::FAILED_PRECONDITION, "Cannot commit a transaction")));
     }},
    {"ABORTED and rolled back", "the emulator then tells of the Rollback, the model of the ABORTED",
     [](const Operation& operation, const Answer& model, const Answer& emulator) {
       return operation.transaction.kind == SelectorKind::kOf &&
              model.code == StatusCode::ABORTED &&
              (Says(emulator, StatusCode::FAILED_PRECONDITION, "committed or rolledback") ||
               Says(emulator, StatusCode::FAILED_PRECONDITION, "after it has been rolled back"));
     }},
    {"sequence numbers of a transaction that is over or doomed",
     "the emulator looks at them first, and remembers those of statements that came too late",
     [](const Operation& operation, const Answer& model, const Answer& emulator) {
       return operation.transaction.kind == SelectorKind::kOf && model.code != StatusCode::OK &&
              (emulator.repeats || Says(emulator, StatusCode::INVALID_ARGUMENT, "seqno"));
     },
     Afterwards::kNotTheSame},
    {"failure that is repeated after the end", "the emulator tells later calls of it, too",
     [](const Operation&, const Answer&, const Answer& emulator) {
       return emulator.repeats && emulator.after_end && emulator.code != StatusCode::OK;
     },
     Afterwards::kNotTheSame, Shows::kLater},
    {"schema change while a transaction holds the lock",
     "the emulator refuses it, Spanner carries it out",
     [](const Operation& operation, const Answer& model, const Answer& emulator) {
       return operation.kind == OperationKind::kDdl && model.code == StatusCode::OK &&
              Says(emulator, StatusCode::FAILED_PRECONDITION, "Schema change operation rejected");
     },
     Afterwards::kNotTheSame},
    {"ranges of keys to delete", "the emulator takes ends that differ in their last part only",
     [](const Operation& operation, const Answer& model, const Answer& emulator) {
       return operation.kind == OperationKind::kCommit && model.code != emulator.code &&
              Says(emulator, StatusCode::UNIMPLEMENTED, "For delete ranges");
     },
     Afterwards::kNotTheSame},
    {"rows deleted and then updated by one commit",
     "the emulator tells of that before anything else",
     [](const Operation& operation, const Answer& model, const Answer& emulator) {
       return IsSingleUse(operation) && TellsOfADeletedRow(operation, model, emulator);
     }},
    {"rows deleted and then updated by one commit",
     "and then the transaction goes on, or repeats the error", &TellsOfADeletedRow,
     Afterwards::kNotTheSame},
    {"rows deleted, replaced and then updated by one commit",
     "the emulator forgets that there is a row again",
     [](const Operation& operation, const Answer& model, const Answer& emulator) {
       return operation.kind == OperationKind::kCommit && model.code == StatusCode::OK &&
              ReplacesThenUpdates(operation.mutations) &&
              Says(emulator, StatusCode::INVALID_ARGUMENT, "was deleted and then updated");
     },
     Afterwards::kNotTheSame},
    {"long lines in messages",
     "the emulator cuts them, also within a character, and then has no valid answer to a batch",
     [](const Operation& operation, const Answer& model, const Answer& emulator) {
       return operation.kind == OperationKind::kBatch && model.code == StatusCode::OK &&
              model.batch_code != StatusCode::OK &&
              Says(emulator, StatusCode::UNIMPLEMENTED, "No message returned for unary request");
     },
     Afterwards::kNotTheSame},
    {"declared parameters", "the emulator tells their types as if they had not been"},
    {"multiplexed sessions", "the emulator has none"},
    {"deleted session", "the emulator keeps the lock of its open transaction for ever"},
    {"unknown transaction id", "the emulator then refuses the session's later transactions"},
    {"computing with a pending timestamp", "the emulator allows it, documentation forbids it"},
    {"returning a pending timestamp", "the emulator returns 0001-01-01T00:00:00Z"},
    {"columns that INSERT OR UPDATE does not list", "they become NULL in the emulator"},
    {"THEN RETURN of INSERT OR IGNORE", "the emulator returns other rows than it inserted"},
    {"nanoseconds of TIMESTAMP_ADD and TIMESTAMP_SUB", "the emulator cuts them off"},
    {"rows of a repeated streaming statement", "the emulator leaves out what THEN RETURN returned",
     [](const Operation& operation, const Answer& model, const Answer& emulator) {
       return operation.kind == OperationKind::kExecute && operation.streamed &&
              emulator.number_is_old && model.results.size() == 1 && emulator.results.size() == 1 &&
              emulator.results[0].rows.empty() &&
              model.results[0].count == emulator.results[0].count &&
              model.results[0].columns == emulator.results[0].columns;
     }},
    {"inlined begin whose statement fails",
     "in a batch or by an evaluation; the emulator begins a transaction that no client can end",
     [](const Operation& operation, const Answer&, const Answer& emulator) {
       const bool batch = emulator.results.empty() && emulator.batch_code != StatusCode::OK;
       return operation.transaction.kind == SelectorKind::kBeginReadWrite &&
              (batch || emulator.code == StatusCode::OUT_OF_RANGE ||
               Says(emulator, StatusCode::INVALID_ARGUMENT, "affect a row second time"));
     },
     Afterwards::kTransactionLeft, Shows::kLater},
    {"nanoseconds of TIMESTAMP_DIFF, MIN and MAX", "the emulator drops them"},
    {"ranges of keys that are empty by their ends",
     "the emulator finds NULL in them, and a Commit that wrote rows deletes others"},
    {"values that cannot be read", "those of a mutation doom its transaction in the emulator"},
    {"UPDATE of a key column where no row matches", "the emulator finds nothing wrong"},
    {"errors in THEN RETURN of a row that cannot be inserted", "the emulator tells of these first"},
    {"constants compared with a column", "the emulator evaluates them where there is no row"},
    {"errors of rows that the key rules out", "the emulator evaluates WHERE for every row"},
};

}  // namespace

std::string FindDifference(const Operation& operation, const std::optional<Answer>& model,
                           const std::optional<Answer>& emulator) {
  if (model.has_value() != emulator.has_value()) return "whether there is such a transaction";
  if (!model) return "";
  if (model->code != emulator->code) return "code";
  if (model->batch_code != emulator->batch_code) return "code in the batch";
  if (model->began != emulator->began) return "whether a transaction began";
  if (model->commit != emulator->commit) return "which commit it is";
  if (model->place_of_commit != emulator->place_of_commit) return "order of the commit timestamp";
  if (model->place_of_read != emulator->place_of_read) return "order of the read timestamp";
  if (model->results.size() != emulator->results.size()) return "number of results";
  for (size_t i = 0; i < model->results.size(); ++i) {
    const Call* call = i < operation.calls.size() ? &operation.calls[i] : nullptr;
    std::string difference =
        FindDifference(operation.ordered, call, model->results[i], emulator->results[i]);
    if (!difference.empty()) return difference;
  }
  return "";
}

const KnownDifference* Explain(const Operation& operation, const std::optional<Answer>& model,
                               const std::optional<Answer>& emulator, Shows shows) {
  if (!model || !emulator) return nullptr;
  for (const KnownDifference& known : kKnown) {
    if (known.explains != nullptr && (shows == Shows::kNow || known.shows == Shows::kLater) &&
        known.explains(operation, *model, *emulator))
      return &known;
  }
  return nullptr;
}

std::set<std::string> NamesOfKnownDifferences() {
  std::set<std::string> names;
  for (const KnownDifference& known : kKnown) names.insert(known.name);
  return names;
}

std::string DescribeKnownDifferences() {
  std::string text = "known differences that are not drawn:\n";
  for (const KnownDifference& known : kKnown) {
    if (known.explains == nullptr) {
      text += absl::StrFormat("  %s: %s\n", known.name, known.reason);
    }
  }
  return text;
}

void Tally::AddSequence(int most_open, int operations, int statements) {
  ++sequences_;
  if (most_open >= 2) ++interleaved_;
  operations_ += operations;
  statements_ += statements;
  fewest_statements_ = std::min(fewest_statements_, statements);
}

void Tally::AddAnswer(const Operation& operation, const std::optional<Answer>& emulator) {
  if (!emulator) {
    ++left_out_;
    return;
  }
  if (emulator->code == StatusCode::UNAVAILABLE ||
      emulator->code == StatusCode::DEADLINE_EXCEEDED) {
    deaths_ += differential::Describe(operation) + "\n" + emulator->message + "\n";
  }
  ++answers_.at(static_cast<size_t>(operation.kind))[emulator->code];
  if (emulator->batch_code != grpc::StatusCode::OK) ++statements_failed_in_batches_;
  for (const ResultAnswer& result : emulator->results) {
    rows_ += static_cast<int>(result.rows.size());
  }
}

double Tally::percent_whole() const {
  int all = sequences_ + too_short_;
  for (const auto& [name, count] : cut_short_) all += count;
  return 100.0 * sequences_ / std::max(all, 1);
}

std::string Tally::Describe() const {
  std::string text = absl::StrFormat(
      "%d whole sequences, %d operations, %d statements of SQL, at least %d a sequence; in %.1f %% "
      "of the sequences two transactions or more were open at a time\n%d operations left out, "
      "since "
      "they name what was not begun; %d rows; %d batches ended in an error\n",
      sequences_, operations_, statements_, fewest_statements_, percent_interleaved(), left_out_,
      rows_, statements_failed_in_batches_);
  for (int kind = 0; kind < kOperationKinds; ++kind) {
    text += absl::StrFormat("  %-16s", KindName(static_cast<OperationKind>(kind)));
    for (const auto& [code, count] : answers_[static_cast<size_t>(kind)]) {
      text += " " + std::string(WordOf(static_cast<Code>(code))) + " " + std::to_string(count);
    }
    text += "\n";
  }
  int cut_short = 0;
  for (const auto& [name, count] : cut_short_) cut_short += count;
  text += absl::StrFormat(
      "%d more sequences were cut short by a known difference, %d had too few statements: %.1f %% "
      "were whole\n",
      cut_short, too_short_, percent_whole());
  text += "known differences met (and sequences cut short by them):";
  if (known_.empty()) text += " none";
  for (const auto& [name, count] : known_) {
    const auto cut = cut_short_.find(name);
    text +=
        absl::StrFormat("\n  %s: %d (%d)", name, count, cut == cut_short_.end() ? 0 : cut->second);
  }
  if (!deaths_.empty()) text += "\nthe emulator did not live to answer:\n" + deaths_;
  return text + "\n" + DescribeKnownDifferences();
}

}  // namespace whorl::differential
