#include "tests/support/service_account.h"

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

#include <memory>
#include <stdexcept>

namespace whorl {
namespace {

// A key in PEM, with its line ends escaped as in JSON.
std::string MakeRsaKey() {
  constexpr unsigned int kBits = 2048;
  const std::unique_ptr<EVP_PKEY, void (*)(EVP_PKEY*)> key(EVP_RSA_gen(kBits), EVP_PKEY_free);
  const std::unique_ptr<BIO, int (*)(BIO*)> memory(BIO_new(BIO_s_mem()), BIO_free);
  if (key == nullptr || memory == nullptr ||
      PEM_write_bio_PKCS8PrivateKey(memory.get(), key.get(), nullptr, nullptr, 0, nullptr,
                                    nullptr) != 1) {
    throw std::runtime_error("OpenSSL could not make a key");
  }
  char* data = nullptr;
  const long size = BIO_get_mem_data(memory.get(), &data);
  std::string text(data, static_cast<size_t>(size));
  for (size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += 2) {
    text.replace(at, 1, "\\n");
  }
  return text;
}

}  // namespace

std::string MakeServiceAccountKey() {
  return R"({"type": "service_account", "private_key_id": "1", "client_id": "2", )"
         R"("client_email": "someone@example.com", "private_key": ")" +
         MakeRsaKey() + "\"}";
}

}  // namespace whorl
