#include "live/node_process.h"

#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "live/call_names.h"
#include "live/message_codec.h"
#include "live/messages.h"
#include "live/node_time.h"
#include "live/participant.h"
#include "live/reporter.h"
#include "protocol/protocols.h"
#include "real_client/lock_loop.h"
#include "real_client/spanner_client.h"
#include "sim/world/world_setup.h"

namespace whorl::live {
namespace {

// How long a process waits for its first answer from Spanner before it reports Ready anyway: its
// network may be cut when it starts.
constexpr Duration kConnectingMax = Seconds(2);

class NodeProcess {
 public:
  explicit NodeProcess(NodeSetup setup)
      : setup_(std::move(setup)),
        points_(setup_.scenario, setup_.process.node),
        calls_(std::make_shared<CallNames>(setup_.process, reporter_, points_)) {}

  // Opens the connection and the session before the scenario begins, as in the simulation.
  void Connect() {
    const Status opened =
        real_client::SpannerClient::Create({.database = setup_.database,
                                            .connection = {.endpoint = setup_.endpoint,
                                                           .credentials = real_client::Plaintext{},
                                                           .channels = 1},
                                            .sessions = MultiplexedSessionPolicy(),
                                            .retry = sim::RetryPolicyOf(setup_.scenario),
                                            .call_observer = calls_},
                                           client_);
    if (!opened.ok()) return reporter_.Send(CannotGoOn{.why = FormatStatus(opened)});
    Transaction probe = OneStatement(FindProtocol(setup_.scenario.protocol)->steps.front(),
                                     Mode::kStrongRead, Sql::Intern("SELECT 1"), {});
    probe.give_up_at = real_client::MonotonicNow() + kConnectingMax;
    client_->Run(std::move(probe), [this](const TransactionResult&) { reporter_.Send(Ready{}); });
  }

  void Obey(Order order) {
    std::visit([this](auto& what) { Do(what); }, order);
  }

 private:
  void Do(NodeSetup&) {}  // RunNodeProcess has read it: the first line only
  void Do(Begin& begin) {
    reporter_.SetStart(begin.run_started);
    const LocalInstant at = begin.run_started + (begin.at - sim::Instant{});
    loop_.Post([this, begin, at] {
      starting_.expires_at(real_client::BootClock::At(at));
      starting_.async_wait([this, begin](auto cancelled) {
        if (!cancelled) Start(begin);
      });
    });
  }
  void Do(Go& go) { reporter_.Release(go.point); }
  void Do(StopGracefully&) {
    loop_.Post([this] {
      reporter_.ReportEvent(sim::ProcessStopped{.process = setup_.process});
      for (const auto& participant : participants_) participant->StopGracefully();
    });
  }
  void Do(HearOfRelease& heard) {
    loop_.Post([this, lock = heard.lock] {
      const std::vector<uint16_t>& locks = spec().locks;
      for (size_t i = 0; i < participants_.size(); ++i) {
        if (locks[i] == lock) participants_[i]->HearOfRelease();
      }
    });
  }
  void Do(SetClock& set) {
    loop_.Post([this, clock = set.clock] {
      time_.SetClock(clock);
      for (const auto& participant : participants_) participant->ClockChanged();
    });
  }

  void Start(const Begin& begin) {
    time_ = NodeTime(begin.run_started, begin.run_started_wall, begin.clock);
    reporter_.ReportEvent(sim::ProcessStarted{.process = setup_.process});
    for (const uint16_t lock : spec().locks) {
      participants_.push_back(
          std::make_unique<Participant>(Participant::Dependencies{.scenario = setup_.scenario,
                                                                  .process = setup_.process,
                                                                  .loop = loop_,
                                                                  .client = *client_,
                                                                  .calls = *calls_,
                                                                  .time = time_,
                                                                  .reporter = reporter_,
                                                                  .points = points_},
                                        lock));
    }
    for (const auto& participant : participants_) participant->Start();
  }

  const sim::NodeSpec& spec() const {
    return setup_.scenario.nodes[static_cast<size_t>(setup_.process.node)];
  }

  const NodeSetup setup_;
  const Points points_;
  Reporter reporter_;
  NodeTime time_;
  std::shared_ptr<CallNames> calls_;
  real_client::LockLoop loop_;
  real_client::LoopTimer starting_{loop_.context()};
  std::unique_ptr<real_client::SpannerClient> client_;
  std::vector<std::unique_ptr<Participant>> participants_;
};

Order ReadOrder(const std::string& line) {
  Order order;
  FromJson(MessageJson::parse(line), order);
  return order;
}

}  // namespace

int RunNodeProcess() {
  // Ctrl-C ends the coordinator, which ends its nodes.
  std::signal(SIGINT, SIG_IGN);
  std::signal(SIGPIPE, SIG_IGN);
  std::string line;
  if (!std::getline(std::cin, line)) return EXIT_FAILURE;
  auto setup = std::get<NodeSetup>(ReadOrder(line));
  if (!setup.program.empty()) RunForeignNode(std::move(setup));
  // Never destroyed, since its threads run until the process ends.
  auto* node = new NodeProcess(std::move(setup));
  node->Connect();
  while (std::getline(std::cin, line)) node->Obey(ReadOrder(line));
  _exit(EXIT_SUCCESS);
}

}  // namespace whorl::live
