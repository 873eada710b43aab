// Generates arbitrary values for the properties of the wire.
#pragma once

#include <rapidcheck.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <ostream>
#include <string>
#include <vector>

#include "base/time.h"
#include "protocol/spanner/value.h"

namespace whorl::wire {

// Serialises and parses the message, as the wire does.
template <typename Proto>
Proto Sent(const Proto& proto) {
  Proto heard;
  RC_ASSERT(heard.ParseFromString(proto.SerializeAsString()));
  return heard;
}

inline constexpr auto kAllTypes = AllOf<Type>();

// NULL has every type.
struct TypedValue {
  Type type = Type::kString;
  Value value;

  friend std::ostream& operator<<(std::ostream& out, const TypedValue& typed) {
    return out << WordOf(typed.type) << " " << FormatValue(typed.value);
  }
};

inline rc::Gen<Timestamp> AnyTimestamp() {
  return rc::gen::exec([] {
    const int64_t seconds =
        *rc::gen::inRange(Timestamp::Min().seconds(), Timestamp::Max().seconds() + 1);
    return *Timestamp::FromParts(seconds, *rc::gen::inRange(0, 1'000'000'000));
  });
}

// UTF-8 of one to four bytes a character: proto3's strings carry nothing else.
inline rc::Gen<std::string> AnyText() {
  return rc::gen::exec([] {
    const std::vector<std::string> characters =
        *rc::gen::container<std::vector<std::string>>(rc::gen::elementOf(
            std::vector<std::string>{"a", "Z", "_", "'", std::string(1, '\0'), "\n", "\xC3\xBC",
                                     "\xE2\x82\xAC", "\xF0\x9F\x94\x92"}));
    std::string text;
    for (const std::string& character : characters) text += character;
    return text;
  });
}

inline rc::Gen<Float64> AnyFloat64() {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  return rc::gen::map(rc::gen::oneOf(rc::gen::arbitrary<double>(),
                                     rc::gen::element(kInfinity, -kInfinity, -0.0, std::nan(""))),
                      [](double number) { return Float64(number); });
}

inline rc::Gen<Value> AnyValueOf(Type type) {
  return rc::gen::exec([type]() -> Value {
    if (*rc::gen::inRange(0, 8) == 0) return Null{};
    switch (type) {
      case Type::kBool:
        return *rc::gen::arbitrary<bool>();
      case Type::kInt64:
        return *rc::gen::arbitrary<int64_t>();
      case Type::kFloat64:
        return *AnyFloat64();
      case Type::kString:
        return *AnyText();
      case Type::kBytes:
        return Bytes{*rc::gen::string<std::string>()};
      case Type::kTimestamp:
        return *AnyTimestamp();
      case Type::kDate:
        return FormatRfc3339(*AnyTimestamp()).substr(0, 10);
      case Type::kNumeric:
        return *rc::gen::element<std::string>("0", "-0.000000001", "12.5", "-7", "100");
      case Type::kJson:
        return *rc::gen::element<std::string>("null", "[1,2]", R"({"a b":" \" ,"})");
      case Type::kFloat32:
        return Float64(*rc::gen::arbitrary<float>());
      case Type::kBoolArray:
      case Type::kInt64Array:
      case Type::kFloat64Array:
      case Type::kStringArray:
      case Type::kBytesArray:
      case Type::kTimestampArray:
      case Type::kDateArray:
      case Type::kNumericArray:
      case Type::kJsonArray:
      case Type::kFloat32Array:
        break;
    }
    Array array;
    for (int i = *rc::gen::inRange(0, 3); i > 0; --i) {
      array.elements.push_back(*AnyValueOf(ElementOf(type)));
    }
    return array;
  });
}

inline rc::Gen<Type> AnyType() { return rc::gen::elementOf(kAllTypes); }

inline rc::Gen<TypedValue> AnyTypedValue() {
  return rc::gen::exec([] {
    const Type type = *AnyType();
    return TypedValue{.type = type, .value = *AnyValueOf(type)};
  });
}

}  // namespace whorl::wire
