// The methods that the server has, by the path under which gRPC calls them.
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
  void (*serve)(Backend& backend, const CallInHand& call);
  // What the request says of these; empty where it says nothing.
  std::string (*session_of)(const google::protobuf::Message& request);
  std::string (*transaction_of)(const google::protobuf::Message& request);
};

inline constexpr std::string_view kSpannerService = "google.spanner.v1.Spanner";

std::span<const Method> AllMethods();
// "/google.spanner.v1.Spanner/ExecuteSql"; null for a method that the server has not.
const Method* FindMethod(std::string_view path);

}  // namespace whorl::server
