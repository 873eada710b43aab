// Finds the versions of a table's rows from one time to another, by reads as of exact times.
//
//   time     from    +step   +step   to
//   grid      |       |       |       |        the whole table
//   row       [..v1..][...v2....][..v3..]      read again only where two neighbours differ
//
// Between two times at which a row differs it is read once more: as of a time that the later version names,
// since a column with its commit timestamp tells at once, or else in the middle; until the two times are a
// microsecond apart, which is what commit timestamps are made of.
//
// Invariants:
//   1. A change has the commit timestamp of the transaction that made it, and the versions of the row before
//      and after it.
//   2. A change is found if the row then differs from what it was at the time before, and at the time after,
//      at which it was read. A row that changes to and fro between them, though none of its columns says when
//      it was written, looks as if it had not changed. A row that is inserted and deleted between them does,
//      too: where there may have been one, it is told as Unseen.
//   3. Changes are given in the order of their commit timestamps.
//   4. Memory: the table at two times, and the changes of the steps that are being read.
// A value without I/O: who hosts it sends the reads.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "protocol/spanner/mutation.h"
#include "protocol/spanner/value.h"

namespace whorl::real_client {

class RowVersions {
 public:
  // A read of one row as of `at`, or, without a key, of the table.
  struct Read {
    uint64_t id = 0;
    Timestamp at;
    std::optional<Value> key;
  };
  struct Change {
    Timestamp commit;
    std::optional<Row> before;  // nothing: it was inserted
    std::optional<Row> after;   // nothing: it was deleted
  };
  // A row that is there at another time was not there at `from`, nor at `to`.
  struct Unseen {
    Value key;
    Timestamp from;
    Timestamp to;
  };
  struct Found {
    std::vector<Unseen> unseen;
    std::vector<Change> changes;
  };

  // Rows have their key in `key_column`: a STRING or an INT64. REQUIRES: from < to, in whole microseconds;
  // step is a microsecond or more.
  RowVersions(size_t key_column, Timestamp from, Timestamp to, Duration step);

  // A row's key: the lock.
  static std::string TextOf(const Value& key);

  // The reads that are to be sent now, each given once. At most `most` are under way.
  std::vector<Read> TakeReads(size_t most);
  // The rows that a read has found.
  void Add(uint64_t read, std::vector<Row> rows);
  // The read was not answered, and has to be sent again.
  void Break(uint64_t read);

  // The changes that are in their place by now; each is given once.
  Found Take();
  // All changes that were committed by then have been given. Before the first read is there: the least time.
  Timestamp reached() const { return reached_; }
  bool IsDone() const { return reached_ == to_; }

 private:
  using Table = std::map<std::string, Row>;  // by the key as text
  // Two times at which a row is not the same.
  struct Gap {
    Timestamp from;
    std::optional<Row> before;
    Timestamp to;
    std::optional<Row> after;
  };
  struct Step {  // from one time of the grid to the next
    Timestamp from;
    Timestamp to;
    std::optional<Table> table;  // at `to`
    std::vector<Change> changes;
    bool is_compared = false;
    size_t open = 0;  // reads that it waits for
  };
  struct Asked {
    Timestamp at;
    uint64_t step = 0;
    std::optional<Gap> gap;  // nothing: it is of the grid
    bool is_sent = false;
  };

  void AskGrid();
  void Ask(uint64_t step, Timestamp at, std::optional<Gap> gap);
  void Compare();
  void CompareRows(uint64_t step, const Table& before, const Table& after);
  // Finds out when the row changed between the two times.
  void Resolve(uint64_t step, Gap gap);
  void Give(Change change, Found& found);
  Step& At(uint64_t step) { return steps_[step - given_]; }
  // The key of a gap's row, or of a change's.
  template <typename Two>
  const Value& KeyOf(const Two& two) const {
    return (two.after ? *two.after : *two.before)[key_column_];
  }

  const size_t key_column_;
  const Timestamp from_;
  const Timestamp to_;
  const Duration step_;
  Timestamp asked_to_;          // the last time of the grid that was asked for
  std::deque<Step> steps_;      // those that have not been given
  uint64_t given_ = 0;          // how many have
  uint64_t compared_ = 0;       // and how many have been compared
  std::optional<Table> table_;  // where the last of these ends
  std::map<uint64_t, Asked> asked_;
  uint64_t last_read_ = 0;
  size_t under_way_ = 0;
  struct Gone {  // a row that is not there any more
    Value key;
    Timestamp since;
  };
  std::map<std::string, Gone> gone_;  // by what has been given
  Timestamp reached_;
};

}  // namespace whorl::real_client
