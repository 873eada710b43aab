#include "tests/support/self_signed.h"

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <memory>
#include <stdexcept>

namespace whorl {
namespace {

template <auto kFree>
struct Freed {
  template <typename T>
  void operator()(T* object) const {
    kFree(object);
  }
};
using Key = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Freed<X509_free>>;
using Extension = std::unique_ptr<X509_EXTENSION, Freed<X509_EXTENSION_free>>;
using Memory = std::unique_ptr<BIO, Freed<BIO_free>>;

void Want(bool done, const char* what) {
  if (!done) throw std::runtime_error(std::string("OpenSSL could not ") + what);
}

std::string TextOf(const Memory& memory) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(memory.get(), &data);
  return {data, static_cast<size_t>(size)};
}

void AddExtension(X509& certificate, int id, const char* value) {
  const Extension extension(X509V3_EXT_conf_nid(nullptr, nullptr, id, value));
  Want(extension != nullptr, "make an extension");
  Want(X509_add_ext(&certificate, extension.get(), -1) == 1, "add an extension");
}

Certificate MakeCertificate(EVP_PKEY& key) {
  constexpr long kDaySeconds = 24L * 3600;
  Certificate certificate(X509_new());
  Want(certificate != nullptr, "make a certificate");
  X509_set_version(certificate.get(), 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -kDaySeconds);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), kDaySeconds);
  X509_set_pubkey(certificate.get(), &key);
  X509_NAME* name = X509_get_subject_name(certificate.get());
  const std::string subject = "whorl test";
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(subject.c_str()), -1, -1, 0);
  X509_set_issuer_name(certificate.get(), name);
  AddExtension(*certificate, NID_subject_alt_name, "IP:127.0.0.1,DNS:localhost");
  AddExtension(*certificate, NID_basic_constraints, "critical,CA:TRUE");
  Want(X509_sign(certificate.get(), &key, EVP_sha256()) > 0, "sign");
  return certificate;
}

}  // namespace

SelfSigned MakeSelfSigned() {
  constexpr unsigned int kBits = 2048;
  const Key key(EVP_RSA_gen(kBits));
  Want(key != nullptr, "make a key");
  const Certificate certificate = MakeCertificate(*key);
  const Memory key_text(BIO_new(BIO_s_mem()));
  const Memory certificate_text(BIO_new(BIO_s_mem()));
  Want(PEM_write_bio_PKCS8PrivateKey(key_text.get(), key.get(), nullptr, nullptr, 0, nullptr,
                                     nullptr) == 1,
       "write a key");
  Want(PEM_write_bio_X509(certificate_text.get(), certificate.get()) == 1, "write a certificate");
  return {.certificate_pem = TextOf(certificate_text), .private_key_pem = TextOf(key_text)};
}

}  // namespace whorl
