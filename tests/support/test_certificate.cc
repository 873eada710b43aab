#include "tests/support/test_certificate.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <memory>
#include <stdexcept>

namespace whorl {
namespace {

struct Free {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(BIO* text) const { BIO_free(text); }
  void operator()(X509_EXTENSION* extension) const { X509_EXTENSION_free(extension); }
};
template <typename T>
using Owned = std::unique_ptr<T, Free>;

void Require(bool worked) {
  if (!worked) throw std::runtime_error("OpenSSL could not make a certificate");
}

void AddExtension(X509* certificate, int kind, const char* value) {
  const Owned<X509_EXTENSION> extension(X509V3_EXT_conf_nid(nullptr, nullptr, kind, value));
  Require(extension != nullptr && X509_add_ext(certificate, extension.get(), -1) == 1);
}

std::string TextOf(const Owned<BIO>& text) {
  char* data = nullptr;
  const auto size = BIO_get_mem_data(text.get(), &data);
  return {data, static_cast<size_t>(size)};
}

}  // namespace

TestCertificate MakeTestCertificate() {
  constexpr long kVersion3 = 2;     // NOLINT(google-runtime-int): OpenSSL's type
  constexpr long kDay = 24 * 3600;  // NOLINT(google-runtime-int)
  const Owned<EVP_PKEY> key(EVP_EC_gen("P-256"));
  const Owned<X509> certificate(X509_new());
  X509* made = certificate.get();
  Require(key != nullptr && made != nullptr && X509_set_version(made, kVersion3) == 1);
  ASN1_INTEGER_set(X509_get_serialNumber(made), 1);
  X509_gmtime_adj(X509_getm_notBefore(made), -kDay);
  X509_gmtime_adj(X509_getm_notAfter(made), kDay);
  X509_NAME* name = X509_get_subject_name(made);
  const std::string host = "localhost";
  Require(X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                                     reinterpret_cast<const unsigned char*>(host.c_str()), -1, -1,
                                     0) == 1);
  Require(X509_set_issuer_name(made, name) == 1 && X509_set_pubkey(made, key.get()) == 1);
  AddExtension(made, NID_basic_constraints, "critical,CA:TRUE");
  AddExtension(made, NID_subject_alt_name, "DNS:localhost,IP:127.0.0.1");
  Require(X509_sign(made, key.get(), EVP_sha256()) != 0);

  const Owned<BIO> certificate_text(BIO_new(BIO_s_mem()));
  const Owned<BIO> key_text(BIO_new(BIO_s_mem()));
  Require(PEM_write_bio_X509(certificate_text.get(), made) == 1);
  Require(PEM_write_bio_PrivateKey(key_text.get(), key.get(), nullptr, nullptr, 0, nullptr,
                                   nullptr) == 1);
  return {.certificate_pem = TextOf(certificate_text), .private_key_pem = TextOf(key_text)};
}

}  // namespace whorl
