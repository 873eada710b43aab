// libFuzzer's entry: any answers to the reads that look for the versions of a table's rows. A server may say
// one thing now and another thing then: the search has to end, and to give its changes in order.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "real_client/row_versions.h"

namespace {

class Chances {
 public:
  Chances(const uint8_t* data, size_t size) : data_(data), size_(size) {}
  uint8_t Next() { return at_ < size_ ? data_[at_++] : uint8_t{0}; }
  bool IsEmpty() const { return at_ >= size_; }

 private:
  const uint8_t* data_;
  size_t size_;
  size_t at_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace whorl;  // NOLINT(google-build-using-namespace)
  Chances bytes(data, size);
  const auto at = [](int64_t micros) { return Timestamp::FromUnixNanos(micros * 1'000); };
  const int64_t length = 1 + bytes.Next() * 16;
  real_client::RowVersions versions(/*key_column=*/0, at(1'000), at(1'000 + length),
                                    Microseconds(1 + bytes.Next() * 8));
  const auto row = [&](uint8_t what) {
    // Of four keys; a value of few; and a time that may be one that names the commit.
    return Row{Value("k" + std::to_string(what % 4)), Value(int64_t{what / 4 % 4}),
               what >= 128 ? Value(at(1'000 + bytes.Next() * 16)) : Value(Null{})};
  };
  Timestamp last = Timestamp::Min();
  constexpr int kReadsMost = 100'000;
  for (int reads = 0; !versions.IsDone(); ++reads) {
    if (reads > kReadsMost) abort();  // it does not end
    for (const auto& read : versions.TakeReads(/*most=*/3)) {
      const uint8_t what = bytes.Next();
      if (what % 16 == 15 && !bytes.IsEmpty()) {
        versions.Break(read.id);
        continue;
      }
      std::vector<Row> rows;
      if (read.key) {
        if (what % 2 == 0) {
          rows.push_back(row(what));
          rows.back()[0] = *read.key;
        }
      } else {
        for (int i = 0; i < what % 4; ++i) rows.push_back(row(bytes.Next()));
      }
      versions.Add(read.id, std::move(rows));
    }
    for (const auto& change : versions.Take().changes) {
      if (change.commit < last || change.commit > versions.reached()) abort();
      last = change.commit;
    }
  }
  return 0;
}
