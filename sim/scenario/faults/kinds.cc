#include "sim/scenario/faults/kinds.h"

#include <array>
#include <cstdlib>

#include "sim/scenario/operator_write.h"

namespace whorl::sim {
namespace {

template <typename T>
constexpr bool kIsContradicted = requires(const T& fault) { fault.ConflictingSetting(fault); };

// By kind.
constexpr auto kContradicted = []<size_t... I>(std::index_sequence<I...>) {
  return std::array{kIsContradicted<std::variant_alternative_t<I, AnyFault>>...};
}(std::make_index_sequence<kFaultKindCount>());

template <size_t... I>
AnyFault MakeOf(size_t kind, std::index_sequence<I...>) {
  AnyFault fault;
  (void)((kind == I ? (fault.emplace<I>(), true) : false) || ...);
  return fault;
}

}  // namespace

AnyFault MakeFault(FaultKind kind) {
  return MakeOf(static_cast<size_t>(kind), std::make_index_sequence<kFaultKindCount>());
}

std::optional<Duration> LastsOf(const AnyFault& fault) {
  return std::visit(
      [](const auto& kind) -> std::optional<Duration> {
        if constexpr (requires { kind.lasts; }) {
          return kind.lasts;
        } else {
          return std::nullopt;
        }
      },
      fault);
}

void SetLasts(AnyFault& fault, Duration lasts) {
  std::visit(
      [lasts](auto& kind) {
        if constexpr (requires { kind.lasts; }) kind.lasts = lasts;
      },
      fault);
}

Direction DirectionOf(const AnyFault& fault) {
  return std::visit(
      [](const auto& kind) {
        if constexpr (requires { kind.direction; }) {
          return kind.direction;
        } else {
          return Direction::kBoth;
        }
      },
      fault);
}

int64_t PercentOf(const AnyFault& fault) {
  return std::visit(
      [](const auto& kind) -> int64_t {
        if constexpr (requires { kind.percent; }) {
          return kind.percent;
        } else {
          return 100;
        }
      },
      fault);
}

std::optional<Duration> RestartAfterOf(const AnyFault& fault) {
  return std::visit(
      [](const auto& kind) -> std::optional<Duration> {
        if constexpr (requires { kind.restart_after; }) {
          return kind.restart_after;
        } else {
          return std::nullopt;
        }
      },
      fault);
}

const RowOfLock* TargetOf(const AnyFault& fault) {
  return std::visit(
      [](const auto& kind) -> const RowOfLock* {
        if constexpr (requires { kind.target; }) {
          return &kind.target;
        } else {
          return nullptr;
        }
      },
      fault);
}

RowOfLock* TargetOf(AnyFault& fault) {
  return std::visit(
      [](auto& kind) -> RowOfLock* {
        if constexpr (requires { kind.target; }) {
          return &kind.target;
        } else {
          return nullptr;
        }
      },
      fault);
}

OperatorWrite OperatorWriteOf(const AnyFault& fault, const OperatedRow& row) {
  return std::visit(
      [&row](const auto& kind) -> OperatorWrite {
        if constexpr (requires { kind.target; }) {
          return kind.Writes(row);
        } else {
          std::abort();
        }
      },
      fault);
}

bool GoesOn(const AnyFault& fault) {
  return std::visit([](const auto& kind) { return requires { kind.kUntilRunEnd; }; }, fault);
}

bool StaysSet(const AnyFault& fault) {
  return std::visit([](const auto& kind) { return requires { kind.kStaysSet; }; }, fault);
}

unsigned LeadsTo(const AnyFault& fault) {
  return std::visit(
      [](const auto& kind) -> unsigned {
        if constexpr (requires { kind.kResultingState; }) {
          return kind.kResultingState;
        } else {
          return kNoLife;
        }
      },
      fault);
}

unsigned StrikesIn(const AnyFault& fault) {
  return std::visit(
      [](const auto& kind) -> unsigned {
        if constexpr (requires { kind.StrikesIn(); }) {
          return kind.StrikesIn();
        } else {
          return kAnyLife;
        }
      },
      fault);
}

bool StrikesOneCall(const AnyFault& fault) {
  return std::visit(
      [](const auto& kind) {
        if constexpr (requires { kind.StrikesOneCall(); }) {
          return kind.StrikesOneCall();
        } else {
          return false;
        }
      },
      fault);
}

std::string DetailOf(const AnyFault& fault) {
  return std::visit(
      [](const auto& kind) -> std::string {
        if constexpr (requires { kind.Detail(); }) {
          return kind.Detail();
        } else {
          return {};
        }
      },
      fault);
}

std::string_view ConflictingSetting(const AnyFault& a, const AnyFault& b) {
  return std::visit(
      [&b]<typename T>(const T& kind) -> std::string_view {
        if constexpr (kIsContradicted<T>) {
          if (const T* other = std::get_if<T>(&b)) return kind.ConflictingSetting(*other);
        }
        return {};
      },
      a);
}

bool CanContradict(FaultKind kind) { return kContradicted[static_cast<size_t>(kind)]; }

bool SetTheSame(const AnyFault& a, const AnyFault& b) {
  return std::visit(
      [&b]<typename T>(const T& kind) {
        const T* other = std::get_if<T>(&b);
        if (other == nullptr) return false;
        if constexpr (requires { kind.lasts; }) {
          T same = *other;
          same.lasts = kind.lasts;
          return kind == same;
        } else {
          return kind == *other;
        }
      },
      a);
}

}  // namespace whorl::sim
