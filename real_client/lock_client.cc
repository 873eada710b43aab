#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <future>
#include <iterator>
#include <memory>
#include <mutex>
#include <span>
#include <utility>

#include "base/utf8.h"
#include "protocol/protocols.h"
#include "protocol/random_id.h"
#include "real_client/bounded_client.h"
#include "real_client/lock.h"
#include "real_client/lock_host.h"
#include "real_client/lock_loop.h"
#include "real_client/lock_table.h"
#include "real_client/os.h"
#include "real_client/spanner_client.h"

namespace whorl::real_client {
namespace {

// The timeout of an operator's actions.
constexpr Duration kTimeout = Seconds(10);

Status FindProtocolNamed(std::string_view name, const ProtocolInfo*& out) {
  out = FindProtocol(name);
  if (out != nullptr) return {};
  return Error(Code::kInvalidArgument, "there is no protocol " + std::string(name));
}

Status ValidateLease(const ProtocolInfo& info, Duration lease) {
  if (lease <= Duration() || (info.refuses_short_lease && lease < info.lease_min)) {
    return Error(Code::kInvalidArgument, "a lease of " + FormatDuration(lease) +
                                             " is too short for " + std::string(info.name) +
                                             ": at least " + FormatDuration(info.lease_min));
  }
  if (lease > info.lease_max) {
    return Error(Code::kInvalidArgument, "a lease of " + FormatDuration(lease) +
                                             " is too long for " + std::string(info.name) +
                                             ": at most " + FormatDuration(info.lease_max));
  }
  return {};
}

// The table, or one lock in it, on which a call acts.
struct Target {
  const ProtocolInfo* info = nullptr;
  std::string table;
};
Status Resolve(std::string_view protocol, const std::string& table,
               const std::optional<std::string>& name, Target& out) {
  Status status = FindProtocolNamed(protocol, out.info);
  if (!status.ok()) return status;
  out.table = table.empty() ? std::string(out.info->table) : table;
  status = ValidateTable(out.table);
  if (status.ok() && name) status = ValidateLockName(*out.info, *name);
  return status;
}

// INVALID_ARGUMENT unless the id column can have it beside the other (IdWithValue).
Status ValidateText(std::string_view what, const std::string& text) {
  const std::string subject = "a process's " + std::string(what);
  if (!IsUtf8(text)) return Error(Code::kInvalidArgument, subject + " is no UTF-8");
  if (text.find('\x1f') != std::string::npos) {
    return Error(Code::kInvalidArgument, subject + " contains the character U+001F");
  }
  return {};
}

}  // namespace

Status MakeGrpcClient(ClientOptions options, std::unique_ptr<TransactionClient>& out) {
  std::unique_ptr<SpannerClient> client;
  Status status = SpannerClient::Create(std::move(options), client);
  out = std::move(client);
  return status;
}

class LockClient::Core {
 public:
  explicit Core(LockClientOptions options) : options_(std::move(options)) {}

  bool IsInChild() const { return mark_.IsInChild(); }

  // One client for each policy by which its transactions are retried, made when it is first needed.
  Status ClientFor(const ProtocolInfo& info, TransactionClient*& out) {
    const std::lock_guard lock(mutex_);
    for (const auto& [policy, client] : clients_) {
      if (policy == info.retry_policy) {
        out = client.get();
        return {};
      }
    }
    std::unique_ptr<TransactionClient> client;
    Status status = options_.make_client({.database = options_.database,
                                          .database_role = options_.database_role,
                                          .connection = options_.connection,
                                          .sessions = MultiplexedSessionPolicy(),
                                          .retry = info.retry_policy},
                                         client);
    if (!status.ok()) return status;
    clients_.emplace_back(info.retry_policy,
                          std::make_unique<BoundedClient>(std::move(client), options_.concurrency));
    out = clients_.back().second.get();
    return {};
  }

  // Blocking. REQUIRES: not on a thread of the client.
  Status Run(const ProtocolInfo& info, Transaction transaction, Duration timeout,
             TransactionResult& out) {
    TransactionClient* client = nullptr;
    Status status = ClientFor(info, client);
    if (!status.ok()) return status;
    transaction.give_up_at = MonotonicNow() + timeout;
    std::promise<TransactionResult> promise;
    client->Run(std::move(transaction),
                [&promise](TransactionResult result) { promise.set_value(std::move(result)); });
    out = promise.get_future().get();
    return out.status;
  }

  // Blocking. REQUIRES: not on the loop's thread.
  Status ReleaseAll(Duration timeout) {
    struct Wait {
      std::mutex mutex;
      std::condition_variable changed;
      bool counted = false;
      size_t left = 0;
    };
    const auto wait = std::make_shared<Wait>();
    loop_.Post([this, wait, timeout] {
      for (const std::weak_ptr<LockHost>& weak : hosts_) {
        const std::shared_ptr<LockHost> host = weak.lock();
        if (host == nullptr) continue;
        {
          const std::lock_guard lock(wait->mutex);
          ++wait->left;
        }
        // A lock that gave up by itself would count as given back: at the timeout they are all told to.
        const auto stopped = [wait] {
          const std::lock_guard lock(wait->mutex);
          --wait->left;
          wait->changed.notify_all();
        };
        host->Stop(stopped, timeout + Seconds(1));
      }
      const std::lock_guard lock(wait->mutex);
      wait->counted = true;
      wait->changed.notify_all();
    });
    std::unique_lock lock(wait->mutex);
    const bool all = wait->changed.wait_for(lock, std::chrono::nanoseconds(timeout.ns),
                                            [&wait] { return wait->counted && wait->left == 0; });
    if (all) return {};
    const size_t left = wait->left;
    lock.unlock();
    loop_.Post([this] {
      for (const std::weak_ptr<LockHost>& weak : hosts_) {
        if (const std::shared_ptr<LockHost> host = weak.lock()) host->GiveUpReleasing();
      }
    });
    return Error(Code::kDeadlineExceeded, std::to_string(left) +
                                              (left == 1 ? " lock was" : " locks were") +
                                              " not given back within " + FormatDuration(timeout) +
                                              ", and will expire with the lease");
  }

  std::shared_ptr<LockHost> MakeHost(const ProtocolInfo& info, TransactionClient& client,
                                     LockOptions options) {
    auto host = std::make_shared<LockHost>(
        LockHost::Dependencies{.loop = loop_,
                               .client = client,
                               .announce = [this](const LockHost& released) { Announce(released); },
                               .spanner_unresponsive = is_silent_},
        info, std::move(options));
    loop_.Post([this, host] {
      std::erase_if(hosts_, [](const auto& other) { return other.expired(); });
      hosts_.push_back(host);
    });
    return host;
  }

 private:
  // Tells this client's other hosts of the same lock about the release.
  void Announce(const LockHost& released) {
    for (const std::weak_ptr<LockHost>& weak : hosts_) {
      const std::shared_ptr<LockHost> host = weak.lock();
      if (host == nullptr || host.get() == &released) continue;
      if (&host->info() != &released.info() || host->options().name != released.options().name ||
          host->options().table != released.options().table) {
        continue;
      }
      loop_.Post([host] { host->HearOfRelease(); });
    }
  }

  const ForkMark mark_;
  const LockClientOptions options_;
  LockLoop loop_;
  std::vector<std::weak_ptr<LockHost>> hosts_;  // used on the loop's thread only
  const std::shared_ptr<bool> is_silent_ = std::make_shared<bool>(false);
  std::mutex mutex_;
  // Guarded by mutex_. Destroyed before the loop, to which their callbacks post.
  std::vector<std::pair<RetryPolicy, std::unique_ptr<TransactionClient>>> clients_;
};

LockClient::LockClient(std::unique_ptr<Core> core) : core_(std::move(core)) {}

LockClient::~LockClient() {
  // In a child the threads that the core would wait for do not exist.
  if (core_->IsInChild()) static_cast<void>(core_.release());
}

Status LockClient::Open(LockClientOptions options, std::unique_ptr<LockClient>& out) {
  if (options.concurrency < 1) {
    return Error(Code::kInvalidArgument,
                 "concurrency: expected at least 1, got " + std::to_string(options.concurrency));
  }
  auto core = std::make_unique<Core>(std::move(options));
  TransactionClient* client = nullptr;
  // Errors of the options show here, before anything is sent.
  Status status = core->ClientFor(*FindProtocol(LockOptions().protocol), client);
  if (status.ok()) out.reset(new LockClient(std::move(core)));
  return status;
}

Status LockClient::Make(LockOptions options, std::unique_ptr<DistributedLock>& out) {
  Target target;
  Status status = Resolve(options.protocol, options.table, options.name, target);
  if (!status.ok()) return status;
  const ProtocolInfo& info = *target.info;
  options.table = std::move(target.table);
  status = ValidateLease(info, options.lease.value_or(info.lease_default));
  if (status.ok()) status = ValidateText("id", options.id);
  if (status.ok()) status = ValidateText("value", options.value);
  TransactionClient* client = nullptr;
  if (status.ok()) status = core_->ClientFor(info, client);
  if (!status.ok()) return status;
  if (options.id.empty()) {
    OsEntropy entropy;
    options.id = DrawUuid(entropy, purposes::kInstanceId);
  }
  out = std::make_unique<DistributedLock>(core_->MakeHost(info, *client, std::move(options)));
  return {};
}

Status LockClient::Check(std::string_view protocol, const std::string& table, Duration timeout) {
  Target target;
  Status status = Resolve(protocol, table, std::nullopt, target);
  if (!status.ok()) return status;
  const LocalInstant by = MonotonicNow() + timeout;
  TransactionResult result;
  status = core_->Run(*target.info, ProbeOf(*target.info, target.table), timeout, result);
  const ProtocolInfo* whose = nullptr;
  auto probe = ForeignProbeOf(*target.info, target.table, whose);
  if (!status.ok() || !probe) return status;
  status = core_->Run(*target.info, *std::move(probe), by - MonotonicNow(), result);
  return JudgeForeignProbe(*target.info, target.table, *whose, status);
}

Status LockClient::ReleaseAll(Duration timeout) { return core_->ReleaseAll(timeout); }

Status LockClient::List(std::string_view protocol, const std::string& table,
                        std::optional<std::string> name, Duration lease,
                        std::vector<Holding>& out) {
  Target target;
  Status status = Resolve(protocol, table, name, target);
  if (!status.ok()) return status;
  TransactionResult result;
  status =
      core_->Run(*target.info, ReadHoldings(*target.info, target.table, name), kTimeout, result);
  if (status.ok()) out = HoldingsIn(*target.info, result.results.at(0).rows, lease);
  return status;
}

Status LockClient::List(std::string_view protocol, const std::string& table,
                        const std::vector<std::string>& names, Duration lease, Duration timeout,
                        std::vector<Holding>& out) {
  out.clear();
  Target target;
  Status status = Resolve(protocol, table, std::nullopt, target);
  const LocalInstant by = MonotonicNow() + timeout;
  std::span<const std::string> left = names;
  while (status.ok() && !left.empty()) {
    const auto some = left.first(std::min(left.size(), kNamesAtOnce));
    left = left.subspan(some.size());
    TransactionResult result;
    status = core_->Run(*target.info, ReadHoldings(*target.info, target.table, some),
                        by - MonotonicNow(), result);
    if (!status.ok()) break;
    std::ranges::move(HoldingsIn(*target.info, result.results.at(0).rows, lease),
                      std::back_inserter(out));
    // A table without names is one lock.
    if (target.info->holder_columns.lock.empty()) break;
  }
  return status;
}

Status LockClient::List(std::string_view protocol, const std::string& table, const ListRange& range,
                        Duration lease, std::vector<Holding>& out) {
  Target target;
  Status status = Resolve(protocol, table, std::nullopt, target);
  if (!status.ok()) return status;
  TransactionResult result;
  status =
      core_->Run(*target.info, ReadHoldings(*target.info, target.table, range), kTimeout, result);
  if (status.ok()) out = HoldingsIn(*target.info, result.results.at(0).rows, lease);
  return status;
}

Status LockClient::DeleteLock(std::string_view protocol, const std::string& table,
                              const Holding& listed) {
  Target target;
  Status status = Resolve(protocol, table, listed.lock, target);
  if (!status.ok()) return status;
  if (listed.is_held()) {
    return Error(Code::kFailedPrecondition, "the lock " + listed.lock + " is held");
  }
  std::optional<Transaction> remove = DeleteTransaction(*target.info, target.table, listed);
  if (!remove) {
    return Error(Code::kUnimplemented, std::string(protocol) + " needs the rows of its locks");
  }
  TransactionResult result;
  status = core_->Run(*target.info, *std::move(remove), kTimeout, result);
  if (status.ok() && result.results.at(0).row_count == 0) {
    return Error(Code::kFailedPrecondition,
                 "the lock " + listed.lock + " was taken, renewed or deleted meanwhile");
  }
  return status;
}

namespace {

// Rounded up to what a row can say.
Duration LeaseOfInit(const ProtocolInfo& info, const InitOptions& options) {
  const Duration lease = std::max(options.lease.value_or(info.lease_default), info.lease_min);
  return Milliseconds((lease.ns + 999'999) / 1'000'000);
}

std::string WhoHas(const std::string& name, const Holding& holding) {
  if (!holding.holder.empty()) {
    return "the lock " + name + (holding.is_held() ? " is" : " was last") + " held by " +
           holding.holder +
           (holding.token ? ", with token " + std::to_string(holding.token->Number()) : "");
  }
  return "nobody holds the lock " + name;
}

}  // namespace

Status LockClient::InitLock(std::string_view protocol, const std::string& table,
                            const std::string& name, const InitOptions& options, InitResult& out) {
  out = {};
  Target target;
  Status status = Resolve(protocol, table, name, target);
  if (!status.ok()) return status;
  const ProtocolInfo& info = *target.info;
  std::optional<Transaction> init = InitTransaction(info, target.table, name);
  if (!init) return {};
  const Duration lease = LeaseOfInit(info, options);
  status = ValidateLease(info, lease);
  if (!status.ok()) return status;
  TransactionResult result;
  if (options.is_new) {
    status = core_->Run(info, *std::move(init), kTimeout, result);
    out.made = status.ok();
    if (status.code != Code::kAlreadyExists) return status;
  }
  Transaction look = ReadHoldings(info, target.table, name);
  look.return_read_timestamp = true;
  TransactionResult seen;
  status = core_->Run(info, std::move(look), kTimeout, seen);
  if (!status.ok()) return status;
  if (const auto& rows = seen.results.at(0).rows; !rows.empty()) {
    const std::vector<Holding> holdings = HoldingsIn(info, rows, lease);
    if (holdings.empty() || !holdings[0].free_at) return {};
    out.free_at = holdings[0].free_at;
    if (!options.is_new) return {};
    // Made by an earlier call that did not know that the lock is new. The process that has taken it keeps it.
    std::optional<Transaction> release = ForceReleaseTransaction(
        info, target.table, name, {.holder = std::string(kInitHolder), .token = std::nullopt});
    if (!release) return {};
    status = core_->Run(info, *std::move(release), kTimeout, result);
    if (status.ok()) {
      out = {.made = result.results.at(0).row_count > 0, .free_at = std::nullopt};
    }
    return status;
  }
  // Deleted just now.
  if (options.is_new) return Error(Code::kAborted, "the row of " + name + " has been deleted");
  // The last holder renewed its lease before the read that found no row, so its belief ends a
  // lease later. This is by TrueTime, as the first look of a process that comes then.
  if (!seen.read_timestamp) return Error(Code::kInternal, "Spanner named no read timestamp");
  const Timestamp free_at = *seen.read_timestamp + lease;
  status = core_->Run(info, InitHeldTransaction(info, target.table, name, free_at, lease), kTimeout,
                      result);
  if (status.ok()) out = {.made = true, .free_at = free_at};
  return status.code == Code::kAlreadyExists ? Status() : status;
}

Status LockClient::ForceRelease(std::string_view protocol, const std::string& table,
                                const std::string& name, const ReleaseTarget& only) {
  Target target;
  Status status = Resolve(protocol, table, name, target);
  if (!status.ok()) return status;
  const ProtocolInfo& info = *target.info;
  if (only.token && info.holder_columns.token.empty()) {
    return Error(Code::kInvalidArgument, std::string(protocol) + " has no tokens");
  }
  std::optional<Transaction> release = ForceReleaseTransaction(info, target.table, name, only);
  if (!release) {
    return Error(Code::kUnimplemented, std::string(protocol) + " says no way to end a lease");
  }
  TransactionResult result;
  status = core_->Run(info, *std::move(release), kTimeout, result);
  if (!status.ok() || result.results.at(0).row_count > 0) return status;
  std::vector<Holding> holdings;
  status = List(protocol, table, name, info.lease_default, holdings);
  if (!status.ok()) return status;
  if (holdings.empty()) {
    return Error(Code::kNotFound, "there is no lock " + name + " in the table " + target.table);
  }
  return Error(Code::kFailedPrecondition, WhoHas(name, holdings[0]));
}

}  // namespace whorl::real_client
