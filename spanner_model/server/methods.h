// Lists the methods that the server implements, by their gRPC paths.
#pragma once

#include <google/protobuf/message.h>

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "spanner_model/server/backend.h"

namespace whorl::server {

struct Method {
  std::string_view service;  // google.spanner.v1.Spanner
  std::string_view name;     // ExecuteSql
  std::unique_ptr<google::protobuf::Message> (*new_request)();
  void (*serve)(Backend& backend, const BackendCall& call);
  // The session and the transaction that a request names; empty if it names none.
  std::string (*session_of)(const google::protobuf::Message& request);
  std::string (*transaction_of)(const google::protobuf::Message& request);
  // Plans the statements of a request; null for a method that has none.
  std::unique_ptr<PlannedRequest> (*plan)(const google::protobuf::Message& request,
                                          std::shared_ptr<const model::Schema> schema) = nullptr;
};

inline constexpr std::string_view kSpannerService = "google.spanner.v1.Spanner";

std::span<const Method> AllMethods();
// "/google.spanner.v1.Spanner/ExecuteSql"; null for a method that the server does not implement.
const Method* FindMethod(std::string_view path);

}  // namespace whorl::server
