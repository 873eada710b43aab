#include "cli/lock/metrics.h"

#include <prometheus/exposer.h>

#include <charconv>
#include <exception>

#include "base/text.h"
#include "cli/output.h"

namespace whorl::cli {
namespace {

bool IsHostAndPort(const std::string& address) {
  const size_t colon = address.rfind(':');
  if (colon == std::string::npos || colon == 0) return false;
  // The HTTP server gives commas, letters and + in an address a meaning of their own.
  if (address.find_first_not_of("0123456789abcdefABCDEF.:[]") < colon) return false;
  int port = 0;
  const char* end = address.data() + address.size();
  const auto [rest, error] = std::from_chars(address.data() + colon + 1, end, port);
  return error == std::errc() && rest == end && port > 0 && port <= 65535;
}

}  // namespace

ServedMetrics::ServedMetrics(bool per_lock) : metrics(per_lock) {}

ServedMetrics::~ServedMetrics() = default;

absl::Status ServedMetrics::Serve(const std::string& address, bool per_lock,
                                  std::unique_ptr<ServedMetrics>& out) {
  constexpr std::string_view kLocal = "localhost:";
  const std::string numeric =
      address.starts_with(kLocal) ? Cat("127.0.0.1:", address.substr(kLocal.size())) : address;
  if (!IsHostAndPort(numeric)) {
    return absl::InvalidArgumentError(
        Cat("--metrics wants an address and a port, such as 127.0.0.1:9464, and got ",
            Quoted(address)));
  }
  if (numeric.starts_with("0.0.0.0:") || numeric.starts_with("[::]:")) {
    Complain(Cat("warning: --metrics ", address,
                 " serves the names of locks to every machine that can reach this one"));
  }
  try {
    std::unique_ptr<ServedMetrics> served(new ServedMetrics(per_lock));
    served->exposer_ = std::make_unique<prometheus::Exposer>(numeric);
    served->exposer_->RegisterCollectable(served->metrics.collectable());
    out = std::move(served);
  } catch (const std::exception&) {
    // The library gives no reason.
    return absl::UnavailableError(Cat("--metrics: nothing can be served at ", address,
                                      ": the port is taken, or is no address of this machine"));
  }
  return absl::OkStatus();
}

}  // namespace whorl::cli
