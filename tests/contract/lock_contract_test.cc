// The contract of a lock (contract/README.md), on every backend.
#include "tests/contract/lock_contract.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "real_client/os.h"
#include "tests/contract/real_processes.h"
#include "tests/contract/simulated_processes.h"
#include "tests/support/lock_database.h"
#include "tests/support/proxied_database.h"

namespace whorl::lock_contract_test {
namespace {

// Creates a backend for a protocol. If it is not available, returns null and `why` names what is
// missing.
struct Maker {
  std::string name;
  std::unique_ptr<LockBackend> (*make)(const ProtocolInfo& info, std::string& why);
};

using real_client::ClientKind;

std::unique_ptr<LockBackend> OnTheModel(const ProtocolInfo& info, std::string&) {
  return SimulateProcesses(info);
}

template <ClientKind kClient>
std::unique_ptr<LockBackend> OnTheServer(const ProtocolInfo& info, std::string&) {
  return StartProcesses(info, ServeModel(info.name), kClient, "");
}

template <ClientKind kClient>
std::unique_ptr<LockBackend> OnTheEmulator(const ProtocolInfo& info, std::string& why) {
  std::unique_ptr<LockDatabase> emulator = StartEmulator(info.name);
  why = kNoEmulator;
  if (emulator == nullptr) return nullptr;
  return StartProcesses(info, BehindProxy(std::move(emulator)), kClient, "");
}

// A real database, if the environment names one.
const char* NamedDatabase() { return std::getenv("WHORL_DATABASE"); }

template <ClientKind kClient>
std::unique_ptr<LockBackend> OnADatabase(const ProtocolInfo& info, std::string&) {
  return StartProcesses(info, NameDatabase(NamedDatabase()), kClient,
                        "-" + std::to_string(real_client::MonotonicNow().ns));
}

std::vector<Maker> Makers() {
  std::vector<Maker> makers = {
      {"Model", OnTheModel},
      {"Server", OnTheServer<ClientKind::kGrpc>},
      {"Emulator", OnTheEmulator<ClientKind::kGrpc>},
  };
  if (NamedDatabase() != nullptr) makers.push_back({"Database", OnADatabase<ClientKind::kGrpc>});
  for (const ClientKind kind : real_client::BuiltClients()) {
    if (kind != ClientKind::kGoogleCloudCpp) continue;
    makers.push_back({"ServerByGoogleCloudCpp", OnTheServer<ClientKind::kGoogleCloudCpp>});
    makers.push_back({"EmulatorByGoogleCloudCpp", OnTheEmulator<ClientKind::kGoogleCloudCpp>});
    if (NamedDatabase() == nullptr) continue;
    makers.push_back({"DatabaseByGoogleCloudCpp", OnADatabase<ClientKind::kGoogleCloudCpp>});
  }
  return makers;
}

class LockContractTest : public testing::Test {
 public:
  LockContractTest(const Maker& maker, const ProtocolInfo& info, const ContractCase& story)
      : maker_(maker), info_(info), story_(story) {}
  void TestBody() override {
    std::string why;
    const std::unique_ptr<LockBackend> backend = maker_.make(info_, why);
    if (backend == nullptr) GTEST_SKIP() << why;
    story_.run(info_, *backend);
  }

 private:
  const Maker maker_;
  const ProtocolInfo& info_;
  const ContractCase story_;
};

// LockContract_<backend>_<protocol>.<story>
const bool registered = [] {
  for (const Maker& maker : Makers()) {
    for (const ProtocolInfo& info : Protocols()) {
      for (const ContractCase& story : ContractCases()) {
        if (!story.fits(info)) continue;
        const std::string suite = "LockContract_" + maker.name + "_" + std::string(info.name);
        testing::RegisterTest(
            suite.c_str(), std::string(story.name).c_str(), nullptr, nullptr, __FILE__, __LINE__,
            [=, &info]() -> testing::Test* { return new LockContractTest(maker, info, story); });
      }
    }
  }
  return true;
}();

}  // namespace
}  // namespace whorl::lock_contract_test
