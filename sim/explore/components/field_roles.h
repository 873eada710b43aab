// Adds a struct to a canonical form field by field, where each field has a role.
//
//   AddFields(form, call,
//             Plain<&Call::name>(),                             // added as its type says
//             OnlyIf(is_alive, Plain<&Call::deadline>()),
//             Custom<&Call::request>([&](const Request& request) { .. }),
//             Elsewhere<&Call::response>("with its message"),   // another line adds it
//             Ignored<&Call::timeout>("an index"));             // cannot matter; the text says why
//
// Invariants:
//   1. Each field of WHORL_FIELDS has one role. A field without a role, or with two, does not compile: a field
//      that a form left out by mistake would make a search merge states with different futures.
//   2. Fields are added in the order of the roles.
// A struct needs no roles if each of its fields is added as the field's type says. FieldAdder adds such structs.
#pragma once

#include <cstddef>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "protocol/spanner/fields.h"

namespace whorl::sim {

namespace field_roles_internal {

template <auto kMember>
struct Name {};

template <typename Role, typename... Roles>
inline constexpr int kHowOften =
    (0 + ... + (std::is_same_v<Name<Role::kMember>, Name<Roles::kMember>> ? 1 : 0));

template <auto kItsMember, typename AddField>
struct Role {
  static constexpr auto kMember = kItsMember;
  AddField add;  // (form, field)
};
template <auto kMember, typename AddField>
constexpr Role<kMember, AddField> MakeRole(AddField add) {
  return {.add = std::move(add)};
}

}  // namespace field_roles_internal

// --- roles ---------------------------------------------------------------------------------------

// Adds the field as its type says: an instant, a serial, a transaction's id, a number, or a struct of these.
template <auto kMember>
constexpr auto Plain() {
  return field_roles_internal::MakeRole<kMember>(
      [](auto& form, const auto& field) { form.Add(field); });
}
// Adds a node or a fault, to which a search may give another name.
template <auto kMember>
constexpr auto NodeName() {
  return field_roles_internal::MakeRole<kMember>(
      [](auto& form, const auto& field) { form.AddNode(field); });
}
template <auto kMember>
constexpr auto FaultName() {
  return field_roles_internal::MakeRole<kMember>(
      [](auto& form, const auto& field) { form.AddFault(field); });
}
template <auto kMember>
constexpr auto OptionalFaultName() {
  return field_roles_internal::MakeRole<kMember>([](auto& form, const auto& field) {
    form.AddWord(field ? 1 : 0);
    if (field) form.AddFault(*field);
  });
}
// Adds the field by `add(field)`, which adds only what matters.
template <auto kMember, typename AddField>
constexpr auto Custom(AddField add) {
  return field_roles_internal::MakeRole<kMember>(
      [add](auto& /*form*/, const auto& field) { add(field); });
}
template <auto kMember>
constexpr auto Elsewhere(std::string_view /*where*/) {
  return field_roles_internal::MakeRole<kMember>([](auto& /*form*/, const auto& /*field*/) {});
}
template <auto kMember>
constexpr auto Ignored(std::string_view /*why*/) {
  return field_roles_internal::MakeRole<kMember>([](auto& /*form*/, const auto& /*field*/) {});
}
// Adds the field as the given role does; timestamps in it are tokens.
template <typename ItsRole>
constexpr auto AsTokens(ItsRole role) {
  return field_roles_internal::MakeRole<ItsRole::kMember>([role](auto& form, const auto& field) {
    using Times = typename std::remove_reference_t<decltype(form)>::Times;
    form.SetTimes(Times::kTokens);
    role.add(form, field);
    form.SetTimes(Times::kInstants);
  });
}
template <auto kMember>
constexpr auto Tokens() {
  return AsTokens(Plain<kMember>());
}
// Adds the field as the given role does if the condition holds; otherwise the field is ignored.
template <typename ItsRole>
constexpr auto OnlyIf(bool matters, ItsRole role) {
  return field_roles_internal::MakeRole<ItsRole::kMember>(
      [matters, role](auto& form, const auto& field) {
        if (matters) role.add(form, field);
      });
}

// --- adding --------------------------------------------------------------------------------------

template <HasFields T, typename... Roles>
inline constexpr bool kEachFieldHasOneRole =
    std::tuple_size_v<decltype(T::Tie(std::declval<const T&>()))> == sizeof...(Roles) &&
    (... && (field_roles_internal::kHowOften<Roles, Roles...> == 1));

template <typename Form, HasFields T, typename... Roles>
constexpr void AddFields(Form& form, const T& value, const Roles&... roles) {
  static_assert(kEachFieldHasOneRole<T, Roles...>,
                "a field of this struct has no role in its canonical form, or it has two "
                "(sim/explore/components/field_roles.h): does what can happen next depend on it?");
  (roles.add(form, value.*Roles::kMember), ...);
}

}  // namespace whorl::sim
