// What is known of a row, put together from changes that say only a part of it.
//
// The official emulator cuts times in change records to whole seconds, but for those that it shows as
// pending. Spanner does not. So a time of a whole second may be the one within it that was known before.
#pragma once

#include "check/operation.h"

namespace whorl::check {

// Whether what a record shows of a column may be the value that is known of it.
bool MayBe(const Value& shown, const Value& known);

// What `row` does not say, or says cut, becomes what was known of the row before.
void FillIn(KnownRow& row, const KnownRow& known);

}  // namespace whorl::check
