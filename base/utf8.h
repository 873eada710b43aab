// The encoding of Spanner's STRING.
#pragma once

#include <string_view>

namespace whorl {

// True if the text is well-formed (RFC 3629): no overlong forms, no surrogates.
bool IsUtf8(std::string_view text);

}  // namespace whorl
