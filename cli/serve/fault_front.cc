#include "cli/serve/fault_front.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <iterator>
#include <map>
#include <mutex>
#include <set>
#include <system_error>
#include <utility>

#include "base/text.h"
#include "cli/inputs.h"
#include "cli/option_values.h"
#include "cli/output.h"
#include "live/proxy/fault_proxy.h"
#include "live/rules/rule_engine.h"
#include "real_client/connection.h"
#include "real_client/lock_loop.h"
#include "real_client/os.h"

namespace whorl::cli {
namespace {

using real_client::MonotonicNow;

// What the rule has done, for people. The history may have more calls that it matches: after its last time it
// looks at none.
std::string ReportOf(const live::RuleEngine::Active& rule) {
  if (rule.matched == 0) return " matched no call";
  std::string text = Cat(" struck ", std::to_string(rule.struck), " of ",
                         std::to_string(rule.matched), " calls that it matches");
  if (rule.count > 1) text += Cat("; it begins with number ", std::to_string(rule.count));
  if (rule.over) text += rule.count > 1 ? " and was over then" : "; it was over then";
  return text;
}

class Front final : public FaultFront {
 public:
  Front(const FaultRequest& request, const real_client::ConnectionOptions& upstream,
        std::shared_ptr<grpc::ChannelCredentials> credentials)
      : log_(request.names),
        engine_({.seed = request.seed,
                 .wall = real_client::SystemNow,
                 .steady = MonotonicNow,
                 .link =
                     [this](int16_t client, sim::LinkState state) {
                       SetLink(static_cast<size_t>(client), sim::Direction::kBoth, state);
                     },
                 .later = [this](Duration later,
                                 std::function<void()> task) { Later(later, std::move(task)); },
                 .record =
                     [this](const live::CallRecord& record) {
                       log_.Append(record);
                       if (!verdict_) return;
                       verdict_->Note(record);
                       verdict_->KeepUp();
                     },
                 .say = [](const std::string& line) { Complain(line); },
                 .say_after = request.hangs_after}),
        proxy_(std::make_unique<live::FaultProxy>(
            upstream.endpoint, engine_,
            live::ProxyOptions{.credentials = std::move(credentials)})) {
    for (const live::CallRule& rule : request.rules) engine_.Add(rule);
    if (request.judge->IsAsked()) {
      live::JudgedServer judged = request.judged;
      judged.upstream = upstream;
      judged.commit_under_way = [this] { return engine_.OldestCommitUnderWay(); };
      if (!judged.now) judged.now = real_client::SystemNow;
      verdict_ = std::make_unique<live::LiveVerdict>(*request.judge, std::move(judged),
                                                     static_cast<size_t>(request.clients));
    }
  }
  ~Front() override { static_cast<void>(End()); }

  absl::Status Open(const FaultRequest& request, int port) {
    if (!request.history.empty()) {
      if (absl::Status opened = log_.OpenFile(request.history); !opened.ok()) return opened;
    }
    for (int i = 0; i < request.clients; ++i) {
      try {
        const uint16_t opened = proxy_->Open(static_cast<int16_t>(i), i == 0 ? port : 0);
        clients_.push_back({.address = Cat("127.0.0.1:", std::to_string(opened))});
      } catch (const std::system_error& error) {
        return absl::UnavailableError(
            Cat("--port ", std::to_string(port), ": ", error.code().message()));
      }
    }
    return absl::OkStatus();
  }

  std::vector<ServedClient> Clients() const override {
    const std::lock_guard lock(mutex_);
    return clients_;
  }
  void SetLink(size_t client, sim::Direction direction, sim::LinkState state) override {
    // Held all along, so that what Clients() says is what the proxy does.
    const std::lock_guard lock(mutex_);
    ServedClient& served = clients_[client];
    if (direction != sim::Direction::kFrom) served.to = state;
    if (direction != sim::Direction::kTo) served.from = state;
    proxy_->SetLink(static_cast<int16_t>(client), direction, state);
  }
  live::RuleEngine& rules() override { return engine_; }
  const CallLog& log() const override { return log_; }
  live::LiveVerdict* verdict() override { return verdict_.get(); }

  std::vector<std::string> Report() const override {
    std::vector<std::string> lines;
    for (const live::RuleEngine::Active& rule : engine_.List()) {
      lines.push_back(Cat(rule.text, ReportOf(rule)));
    }
    return lines;
  }

  absl::Status End() override {
    if (proxy_ == nullptr) return absl::OkStatus();
    proxy_->Shutdown();
    loop_.PostAndWait([this] { timers_.clear(); });
    proxy_.reset();
    return log_.End();
  }

 private:
  void Later(Duration later, std::function<void()> task) {
    loop_.Post([this, later, task = std::move(task)] {
      const int64_t number = ++last_timer_;
      real_client::LoopTimer& timer = timers_.try_emplace(number, loop_.context()).first->second;
      timer.expires_after(std::chrono::nanoseconds(later.ns));
      timer.async_wait([this, number, task](auto cancelled) {
        if (cancelled) return;
        timers_.erase(number);
        task();
      });
    });
  }

  CallLog log_;
  real_client::LockLoop loop_;
  std::map<int64_t, real_client::LoopTimer> timers_;  // on the loop's thread
  int64_t last_timer_ = 0;
  std::unique_ptr<live::LiveVerdict> verdict_;
  live::RuleEngine engine_;
  std::unique_ptr<live::FaultProxy> proxy_;
  mutable std::mutex mutex_;  // guards clients_
  std::vector<ServedClient> clients_;
};

}  // namespace

namespace {

void AddJudgeOptions(CLI::App& app, const std::shared_ptr<live::JudgeRequest>& request) {
  app.add_option(
         "--judge", request->protocol,
         "judge the programs' locks as those of this protocol, and say at the end what holds "
         "(and at /verdict, with --control); give each program a port of its own by --clients")
      ->type_name("PROTOCOL");
  app.add_option("--table", request->table,
                 "with --judge: the locks' table (default: the protocol's)")
      ->type_name("NAME");
  app.add_option_function<std::string>(
         "--lease",
         [request](const std::string& text) {
           request->lease = DurationOf("--lease", text, "a time such as 10s");
         },
         "with --judge: the programs' lease")
      ->type_name("TIME");
  app.add_flag("--promised", request->promised_only,
               "with --judge: end with 1 for what the protocol promises alone, not for all that is "
               "violated");
}

// How many clients there are, or their names.
void SetClients(const std::string& text, FaultRequest& request) {
  constexpr size_t kMost = 1000;
  constexpr std::string_view kWants = "--clients: expected a number from 1 to 1000, or names: a,b";
  if (text.find_first_not_of("0123456789") == std::string::npos) {
    request.clients = 0;
    std::from_chars(text.data(), text.data() + text.size(), request.clients);
  } else {
    for (size_t begin = 0; begin <= text.size() && request.names.size() <= kMost;) {
      const size_t end = std::min(text.find(',', begin), text.size());
      request.names.push_back(text.substr(begin, end - begin));
      begin = end + 1;
    }
    request.clients = static_cast<int>(request.names.size());
  }
  const std::set<std::string> names(request.names.begin(), request.names.end());
  if (request.clients < 1 || static_cast<size_t>(request.clients) > kMost || names.contains("")) {
    throw CLI::ValidationError(Cat(kWants, ", got ", Quoted(text)));
  }
  if (names.size() < request.names.size()) {
    throw CLI::ValidationError(Cat("--clients: each client has a name of its own, got ", text));
  }
}

void AddClients(CLI::App& app, const std::shared_ptr<FaultRequest>& request) {
  app.add_option_function<std::string>(
         "--clients", [request](const std::string& text) { SetClients(text, *request); },
         "ports, one for each client, so that a rule can strike one of them: how many, or the "
         "clients' names, for --history (default: 1)")
      ->type_name("N|NAMES");
}

}  // namespace

void AddFaultOptions(CLI::App& app, const std::shared_ptr<FaultRequest>& request) {
  app.add_option("--faults", request->files,
                 "file of rules, JSON: what happens to which calls (scenarios/LANGUAGE.md); may be "
                 "repeated")
      ->type_name("FILE")
      ->allow_extra_args(false);
  app.add_option("--history", request->history, "write each call into FILE, as a line of JSON")
      ->type_name("FILE");
  AddClients(app, request);
  app.add_option_function<std::string>(
         "--hangs-after",
         [request](const std::string& text) {
           request->hangs_after = DurationOf("--hangs-after", text, "a time such as 10s");
         },
         "say on standard error which call has hung for so long, and by which rule (default: 10s)")
      ->type_name("TIME");
  AddJudgeOptions(app, request->judge);
  AddNumber(
      app, "--seed", 0, std::numeric_limits<uint64_t>::max(),
      [request](uint64_t seed) { request->seed = seed; },
      "decides what probabilities and times come to (default: 1)");
}

std::vector<std::string> Load(FaultRequest& request) {
  std::vector<std::string> errors;
  for (const std::string& file : request.files) {
    std::string text;
    if (const std::string wrong = ReadOption("--faults", file, text); !wrong.empty()) {
      errors.push_back(wrong);
      continue;
    }
    live::RuleFile read = live::ParseRules(file, text);
    if (!read.note.empty()) Complain(read.note);
    std::ranges::move(read.rules, std::back_inserter(request.rules));
    std::ranges::move(read.errors, std::back_inserter(errors));
  }
  if (std::string wrong = Check(*request.judge); !wrong.empty()) errors.push_back(std::move(wrong));
  return errors;
}

absl::Status FaultFront::Start(const FaultRequest& request,
                               const real_client::ConnectionOptions& upstream, int port,
                               std::unique_ptr<FaultFront>& out) {
  std::shared_ptr<grpc::ChannelCredentials> credentials;
  const Status made = real_client::MakeCredentials(upstream.credentials, credentials);
  if (!made.ok()) return absl::UnauthenticatedError(made.message.str());
  auto front = std::make_unique<Front>(request, upstream, std::move(credentials));
  if (absl::Status opened = front->Open(request, port); !opened.ok()) return opened;
  out = std::move(front);
  return absl::OkStatus();
}

}  // namespace whorl::cli
