#include "cli/serve/control.h"

#include <httplib.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "base/parse_duration.h"
#include "base/text.h"
#include "sim/scenario/fields.h"
#include "sim/scenario/json_text.h"

namespace whorl::cli {
namespace {

using httplib::Request;
using httplib::Response;
using sim::Json;

constexpr std::string_view kTokenVariable = "WHORL_CONTROL_TOKEN";
constexpr size_t kLargestBody = size_t{1} << 20;
constexpr size_t kLinesAtOnce = 1000;
constexpr std::string_view kNothingJudged = "nothing is judged here; --judge PROTOCOL says as what";

bool IsLoopback(const std::string& host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

// "8080", "127.0.0.1:8080" or "[::1]:8080". False if it is none of these.
bool ReadAddress(const std::string& text, ControlRequest& out) {
  const size_t colon = text.rfind(':');
  std::string host = colon == std::string::npos ? "127.0.0.1" : text.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string::npos) {
    return false;
  }
  const char* begin = text.data() + (colon == std::string::npos ? 0 : colon + 1);
  const char* end = text.data() + text.size();
  int port = 0;
  const auto [rest, error] = std::from_chars(begin, end, port);
  if (error != std::errc() || rest != end || port < 0 || port > 65535 || host.empty()) return false;
  out.host = host;
  out.port = port;
  return true;
}

void Answer(Response& response, int code, const Json& json) {
  response.status = code;
  response.set_content(sim::DumpJson(json) + "\n", "application/json");
}

void Refuse(Response& response, int code, const std::vector<std::string>& errors) {
  Answer(response, code, {{"errors", errors}});
}

// A member of the body that is a word or a time. Unknown members are errors, too.
class Body {
 public:
  Body(const std::string& text, std::vector<std::string_view> keys)
      : json_(Json::parse(text, nullptr, /*allow_exceptions=*/false)) {
    if (!json_.is_object()) {
      errors_.emplace_back("the body is to be a JSON object");
      return;
    }
    if (json_.empty()) errors_.push_back(Cat("expected ", Quoted(keys)));
    for (const auto& [key, value] : json_.items()) {
      if (std::ranges::find(keys, std::string_view(key)) == keys.end()) {
        errors_.push_back(sim::UnknownWord("key", key, keys));
      } else if (!value.is_string()) {
        errors_.push_back(Cat(key, " is to be a string"));
      }
    }
  }

  bool Has(const std::string& key) const {
    return json_.is_object() && json_.contains(key) && json_[key].is_string();
  }
  template <typename Enum>
  void Word(const std::string& key, Enum& out) {
    if (!Has(key)) return;
    const auto text = json_[key].template get<std::string>();
    if (const auto word = ParseWord<Enum>(text)) {
      out = *word;
    } else {
      errors_.push_back(sim::UnknownWord(key, text, AllWords<Enum>()));
    }
  }
  void Time(const std::string& key, Duration& out) {
    if (!Has(key)) return;
    const auto parsed = ParseDuration(json_[key].get<std::string>());
    if (const auto* wrong = std::get_if<std::string>(&parsed)) {
      errors_.push_back(Cat(key, ": ", *wrong));
    } else {
      out = std::get<Duration>(parsed);
    }
  }
  void Add(std::string error) { errors_.push_back(std::move(error)); }
  const std::vector<std::string>& errors() const { return errors_; }

 private:
  static std::string Quoted(const std::vector<std::string_view>& keys) {
    std::string text;
    for (const std::string_view key : keys)
      text += Cat(text.empty() ? "" : " or ", "\"", key, "\"");
    return text;
  }

  const Json json_;
  std::vector<std::string> errors_;
};

class Plane final : public ControlPlane {
 public:
  Plane(const ControlRequest& request, Controlled controlled)
      : token_(request.token), controlled_(controlled) {
    server_.set_payload_max_length(kLargestBody);
    // A client that follows the history keeps a thread of the server.
    server_.new_task_queue = [] { return new httplib::ThreadPool(16); };
    Route();
  }
  ~Plane() override {
    ending_ = true;
    server_.stop();
    if (thread_.joinable()) thread_.join();
  }

  absl::Status Open(const ControlRequest& request) {
    int port = request.port;
    const bool is_bound = port == 0 ? (port = server_.bind_to_any_port(request.host)) > 0
                                    : server_.bind_to_port(request.host, port);
    if (!is_bound) {
      return absl::UnavailableError(Cat("--control: ", request.host, " port ",
                                        std::to_string(request.port),
                                        " is taken, or not an address of this machine"));
    }
    const bool is_ipv6 = request.host.find(':') != std::string::npos;
    url_ = Cat("http://", is_ipv6 ? Cat("[", request.host, "]") : request.host, ":",
               std::to_string(port));
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    // A stop before the server listens would be lost.
    while (!server_.is_running()) std::this_thread::yield();
    return absl::OkStatus();
  }
  std::string url() const override { return url_; }

 private:
  void Route() {
    server_.set_pre_routing_handler([this](const Request& request, Response& response) {
      return Authorise(request, response);
    });
    server_.set_error_handler(NameWhatIsWrong);
    RouteFaults();
    RouteClients();
    server_.Get("/clock", [this](const Request&, Response& response) { ShowClock(response); });
    server_.Post("/clock", [this](const Request& request, Response& response) {
      SetClock(request.body, response);
    });
    server_.Get("/history", [this](const Request& request, Response& response) {
      ShowHistory(request, response);
    });
    server_.Get("/verdict", [this](const Request&, Response& response) { ShowVerdict(response); });
    server_.Get("/metrics", [this](const Request&, Response& response) {
      response.set_content(controlled_.front.log().Metrics(), "text/plain; version=0.0.4");
    });
  }

  httplib::Server::HandlerResponse Authorise(const Request& request, Response& response) const {
    if (token_.empty() || request.get_header_value("Authorization") == "Bearer " + token_) {
      return httplib::Server::HandlerResponse::Unhandled;
    }
    Refuse(response, 401,
           {Cat("each request has to bring Authorization: Bearer $", kTokenVariable)});
    return httplib::Server::HandlerResponse::Handled;
  }

  // For an error of the library, which has no text.
  static void NameWhatIsWrong(const Request& request, Response& response) {
    if (!response.body.empty()) return;
    const std::string what = Printable(Cat(request.method, " ", request.path), 200);
    Refuse(response, response.status,
           {response.status == 404
                ? Cat("there is no ", what, "; cli/serve/openapi.json lists what there is")
                : Cat(what, " cannot be done so")});
  }

  void RouteFaults() {
    server_.Get("/faults", [this](const Request&, Response& response) { ListFaults(response); });
    server_.Post("/faults", [this](const Request& request, Response& response) {
      AddFaults(request.body, response);
    });
    server_.Delete("/faults",
                   [this](const Request&, Response& response) { RemoveFaults(response); });
    server_.Delete(R"(/faults/(\d{1,18}))", [this](const Request& request, Response& response) {
      RemoveFault(request.matches[1], response);
    });
  }

  void RouteClients() {
    server_.Get("/clients", [this](const Request&, Response& response) { ListClients(response); });
    server_.Post(R"(/clients/(\d{1,9}))", [this](const Request& request, Response& response) {
      SetLink(static_cast<size_t>(std::stoull(request.matches[1])), request.body, response);
    });
    server_.Post(R"(/clients/(\d{1,9})/says)", [this](const Request& request, Response& response) {
      TakeWord(static_cast<size_t>(std::stoull(request.matches[1])), request.body, response);
    });
  }

  void ListFaults(Response& response) const {
    Json faults = Json::array();
    for (const auto& rule : controlled_.front.rules().List()) {
      faults.push_back({{"id", rule.number},
                        {"rule", rule.text},
                        {"matched", rule.matched},
                        {"struck", rule.struck},
                        {"over", rule.over}});
    }
    Answer(response, 200, {{"faults", faults}});
  }
  void AddFaults(const std::string& body, Response& response) {
    live::RuleFile read = live::ParseRules("body", body);
    std::vector<std::string>& errors = read.errors;
    if (!errors.empty()) return Refuse(response, 400, errors);
    std::vector<live::CallRule>& rules = read.rules;
    const size_t clients = controlled_.front.Clients().size();
    for (const live::CallRule& rule : rules) {
      if (rule.client && static_cast<size_t>(*rule.client) >= clients) {
        errors.push_back(Cat(rule.text, ": there are ", std::to_string(clients), " clients"));
      }
    }
    if (!errors.empty()) return Refuse(response, 400, errors);
    Json ids = Json::array();
    for (live::CallRule& rule : rules)
      ids.push_back(controlled_.front.rules().Add(std::move(rule)));
    Json answer = {{"ids", ids}};
    if (!read.note.empty()) {
      answer["note"] =
          "these rules have the words of an earlier release, which go on working; "
          "whorl convert FILE writes today's";
    }
    Answer(response, 201, answer);
  }

  void RemoveFaults(Response& response) {
    for (const auto& rule : controlled_.front.rules().List()) {
      controlled_.front.rules().Remove(rule.number);
    }
    response.status = 204;
  }
  void RemoveFault(const std::string& number, Response& response) {
    if (controlled_.front.rules().Remove(std::stoll(number))) {
      response.status = 204;
    } else {
      Refuse(response, 404, {Cat("there is no fault ", number)});
    }
  }

  void ListClients(Response& response) const {
    Json clients = Json::array();
    for (size_t i = 0; i < controlled_.front.Clients().size(); ++i) clients.push_back(Client(i));
    Answer(response, 200, {{"clients", clients}});
  }
  Json Client(size_t number) const {
    const ServedClient client = controlled_.front.Clients()[number];
    return {{"client", number + 1},
            {"address", client.address},
            {"to", WordOf(client.to)},
            {"from", WordOf(client.from)}};
  }
  // False, and the answer, if there is no such client.
  bool HasClient(size_t number, Response& response) const {
    const size_t clients = controlled_.front.Clients().size();
    if (number >= 1 && number <= clients) return true;
    Refuse(response, 404,
           {Cat("there is no client ", std::to_string(number), "; there are ",
                std::to_string(clients))});
    return false;
  }
  void SetLink(size_t number, const std::string& text, Response& response) {
    if (!HasClient(number, response)) return;
    Body body(text, {"link", "direction"});
    auto link = sim::LinkState::kUp;
    auto direction = sim::Direction::kBoth;
    if (body.errors().empty() && !body.Has("link")) body.Add("\"link\" is missing");
    body.Word("link", link);
    body.Word("direction", direction);
    if (!body.errors().empty()) return Refuse(response, 400, body.errors());
    controlled_.front.SetLink(number - 1, direction, link);
    Answer(response, 200, Client(number - 1));
  }

  void TakeWord(size_t number, const std::string& line, Response& response) {
    if (!HasClient(number, response)) return;
    live::LiveVerdict* verdict = controlled_.front.verdict();
    const std::string wrong =
        verdict == nullptr ? std::string(kNothingJudged) : verdict->Says(number - 1, line);
    if (!wrong.empty()) return Refuse(response, 400, {wrong});
    response.status = 204;
  }
  void ShowVerdict(Response& response) {
    live::LiveVerdict* verdict = controlled_.front.verdict();
    if (verdict == nullptr) {
      return Answer(response, 200,
                    {{"holes", {kNothingJudged}},
                     {"judged_commits", 0},
                     {"waiting", 0},
                     {"locks", Json::array()}});
    }
    Answer(response, 200, verdict->Judge());
  }

  void ShowClock(Response& response) const {
    Json clock = {{"virtual", controlled_.clock != nullptr}};
    if (controlled_.clock != nullptr) clock["now"] = FormatRfc3339(controlled_.clock->Now());
    if (controlled_.current_timestamp_error != nullptr) {
      const Duration error = Nanoseconds(controlled_.current_timestamp_error->load());
      clock["current_timestamp_error"] = FormatDuration(error);
    }
    Answer(response, 200, clock);
  }
  void SetClock(const std::string& text, Response& response) {
    Body body(text, {"advance", "current_timestamp_error"});
    Duration advance;
    Duration error;
    body.Time("advance", advance);
    body.Time("current_timestamp_error", error);
    if (advance < Duration()) body.Add("advance: the clock cannot be set back");
    if (body.Has("advance") && controlled_.clock == nullptr) {
      body.Add("advance: time is real here; whorl serve --virtual-time has a clock that is moved");
    }
    if (body.Has("current_timestamp_error") && controlled_.current_timestamp_error == nullptr) {
      body.Add("current_timestamp_error: the clock is that of the server behind the proxy");
    }
    if (!body.errors().empty()) return Refuse(response, 400, body.errors());
    if (body.Has("current_timestamp_error")) *controlled_.current_timestamp_error = error.ns;
    if (body.Has("advance")) controlled_.clock->Advance(advance);
    ShowClock(response);
  }

  void ShowHistory(const Request& request, Response& response) {
    uint64_t from = 0;
    const std::string text = request.has_param("from") ? request.get_param_value("from") : "0";
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), from);
    if (error != std::errc() || rest != text.data() + text.size()) {
      return Refuse(response, 400, {"from: expected the number of a line, from 0"});
    }
    const bool follows = request.has_param("follow");
    const auto next = std::make_shared<uint64_t>(from);
    response.set_chunked_content_provider(
        "application/x-ndjson", [this, next, follows](size_t, httplib::DataSink& sink) {
          const CallLog& log = controlled_.front.log();
          const CallLog::Lines lines =
              follows ? log.WaitFrom(*next, kLinesAtOnce) : log.From(*next, kLinesAtOnce);
          for (const std::string& line : lines.lines) {
            if (!sink.write(line.data(), line.size())) return false;
          }
          *next = lines.next;
          const bool is_all = follows ? lines.has_ended || ending_ : lines.lines.empty();
          if (is_all) sink.done();
          return true;
        });
  }

  const std::string token_;
  const Controlled controlled_;
  httplib::Server server_;
  std::string url_;
  std::thread thread_;
  std::atomic<bool> ending_ = false;
};

}  // namespace

void AddControlOption(CLI::App& app, const std::shared_ptr<ControlRequest>& request) {
  app.add_option_function<std::string>(
         "--control",
         [request](const std::string& text) {
           if (!ReadAddress(text, *request)) {
             throw CLI::ValidationError(
                 Cat("--control wants a port, or an address and a port such as 127.0.0.1:8080, and "
                     "got ",
                     Quoted(text)));
           }
           // NOLINTNEXTLINE(concurrency-mt-unsafe): there is no other thread yet.
           const char* token = std::getenv(kTokenVariable.data());
           if (token != nullptr) request->token = token;
           if (request->token.empty() && !IsLoopback(request->host)) {
             throw CLI::ValidationError(Cat("--control ", Quoted(text),
                                            " can be reached by other machines: set ",
                                            kTokenVariable, " to a secret"));
           }
         },
         "change faults, links and the clock over HTTP while programs run (cli/serve/README.md); "
         "0: "
         "a free port; $WHORL_CONTROL_TOKEN: what each request has to bring")
      ->type_name("[HOST:]PORT");
}

absl::Status ControlPlane::Start(const ControlRequest& request, Controlled controlled,
                                 std::unique_ptr<ControlPlane>& out) {
  auto plane = std::make_unique<Plane>(request, controlled);
  if (absl::Status opened = plane->Open(request); !opened.ok()) return opened;
  out = std::move(plane);
  return absl::OkStatus();
}

}  // namespace whorl::cli
