// A service account's key file, as gcloud writes it.
#pragma once

#include <string>

namespace whorl {

// JSON text with a new RSA key, which no server knows. Throws std::runtime_error when OpenSSL
// fails.
std::string MakeServiceAccountKey();

}  // namespace whorl
