// Makes a certificate for a server on this machine, for one test.
#pragma once

#include <string>

namespace whorl {

struct TestCertificate {
  std::string certificate_pem;  // also the root that a client has to trust
  std::string private_key_pem;
};

// Signed by itself, for localhost and 127.0.0.1, valid for a day. Throws std::runtime_error.
TestCertificate MakeTestCertificate();

}  // namespace whorl
