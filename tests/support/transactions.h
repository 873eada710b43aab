// Makes transactions of tests, and runs them by a client until they are answered.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "protocol/client/transaction.h"
#include "real_client/transaction_client.h"
#include "tests/support/client_waits.h"

namespace whorl::test_transactions {

// A statement with one parameter, @name.
inline Statement Named(std::string_view sql, const std::string& name) {
  return {.sql = Sql::Intern(sql, {{.name = "name", .type = Type::kString}}), .parameters = {name}};
}
inline Transaction ReadWrite(std::vector<Statement> statements) {
  Transaction transaction = {.mode = Mode::kReadWrite};
  for (Statement& statement : statements) {
    transaction.statements.push_back({.statement = std::move(statement)});
  }
  return transaction;
}
inline Transaction Query(Statement statement) {
  return {.mode = Mode::kStrongRead, .statements = {{.statement = std::move(statement)}}};
}
inline Transaction Query(std::string_view sql) { return Query({.sql = Sql::Intern(sql)}); }

inline TransactionResult RunIn(real_client::TransactionClient& client, Transaction transaction) {
  Answered<TransactionResult> answered;
  client.Run(std::move(transaction), answered.Callback());
  return answered.Wait();
}
inline void ExpectCommitted(const TransactionResult& result) {
  EXPECT_EQ(result.outcome, Outcome::kCommitted) << FormatStatus(result.status);
}

}  // namespace whorl::test_transactions
