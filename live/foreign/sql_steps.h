// Recognises the steps of a protocol by the SQL of calls that another program sends.
//
// A protocol states its statements (ProtocolInfo::statements). A program that was not written here may
// put values into the text where the port uses parameters, and may write words in another case: so
// texts are compared after NormalizedSql.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/protocols.h"

namespace whorl::live {

// The words and signs of a statement, each followed by a space: words in lower case, without comments,
// quotes of identifiers and an INTO after INSERT, and `?` for every literal and parameter. The content
// of a statement that does not end where it should is kept as far as it goes.
std::string NormalizedSql(std::string_view sql);
// The contents of its string literals, as they are written.
std::vector<std::string> TextsIn(std::string_view sql);

class SqlSteps {
 public:
  SqlSteps(const ProtocolInfo& info, const std::string& table);
  // by_text_ refers to statements_, whose elements stay where they are when it moves.
  SqlSteps(SqlSteps&&) = default;
  SqlSteps& operator=(SqlSteps&&) = default;

  // The statement of the protocol that has this text; null if there is none. Of two steps with one
  // text it is that of the occasion.
  const StepStatement* Find(std::string_view sql, bool is_read_write, StepOccasion occasion) const;

  // Whether a statement of the step has this text, which is normalized already.
  bool Has(StepName step, const std::string& normalized, bool is_read_write) const;

 private:
  std::vector<StepStatement> statements_;
  std::multimap<std::string, const StepStatement*> by_text_;
};

}  // namespace whorl::live
