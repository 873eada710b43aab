// The contract of a lock (contract/README.md), on every backend.
#include "tests/contract/lock_contract.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "real_client/linked_clients.h"
#include "real_client/os.h"
#include "tests/contract/real_processes.h"
#include "tests/contract/simulated_processes.h"
#include "tests/support/lock_database.h"

namespace whorl::lock_contract_test {
namespace {

// Creates a backend for a protocol. If it is not available, returns null and `why` names what is
// missing.
struct Maker {
  using Make =
      std::function<std::unique_ptr<LockBackend>(const ProtocolInfo& info, std::string& why)>;
  std::string name;
  Make make;
};

std::unique_ptr<LockBackend> OnTheModel(const ProtocolInfo& info, std::string&) {
  return SimulateProcesses(info);
}

// `client` is the name of a client library in linked_clients.h.
Maker::Make OnTheServer(std::string client) {
  return [client = std::move(client)](const ProtocolInfo& info, std::string&) {
    return StartProcesses(info, BehindProxy(ServeModel(info.name)), client, "");
  };
}

Maker::Make OnTheEmulator(std::string client) {
  return [client = std::move(client)](const ProtocolInfo& info,
                                      std::string& why) -> std::unique_ptr<LockBackend> {
    std::unique_ptr<LockDatabase> emulator = StartEmulator(info.name);
    why = kNoEmulator;
    if (emulator == nullptr) return nullptr;
    return StartProcesses(info, BehindProxy(std::move(emulator)), client, "");
  };
}

// A real database, if the environment names one.
const char* NamedDatabase() { return std::getenv("WHORL_DATABASE"); }

Maker::Make OnADatabase(std::string client) {
  return [client = std::move(client)](const ProtocolInfo& info, std::string&) {
    return StartProcesses(info, NameDatabase(NamedDatabase()), client,
                          "-" + std::to_string(real_client::MonotonicNow().ns));
  };
}

std::vector<Maker> Makers() {
  std::vector<Maker> makers = {{"Model", OnTheModel}};
  for (const real_client::NamedClient& linked : real_client::LinkedClients()) {
    const std::string client(linked.name);
    const std::string by = client == real_client::kGrpcName ? "" : "ByGoogleCloudCpp";
    makers.push_back({"Server" + by, OnTheServer(client)});
    makers.push_back({"Emulator" + by, OnTheEmulator(client)});
    if (NamedDatabase() == nullptr) continue;
    makers.push_back({"Database" + by, OnADatabase(client)});
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
