// A certificate for 127.0.0.1 and localhost that nobody but a test trusts, and its key.
#pragma once

#include <string>

namespace whorl {

struct SelfSigned {
  std::string certificate_pem;
  std::string private_key_pem;  // RSA, PKCS #8
};
// New at each call, and good for a day. Throws std::runtime_error when OpenSSL fails.
SelfSigned MakeSelfSigned();

}  // namespace whorl
