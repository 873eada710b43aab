// TLS, bearer tokens and the interface on which the server listens.
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>

#include "tests/spanner_model/server/testing.h"
#include "tests/support/test_certificate.h"

namespace whorl::server::security_test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class ServerSecurityTest : public testing::Test {
 protected:
  std::unique_ptr<Server> StartWithTls(const std::string& token) const {
    ServerOptions options = TestOptions();
    options.tls = TlsOptions{.certificate_chain_pem = certificate_.certificate_pem,
                             .private_key_pem = certificate_.private_key_pem};
    options.bearer_token = token;
    return StartOrThrow(std::move(options));
  }
  // The status of CreateSession for a client that trusts `roots` and sends `token` (unless empty).
  static grpc::Status OpenSession(const Server& server, const std::string& roots,
                                  const std::string& token) {
    auto credentials = grpc::SslCredentials({.pem_root_certs = roots});
    if (!token.empty()) {
      credentials =
          grpc::CompositeChannelCredentials(credentials, grpc::AccessTokenCredentials(token));
    }
    RawSpanner raw(grpc::CreateChannel(server.address(), credentials));
    return raw.CreateSession(TestDatabase()).status;
  }

  const TestCertificate certificate_ = MakeTestCertificate();
};

TEST_F(ServerSecurityTest, ServesOverTls) {
  const auto server = StartWithTls("");
  const grpc::Status status = OpenSession(*server, certificate_.certificate_pem, "");
  EXPECT_TRUE(status.ok()) << status.error_message();
}

TEST_F(ServerSecurityTest, ClientThatDoesNotTrustTheCertificateDoesNotConnect) {
  const auto server = StartWithTls("");
  const grpc::Status status = OpenSession(*server, MakeTestCertificate().certificate_pem, "");
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE) << status.error_message();
}

TEST_F(ServerSecurityTest, PlaintextDoesNotGetThroughToATlsPort) {
  const auto server = StartWithTls("");
  RawSpanner raw(grpc::CreateChannel(server->address(), grpc::InsecureChannelCredentials()));
  EXPECT_EQ(raw.CreateSession(TestDatabase()).status.error_code(), grpc::StatusCode::UNAVAILABLE);
}

TEST_F(ServerSecurityTest, AsksForTheToken) {
  const auto server = StartWithTls("secret");
  const std::string& roots = certificate_.certificate_pem;
  const grpc::Status status = OpenSession(*server, roots, "secret");
  EXPECT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(OpenSession(*server, roots, "wrong").error_code(), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(OpenSession(*server, roots, "secret and more").error_code(),
            grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(OpenSession(*server, roots, "").error_code(), grpc::StatusCode::UNAUTHENTICATED);
}

TEST_F(ServerSecurityTest, BadKeyIsAnErrorAtTheStart) {
  ServerOptions options = TestOptions();
  options.tls = TlsOptions{.certificate_chain_pem = certificate_.certificate_pem,
                           .private_key_pem = MakeTestCertificate().private_key_pem};
  EXPECT_FALSE(Server::Start(std::move(options)).ok());
}

// By default, other machines must not reach the server.
TEST_F(ServerSecurityTest, ListensOnTheLoopbackInterfaceByDefault) {
  const auto server = StartOrThrow(TestOptions());
  EXPECT_THAT(server->address(), StartsWith("127.0.0.1:"));
}

TEST_F(ServerSecurityTest, RefusesRequestsThatAreTooLarge) {
  ServerOptions options = TestOptions();
  options.max_request_bytes = 1 << 16;
  const auto server = StartOrThrow(std::move(options));
  TestClient client(*server);
  const Response response =
      client.Call(Commit{.session = client.OpenSession(),
                         .transaction = SingleUseWrite{},
                         .mutations = {PutRow(std::string(1 << 17, 'x'), 1)}});
  EXPECT_EQ(response.status.code, Code::kResourceExhausted);
  EXPECT_THAT(response.status.message, HasSubstr("larger than max"));
}

}  // namespace
}  // namespace whorl::server::security_test
