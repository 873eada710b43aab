// Turns any bytes into calls to the backend, for the fuzz target and random tests.
#pragma once

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "protocol/spanner/answers.h"
#include "spanner_model/server/backend.h"
#include "spanner_model/server/methods.h"

namespace whorl::server {

// Serves a list of calls and aborts the process if one is not answered exactly once, or by a code with which
// Spanner does not answer it (protocol/spanner/answers.h). The bytes of
// each call: the method, the fields that are to name something that exists, the advance of time,
// the size of the request (two bytes), and the request.
class AnyCalls {
 public:
  static constexpr const char* kDatabase = "projects/p/instances/in/databases/db";

  explicit AnyCalls(BackendOptions options) : backend_(WithDatabase(std::move(options))) {
    if (!backend_.Start(now_).ok()) std::abort();
  }

  void Run(std::string_view bytes) {
    constexpr size_t kHead = 5;
    while (bytes.size() >= kHead) {
      const auto byte = [&](size_t i) { return static_cast<uint8_t>(bytes[i]); };
      const Method& method = AllMethods()[byte(0) % AllMethods().size()];
      const uint8_t hints = byte(1);
      MoveOn(Milliseconds(int64_t{byte(2)} * byte(2)));
      const size_t size = std::min<size_t>(byte(3) * size_t{256} + byte(4), bytes.size() - kHead);
      auto request = method.new_request();
      // The part that parses is the request.
      (void)request->ParsePartialFromArray(bytes.data() + kHead, static_cast<int>(size));
      bytes.remove_prefix(kHead + size);
      Hint(hints, *request);
      Call(method, std::move(request));
    }
    // No call waits for longer than a day.
    for (int i = 0; i < 48; ++i) MoveOn(Seconds(1800));
    if (!open_.empty()) std::abort();
  }

  void Call(const Method& method, MessagePtr request) {
    std::vector<CallOutcome> outcomes;
    open_.emplace(++last_tag_, &method);
    backend_.Handle(method, request, last_tag_, now_, outcomes);
    Take(outcomes);
  }
  void MoveOn(Duration duration) {
    now_ = now_ + duration;
    std::vector<CallOutcome> outcomes;
    backend_.RunDue(now_, outcomes);
    Take(outcomes);
    // The next due time is in the future, or the server would spin.
    if (const auto due = backend_.NextDue(); due && *due <= now_) std::abort();
  }

 private:
  static BackendOptions WithDatabase(BackendOptions options) {
    options.databases = {
        {.name = kDatabase,
         .statements = {"CREATE TABLE t (k STRING(MAX) NOT NULL, v INT64, ts TIMESTAMP OPTIONS "
                        "(allow_commit_timestamp = true)) PRIMARY KEY (k)"}}};
    return options;
  }

  void Take(const std::vector<CallOutcome>& outcomes) {
    for (const CallOutcome& outcome : outcomes) {
      if (!outcome.answer) {
        if (!open_.contains(outcome.tag)) std::abort();
        continue;
      }
      const auto call = open_.extract(outcome.tag);
      if (call.empty()) std::abort();
      CheckCode(*call.mapped(), outcome.answer->status);
      if (outcome.answer->status.ok() == outcome.answer->messages.empty()) std::abort();
      for (const MessagePtr& message : outcome.answer->messages) Learn(*message);
    }
  }

  static void CheckCode(const Method& method, const Status& status) {
    if (status.ok() || method.service != kSpannerService) return;
    if (MayAnswer(method.name, status.code, /*in_read_write=*/true)) return;
    (void)std::fprintf(stderr, "%s is not among the answers of %s\n", FormatStatus(status).c_str(),
                       std::string(method.name).c_str());
    std::abort();
  }

  // Remembers names and ids in answers for later calls.
  void Learn(const google::protobuf::Message& message) {
    namespace v1 = ::google::spanner::v1;
    if (const auto* session = dynamic_cast<const v1::Session*>(&message)) {
      session_ = session->name();
    } else if (const auto* begun = dynamic_cast<const v1::Transaction*>(&message)) {
      transaction_ = begun->id();
    } else if (const auto* result = dynamic_cast<const v1::ResultSet*>(&message)) {
      const std::string& id = result->metadata().transaction().id();
      if (!id.empty()) transaction_ = id;
    }
  }

  void Set(google::protobuf::Message& request, const char* field, const std::string& value) const {
    const auto* found = request.GetDescriptor()->FindFieldByName(field);
    if (found == nullptr || found->is_repeated()) return;
    if (found->cpp_type() != google::protobuf::FieldDescriptor::CPPTYPE_STRING) return;
    request.GetReflection()->SetString(&request, found, value);
  }

  void Hint(uint8_t hints, google::protobuf::Message& request) const {
    if ((hints & 1U) != 0) {
      Set(request, "session", session_);
      Set(request, "name", session_);
      Set(request, "database", kDatabase);
    }
    if ((hints & 2U) != 0) Set(request, "transaction_id", transaction_);
    if ((hints & 4U) != 0) Set(request, "table", "t");
    const auto* selector = request.GetDescriptor()->FindFieldByName("transaction");
    if ((hints & 8U) != 0 && selector != nullptr && selector->message_type() != nullptr) {
      Set(*request.GetReflection()->MutableMessage(&request, selector), "id", transaction_);
    }
  }

  Backend backend_;
  Timestamp now_ = Timestamp::FromUnixNanos(1'800'000'000'000'000'000);
  CallTag last_tag_ = 0;
  std::map<CallTag, const Method*> open_;
  std::string session_;
  std::string transaction_;
};

}  // namespace whorl::server
