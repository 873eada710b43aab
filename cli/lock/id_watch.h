// Notices that another process writes a lock's row under this process's id.
//
// The row is read again and again. If the lease of this id ends later by one reading than by the one
// before, and no write of this process was under way from the first to the second, another process has
// renewed it.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "real_client/lock_table.h"

namespace whorl::cli {

class IdWatch {
 public:
  IdWatch(const ProtocolInfo& protocol, std::string id, Duration lease)
      : protocol_(protocol), id_(std::move(id)), lease_(lease), pace_(lease / 2) {}

  // A transaction of this process begins and ends. `is_known`: so is its outcome.
  void Began(std::string_view step, LocalInstant now);
  void Ended(std::string_view step, bool is_known, LocalInstant now);

  // How often this process writes.
  Duration Pace() const;

  // What this process has written before the row is read.
  struct Moment {
    int64_t writes = 0;
    bool is_quiet = false;  // and none is under way
  };
  Moment Now(LocalInstant now) const;
  // What was read then. True if another process has written, for the first time.
  bool Saw(const Moment& before, const real_client::Holding& holding, LocalInstant now);

 private:
  bool Writes(std::string_view step) const;

  const ProtocolInfo& protocol_;
  const std::string id_;
  const Duration lease_;

  mutable std::mutex mutex_;  // guards what follows
  Duration pace_;
  int64_t writes_ = 0;  // begun
  int64_t under_way_ = 0;
  LocalInstant begun_;  // the last one
  // A write whose outcome is not known may still be applied until then.
  LocalInstant blind_until_;
  struct Reading {
    int64_t writes = 0;
    Timestamp until;
  };
  std::optional<Reading> first_;  // since the last write
  bool said_ = false;
};

}  // namespace whorl::cli
