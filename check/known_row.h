// What is known of a row, put together from changes that say only a part of it.
//
// The official emulator cuts times in change records to whole seconds, but for those that it shows as
// pending. Spanner does not. So a time of a whole second may be the one within it that was known before.
// A token is not, if the row names another holder and a statement writes the token that it is given: others
// are shown as pending, and so are never cut when they change.
#pragma once

#include "check/operation.h"
#include "protocol/protocols.h"

namespace whorl::check {

// Whether what a record shows of a column may be the value that is known of it.
bool MayBe(const Value& shown, const Value& known);

// What `row` does not say, or says cut, becomes what was known of the row before.
void FillIn(KnownRow& row, const KnownRow& known, const ProtocolInfo& protocol);

// Whether a statement of the protocol writes a token that it is given.
bool WritesGivenTokens(const ProtocolInfo& protocol);

// Whether both rows name a holder, and not the same one, and the protocol writes given tokens.
bool NamesAnother(const KnownRow& row, const KnownRow& known, const ProtocolInfo& protocol);

// Whether `shown` may be `known`, cut to whole seconds, or another time within that second.
bool IsCut(const Value& shown, const Value& known);

}  // namespace whorl::check
