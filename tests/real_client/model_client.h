// A client of the Spanner model in this process: the transaction runner and the model are the real
// ones, there is no network between them, and time is the machine's. For tests of LockHost.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "protocol/client/transaction_runner.h"
#include "real_client/os.h"
#include "real_client/transaction_client.h"
#include "spanner_model/catalogue.h"
#include "spanner_model/database.h"
#include "spanner_model/schema.h"

namespace whorl {

// Transactions run one after the other on the client's thread, so none waits for another's locks.
class ModelClient final : public real_client::TransactionClient {
 public:
  // Called before each transaction. If it returns a result, that is the answer and the transaction
  // does not run. It may block.
  using Fate = std::function<std::optional<TransactionResult>(const Transaction&)>;

  explicit ModelClient(std::string_view create_table)
      : catalogue_(MakeCatalogue(create_table)),
        database_(model::MakeDatabase(catalogue_)),
        thread_([this] { Work(); }) {}
  ~ModelClient() override {
    Shutdown([] {});
    thread_.join();
  }

  void SetFate(Fate fate) {
    const std::lock_guard lock(mutex_);
    fate_ = std::move(fate);
  }
  // Called after each transaction that has run. If it returns a result, that is the answer.
  void SetLoss(Fate loss) {
    const std::lock_guard lock(mutex_);
    loss_ = std::move(loss);
  }

  RunId Run(Transaction transaction, Done done) override {
    const std::lock_guard lock(mutex_);
    queue_.push_back({.run = ++last_run_,
                      .transaction = std::move(transaction),
                      .done = std::move(done),
                      .cancelled = closed_});
    changed_.notify_one();
    return last_run_;
  }
  void Cancel(RunId run) override {
    const std::lock_guard lock(mutex_);
    for (Job& job : queue_) {
      if (job.run == run) job.cancelled = true;
    }
  }
  void Shutdown(std::function<void()> done) override {
    const std::lock_guard lock(mutex_);
    for (Job& job : queue_) job.cancelled = true;
    closed_ = true;
    queue_.push_back({.run = ++last_run_, .closed = std::move(done)});
    changed_.notify_one();
  }

 private:
  struct Job {
    RunId run = 0;
    Transaction transaction;
    Done done;
    bool cancelled = false;
    std::function<void()> closed;  // set instead of a transaction, in the last job
  };

  static model::Catalogue MakeCatalogue(std::string_view create_table) {
    model::Schema schema;
    schema.tables.push_back(std::get<model::Table>(model::ParseCreateTable(create_table)));
    return {std::move(schema), {}, {}};
  }

  void Work() {
    while (true) {
      Job job;
      Fate fate;
      Fate loss;
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return !queue_.empty(); });
        job = std::move(queue_.front());
        queue_.pop_front();
        fate = fate_;
        loss = loss_;
      }
      if (job.closed) return job.closed();
      if (job.cancelled) {
        job.done({.outcome = Outcome::kAborted, .status = Error(Code::kCancelled, "given up")});
        continue;
      }
      std::optional<TransactionResult> answer = fate ? fate(job.transaction) : std::nullopt;
      if (!answer) {
        TransactionResult result = Execute(job.transaction);
        answer = loss ? loss(job.transaction) : std::nullopt;
        if (!answer) answer = std::move(result);
      }
      job.done(*std::move(answer));
    }
  }

  TransactionResult Execute(Transaction transaction) {
    const RetryPolicy policy = OurRetryPolicy();
    RunnerState runner;
    RunnerAction action =
        StartRunner(policy, runner, std::move(transaction), real_client::MonotonicNow());
    while (true) {
      if (std::holds_alternative<SendCall>(action)) {
        Response response = Serve(RequestOf(runner));
        action =
            OnReply(policy, runner, real_client::MonotonicNow(), entropy_, std::move(response));
      } else if (auto* finished = std::get_if<Finished>(&action)) {
        return std::move(finished->result);
      } else {
        throw std::logic_error("a transaction that has the model for itself waits");
      }
    }
  }

  Response Serve(const Request& request) {
    std::optional<Response> answer;
    std::optional<model::CommitStarted> commit;
    const auto apply = [&](auto call) {
      std::vector<model::DatabaseEffect> effects;
      const model::ClockReading moment = Now();
      call(std::span<const model::ClockReading>(&moment, 1), effects);
      for (model::DatabaseEffect& effect : effects) {
        if (auto* replied = std::get_if<model::Replied>(&effect)) answer = replied->response;
        if (auto* started = std::get_if<model::CommitStarted>(&effect)) {
          commit = *started;
        }
      }
    };
    const CallName name = {.process = {.node = 0, .incarnation = 1}, .generation = ++calls_};
    apply([&](auto moments, auto& out) {
      model::Serve(catalogue_, database_, name, request, moments, out);
    });
    if (commit) {
      // The commit wait: a microsecond or two.
      while (Now().truetime.earliest <= commit->commit) std::this_thread::yield();
      apply([&](auto moments, auto& out) {
        model::CommitVisible(catalogue_, database_, commit->transaction, moments, out);
      });
    }
    return answer.value();
  }
  static model::ClockReading Now() {
    const Timestamp now =
        Timestamp::FromUnixNanos(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                     std::chrono::system_clock::now().time_since_epoch())
                                     .count());
    return {.truetime = {.earliest = now, .latest = now}, .current_timestamp = now};
  }

  const model::Catalogue catalogue_;
  model::Database database_;
  uint16_t calls_ = 0;
  real_client::OsEntropy entropy_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> queue_;  // guarded by mutex_, like all members below
  Fate fate_;
  Fate loss_;
  RunId last_run_ = 0;
  bool closed_ = false;
  std::thread thread_;
};

}  // namespace whorl
