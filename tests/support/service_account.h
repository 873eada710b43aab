// The JSON text of a service account's key file, as gcloud writes it.
#pragma once

#include <string>

namespace whorl {

inline std::string ServiceAccountKey(std::string private_key_pem) {
  for (size_t at = 0; (at = private_key_pem.find('\n', at)) != std::string::npos; at += 2) {
    private_key_pem.replace(at, 1, "\\n");
  }
  return R"({"type": "service_account", "private_key_id": "1", "client_id": "2", )"
         R"("client_email": "someone@example.com", "private_key": ")" +
         private_key_pem + "\"}";
}

}  // namespace whorl
