// Collects what is known of a row from changes that each record only a part of it.
//
// The official emulator cuts times in change records to whole seconds, except those that it shows as
// pending; Spanner does not. So a time of a whole second may be the known time within that second. A token is
// not taken for the known one if the row names another holder and a statement writes a token that it is given:
// all other tokens are shown as pending, so they are never cut when they change.
#pragma once

#include "check/operation.h"
#include "protocol/protocols.h"

namespace whorl::check {

// Whether what a record shows of a column may be the value that is known of it.
bool MayBe(const Value& shown, const Value& known);

// As the rules of protocols read rows: what is not known is NULL.
Row Whole(const KnownRow& columns);

// What `row` does not say, or says cut, becomes what was known of the row before.
void FillIn(KnownRow& row, const KnownRow& known, const ProtocolInfo& protocol);

// Whether both rows name a holder, and not the same one.
bool NamesAnother(const KnownRow& row, const KnownRow& known, const ProtocolInfo& protocol);

// Whether a token that is shown so may be another one than `known`, within the same second.
bool MayBeAnotherToken(const Value& shown, const Value& known, const ProtocolInfo& protocol);

}  // namespace whorl::check
