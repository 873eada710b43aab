// Defines L1, a model for the search: three clients compete for a lease, in whole ticks. It is small
// enough to be written for other tools, too: bench/toy_lease.pml is the same system for SPIN.
//
// A client acquires the lease when it is free or has run out, renews it, releases it, sees that its
// own has run out, pauses and resumes, crashes and restarts, and writes to a store with its token.
// Time passes up to `end`; at most `tokens` leases are given.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "sim/explore/engine/key.h"

namespace whorl::explore {

class ToyLease {
 public:
  enum class Action : uint8_t {
    kTick,  // of no client
    kAcquire,
    kRenew,
    kSeeEnd,
    kRelease,
    kPause,
    kResume,
    kCrash,
    kRestart,
    kWrite,
  };
  struct Choice {
    Action action = Action::kTick;
    uint8_t client = 0;

    friend bool operator==(const Choice&, const Choice&) = default;
  };

  enum class Mode : uint8_t { kIdle, kHolding, kPaused, kDown };
  struct Client {
    Mode mode = Mode::kIdle;
    uint8_t token = 0;
    uint8_t expiry = 0;

    friend auto operator<=>(const Client&, const Client&) = default;
  };
  static constexpr uint8_t kClients = 3;
  static constexpr uint8_t kNobody = 255;
  struct State {
    uint8_t now = 0;
    uint8_t holder = kNobody;
    uint8_t token = 0;
    uint8_t expiry = 0;
    uint8_t stored = 0;  // the greatest token that the store has seen
    std::array<Client, kClients> clients = {};
    std::array<uint8_t, 2> unused = {};

    friend auto operator<=>(const State&, const State&) = default;
  };
  static_assert(sizeof(State) == 16);

  static constexpr uint32_t kTwoHolders = 1;
  static constexpr uint32_t kStoredUngranted = 2;

  ToyLease(uint8_t end, uint8_t tokens) : end_(end), tokens_(tokens) {}

  static std::array<State, 1> Initial() { return {}; }

  template <typename Visit>
  void ForEachChoice(const State& state, Visit visit) const {
    if (state.now < end_) visit(Choice{}, 0);
    for (uint8_t i = 0; i < kClients; ++i) {
      const auto offer = [&](Action action) { visit(Choice{.action = action, .client = i}, 0); };
      const Client& client = state.clients[i];
      switch (client.mode) {
        case Mode::kIdle:
          if (IsFree(state) && state.token < tokens_) offer(Action::kAcquire);
          break;
        case Mode::kHolding:
          if (CanRenew(state, i)) offer(Action::kRenew);
          offer(state.now < client.expiry ? Action::kRelease : Action::kSeeEnd);
          offer(Action::kPause);
          if (client.token > state.stored) offer(Action::kWrite);
          break;
        case Mode::kPaused:
          offer(Action::kResume);
          break;
        case Mode::kDown:
          offer(Action::kRestart);
          break;
      }
      if (client.mode != Mode::kDown) offer(Action::kCrash);
    }
  }

  static bool Take(const State& from, const Choice& choice, State& to) {
    to = from;
    Client& client = to.clients[choice.client];
    switch (choice.action) {
      case Action::kTick:
        ++to.now;
        break;
      case Action::kAcquire:
        to.holder = choice.client;
        ++to.token;
        to.expiry = ExpiryOfNew(from);
        client = {.mode = Mode::kHolding, .token = to.token, .expiry = to.expiry};
        break;
      case Action::kRenew:
        to.expiry = client.expiry = ExpiryOfNew(from);
        break;
      case Action::kRelease:
        if (HasLease(from, choice.client)) {
          to.holder = kNobody;
          to.expiry = 0;
        }
        client = {};
        break;
      case Action::kSeeEnd:
      case Action::kRestart:
        client = {};
        break;
      case Action::kPause:
        client.mode = Mode::kPaused;
        break;
      case Action::kResume:
        client.mode = Mode::kHolding;
        break;
      case Action::kCrash:
        client = {.mode = Mode::kDown};
        break;
      case Action::kWrite:
        to.stored = client.token;
        break;
    }
    return true;
  }

  static Key128 Fingerprint(const State& state) {
    const auto words = std::bit_cast<std::array<uint64_t, 2>>(state);
    return KeyOf(words[0], words[1]);
  }

  static uint32_t Judge(const State& state) {
    int believers = 0;
    for (const Client& client : state.clients) {
      believers += client.mode == Mode::kHolding && state.now < client.expiry ? 1 : 0;
    }
    return (believers > 1 ? kTwoHolders : 0) | (state.stored > state.token ? kStoredUngranted : 0);
  }

 private:
  static constexpr uint8_t kLease = 3;

  static uint8_t ExpiryOfNew(const State& state) {
    return static_cast<uint8_t>(state.now + kLease);
  }
  static bool IsFree(const State& state) {
    return state.holder == kNobody || state.now >= state.expiry;
  }
  static bool HasLease(const State& state, uint8_t client) {
    return state.holder == client && state.clients[client].token == state.token;
  }
  static bool CanRenew(const State& state, uint8_t client) {
    return HasLease(state, client) && state.now < state.expiry &&
           state.expiry != ExpiryOfNew(state);
  }

  uint8_t end_;
  uint8_t tokens_;
};

}  // namespace whorl::explore
