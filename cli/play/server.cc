#include "cli/play/server.h"

#include <httplib.h>

#include <array>
#include <mutex>
#include <random>
#include <sstream>
#include <string_view>
#include <thread>
#include <utility>

#include "base/text.h"
#include "cli/page.h"
#include "sim/scenario/schema.h"

namespace whorl::cli {
namespace {

using httplib::Request;
using httplib::Response;
using sim::Json;

constexpr size_t kLargestBody = size_t{1} << 20;
constexpr const char* kHost = "127.0.0.1";
constexpr const char* kTokenHeader = "X-Whorl-Token";

std::string DrawToken() {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::random_device random;
  std::string token;
  for (int i = 0; i < 32; ++i) token += kDigits[random() % kDigits.size()];
  return token;
}

void Answer(Response& response, int code, const Json& json) {
  response.status = code;
  response.set_content(sim::DumpJson(json) + "\n", "application/json");
}

void Refuse(Response& response, int code, const std::string& error) {
  Answer(response, code, {{"errors", {error}}});
}

std::string TextIn(const Json& body, const char* key) {
  return body.is_object() && body.contains(key) && body[key].is_string()
             ? body[key].get<std::string>()
             : std::string();
}

class Served final : public PlayServer {
 public:
  explicit Served(Playground& playground) : playground_(playground), token_(DrawToken()) {
    server_.set_payload_max_length(kLargestBody);
    // The library's own choice is SO_REUSEPORT, by which two servers share a port.
    server_.set_socket_options([](socket_t socket) {
      const int yes = 1;
      setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    });
    server_.set_pre_routing_handler([this](const Request& request, Response& response) {
      return Authorise(request, response);
    });
    server_.set_default_headers({{"Cache-Control", "no-store"},
                                 {"Referrer-Policy", "no-referrer"},
                                 {"X-Content-Type-Options", "nosniff"}});
    Route();
  }
  ~Served() override {
    server_.stop();
    if (thread_.joinable()) thread_.join();
  }

  absl::Status Open(int port) {
    const bool is_bound = port == 0 ? (port = server_.bind_to_any_port(kHost)) > 0
                                    : server_.bind_to_port(kHost, port);
    if (!is_bound) {
      return absl::UnavailableError(Cat("--port ", std::to_string(port), " is taken"));
    }
    port_ = std::to_string(port);
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    // A stop before the server listens would be lost.
    while (!server_.is_running()) std::this_thread::yield();
    return absl::OkStatus();
  }
  std::string url() const override { return Cat("http://", kHost, ":", port_, "/?token=", token_); }

 private:
  bool IsThisServer(std::string_view host) const {
    return host == Cat(kHost, ":", port_) || host == Cat("localhost:", port_);
  }

  httplib::Server::HandlerResponse Authorise(const Request& request, Response& response) const {
    using enum httplib::Server::HandlerResponse;
    if (!IsThisServer(request.get_header_value("Host"))) {
      Refuse(response, 403, "this server answers to its own address only");
      return Handled;
    }
    const std::string origin = request.get_header_value("Origin");
    constexpr std::string_view kScheme = "http://";
    const bool is_from_elsewhere =
        request.has_header("Origin") &&
        !(origin.starts_with(kScheme) && IsThisServer(origin.substr(kScheme.size())));
    if (is_from_elsewhere) {
      Refuse(response, 403, "this server answers to its own page only");
      return Handled;
    }
    const std::string token = request.method == "GET" ? request.get_param_value("token")
                                                      : request.get_header_value(kTokenHeader);
    if (token == token_) return Unhandled;
    Refuse(response, 401, "open the address that whorl play has printed: its token is missing");
    return Handled;
  }

  void Route() {
    server_.Get("/", [](const Request&, Response& response) {
      std::ostringstream page;
      WritePage(PageKind::kPlay, {{"starts", Playground::Starts()}, {"protocols", Names()}}, "",
                page);
      response.set_content(page.str(), "text/html; charset=utf-8");
    });
    server_.Get("/run", [this](const Request&, Response& response) {
      const std::lock_guard lock(mutex_);
      response.set_content(playground_.Page(), "text/html; charset=utf-8");
    });
    server_.Get("/schema", [](const Request&, Response& response) {
      response.set_content(sim::ScenarioSchema(), "application/json");
    });
    Post("/start", [this](const Json& body) {
      return playground_.Start(TextIn(body, "protocol"), TextIn(body, "words"));
    });
    Post("/run", [this](const Json& body) { return playground_.Run(TextIn(body, "text")); });
    Post("/hunt", [this](const Json& body) { return playground_.Hunt(TextIn(body, "text")); });
    Post("/save", [this](const Json& body) {
      return playground_.Save(TextIn(body, "name"), TextIn(body, "text"));
    });
    server_.set_error_handler([](const Request& request, Response& response) {
      if (!response.body.empty()) return;
      Refuse(response, response.status,
             Cat("there is no ", Printable(Cat(request.method, " ", request.path), 200)));
    });
  }

  template <typename Do>
  void Post(const char* path, Do act) {
    server_.Post(path, [this, act](const Request& request, Response& response) {
      const Json body = Json::parse(request.body, nullptr, /*allow_exceptions=*/false);
      if (!body.is_object()) return Refuse(response, 400, "the body is to be a JSON object");
      const std::lock_guard lock(mutex_);
      Answer(response, 200, act(body));
    });
  }

  static Json Names() {
    Json names = Json::array();
    for (const ProtocolInfo& protocol : Protocols()) names.push_back(protocol.name);
    return names;
  }

  Playground& playground_;
  const std::string token_;
  std::string port_;
  std::mutex mutex_;  // guards the playground
  httplib::Server server_;
  std::thread thread_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<PlayServer>> PlayServer::Start(int port, Playground& playground) {
  auto served = std::make_unique<Served>(playground);
  if (const absl::Status opened = served->Open(port); !opened.ok()) return opened;
  return served;
}

}  // namespace whorl::cli
