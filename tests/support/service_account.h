// Makes a service account's key file, in gcloud's form.
#pragma once

#include <string>

namespace whorl {

// JSON text with a new RSA key, which no server knows. Throws std::runtime_error if OpenSSL fails.
std::string MakeServiceAccountKey();

}  // namespace whorl
