#include "sim/explore/engine/checkpoint.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <map>
#include <string_view>
#include <vector>

#include "sim/explore/engine/key.h"
#include "sim/explore/engine/varint.h"

namespace whorl::explore {
namespace {

constexpr std::string_view kName = "whorl explore checkpoint ";
constexpr std::string_view kVersion = "2";
constexpr uint64_t kTextMax = 100'000;
constexpr uint64_t kSettingsMax = 1'000;
constexpr uint64_t kIntMax = std::numeric_limits<int>::max() / 2;
constexpr uint64_t kKeysMax = std::numeric_limits<uint32_t>::max() - 1;
constexpr uint64_t kAny = std::numeric_limits<uint64_t>::max();
// Marks the end of a shard's words. No fingerprint set contains it.
constexpr uint64_t kEndOfShard = kAny;

// A checksum of bytes, taken by words of eight.
class Checksum {
 public:
  void Add(uint8_t byte) {
    word_ |= uint64_t{byte} << (8 * (count_ % 8));
    if (++count_ % 8 == 0) Mix();
  }
  uint64_t Value() {
    Mix();
    return MixBits(sum_ ^ count_);
  }

 private:
  void Mix() {
    sum_ = MixBits((sum_ + 0x9e3779b97f4a7c15ULL) ^ word_);
    word_ = 0;
  }

  uint64_t sum_ = 0;
  uint64_t word_ = 0;
  uint64_t count_ = 0;
};

// --- writing -------------------------------------------------------------------------------------

class Writer {
 public:
  explicit Writer(std::ostream& out) : out_(out) {}

  void PutByte(uint8_t byte) {
    checksum_.Add(byte);
    Write(byte);
  }
  void Put(uint64_t number) {
    PutNumber(number, [this](uint8_t byte) { PutByte(byte); });
  }
  void Put(int number) { Put(static_cast<uint64_t>(number)); }
  void PutWord(uint64_t word) {
    for (int shift = 0; shift < 64; shift += 8) PutByte(static_cast<uint8_t>(word >> shift));
  }
  void PutText(std::string_view text) {
    Put(text.size());
    for (const char byte : text) PutByte(static_cast<uint8_t>(byte));
  }
  void EndSection() {
    const uint64_t sum = checksum_.Value();
    for (int shift = 0; shift < 64; shift += 8) Write(static_cast<uint8_t>(sum >> shift));
    checksum_ = {};
    Flush();
  }

 private:
  void Write(uint8_t byte) {
    buffer_[used_++] = static_cast<char>(byte);
    if (used_ == buffer_.size()) Flush();
  }
  void Flush() {
    out_.write(buffer_.data(), static_cast<std::streamsize>(used_));
    used_ = 0;
  }

  std::ostream& out_;
  Checksum checksum_;
  std::array<char, 1 << 16> buffer_ = {};
  size_t used_ = 0;
};

void PutFinding(const Finding& finding, Writer& out) {
  out.Put(finding.position);
  out.Put(finding.property);
  out.Put(finding.kind);
}

void PutRecord(const SearchRecord& record, Writer& out) {
  for (const int number : {record.faults, record.steps, record.is_expanding ? 1 : 0,
                           record.explored.first, record.explored.second}) {
    out.Put(number);
  }
  out.Put(record.levels.size());
  for (const FaultLevel& level : record.levels) {
    out.Put(level.states);
    out.Put(level.transitions);
    out.Put(level.steps);
  }
  for (const uint64_t states : record.violating) out.Put(states);
  out.Put(record.roots);
  out.Put(record.log.size());
  out.Put(record.batches.size());
  for (const Batch& batch : record.batches) {
    out.Put(batch.faults);
    out.Put(batch.steps);
    out.Put(batch.first);
  }
  out.Put(record.findings.size());
  for (const auto& [number, finding] : record.findings) {
    out.Put(number);
    PutFinding(finding, out);
  }
}

void PutLinks(const LinkLog& links, Writer& out) {
  uint64_t last_parent = 0;
  links.VisitFrom(0, [&](uint64_t, Link link) {
    out.Put(ZigZag(static_cast<int64_t>(link.parent() - last_parent)));
    out.Put(link.choice());
    last_parent = link.parent();
    return true;
  });
}

void PutWords(const FingerprintSet& set, Writer& out) {
  uint32_t shard = 0;
  set.ForEach([&](const FingerprintSet::Place& place) {
    for (; shard < place.shard; ++shard) out.PutWord(kEndOfShard);
    out.PutWord(place.word);
  });
  for (; shard < FingerprintSet::kShards; ++shard) out.PutWord(kEndOfShard);
}

void PutLinksBySteps(const std::map<int, LinkLog>& all, Writer& out) {
  out.Put(all.size());
  for (const auto& [steps, links] : all) {
    out.Put(steps);
    out.Put(links.size());
    PutLinks(links, out);
  }
}

void PutWaiting(const WaitingLinks& waiting, Writer& out) {
  out.Put(waiting.frontier);
  out.Put(waiting.found.size());
  PutLinks(waiting.found, out);
  out.Put(waiting.findings.size());
  for (const Finding& finding : waiting.findings) PutFinding(finding, out);
  PutLinksBySteps(waiting.waiting, out);
  PutLinksBySteps(waiting.beyond_fault, out);
}

void PutGraph(const BadGraph& bad, Writer& out) {
  out.Put(uint64_t{bad.keys().size()});
  for (uint32_t i = 0; i < bad.keys().size(); ++i) {
    out.PutWord(bad.keys()[i].high);
    out.PutWord(bad.keys()[i].low);
  }
  out.Put(uint64_t{bad.expanded()});
  uint64_t next_number = 0;
  for (uint32_t node = 0; node < bad.expanded(); ++node) {
    out.Put(bad.NumberOf(node) - next_number);
    next_number = bad.NumberOf(node) + 1;
    out.Put(uint64_t{bad.KeyNumberOf(node)});
    out.Put(bad.graph().EdgesOf(node).size());
    for (const Edge& edge : bad.graph().EdgesOf(node)) {
      out.Put(uint64_t{edge.to});
      out.Put(uint64_t{edge.classes});
    }
  }
}

}  // namespace

void WriteCheckpoint(const Settings& settings, const SearchRecord& record,
                     const WaitingLinks& waiting, const BadGraph& bad, std::ostream& out) {
  out << kName << kVersion << '\n';
  Writer writer(out);
  writer.Put(settings.size());
  for (const auto& [name, value] : settings) {
    writer.PutText(name);
    writer.PutText(value);
  }
  writer.EndSection();
  PutRecord(record, writer);
  writer.EndSection();
  PutLinks(record.log, writer);
  writer.EndSection();
  PutWords(record.known.visited, writer);
  writer.EndSection();
  PutWaiting(waiting, writer);
  writer.EndSection();
  PutGraph(bad, writer);
  writer.EndSection();
}

// --- reading -------------------------------------------------------------------------------------

namespace {

[[noreturn]] void Fail(uint64_t offset, const std::string& what) {
  throw BadCheckpoint("byte " + std::to_string(offset) + ": " + what);
}

// Reads the numbers of one section, and checks its checksum at the end. `name` is for errors.
class Section {
 public:
  Section(std::streambuf& in, uint64_t& offset, const char* name)
      : in_(in), offset_(offset), name_(name) {}

  // Throws BadCheckpoint unless `holds`.
  void Check(bool holds, const char* what) const {
    if (!holds) Fail(offset_, std::string("damaged: ") + name_ + ": " + what);
  }
  uint64_t Get(uint64_t max) {
    const uint64_t number = GetNumber([this] { return GetByte(); });
    Check(number <= max, "a number is too large");
    return number;
  }
  int GetInt(uint64_t max = kIntMax) { return static_cast<int>(Get(max)); }
  uint64_t GetWord() {
    uint64_t word = 0;
    for (int shift = 0; shift < 64; shift += 8) word |= uint64_t{GetByte()} << shift;
    return word;
  }
  std::string GetText() {
    std::string text;
    for (uint64_t left = Get(kTextMax); left > 0; --left) text += static_cast<char>(GetByte());
    return text;
  }
  void End(Checksums checksums) {
    const uint64_t sum = checksum_.Value();
    Check(GetWord() == sum || checksums == Checksums::kIgnored, "the checksum is another one");
  }

  // Reads a finding; its position has to be below `states`.
  Finding GetFinding(uint64_t states) {
    Check(states > 0, "a violation in no state");
    Finding finding;
    finding.position = Get(states - 1);
    finding.property = GetInt(kMaxProperties - 1);
    finding.kind = Get(kAny);
    return finding;
  }

  // Reads `count` links, and appends them. Their parents have to be below `end` and must not decrease.
  void GetLinks(uint64_t count, uint64_t end, LinkLog& links) {
    uint64_t least = 0;
    for (; count > 0; --count) {
      const uint64_t parent = last_parent_ + static_cast<uint64_t>(UnZigZag(Get(kAny)));
      const uint64_t choice = Get(Link::kChoices - 1);
      Check(parent < end, "a link to no earlier state");
      Check(parent >= least, "links out of order");
      links.Append({parent, choice});
      last_parent_ = least = parent;
    }
  }
  // Begins a log whose links do not continue those of the log before.
  void BeginLinks() { last_parent_ = 0; }

 private:
  uint8_t GetByte() {
    const int byte = in_.sbumpc();
    if (byte == std::char_traits<char>::eof()) {
      Fail(offset_, std::string("cut off: ") + name_ + ": more was to follow");
    }
    ++offset_;
    checksum_.Add(static_cast<uint8_t>(byte));
    return static_cast<uint8_t>(byte);
  }

  std::streambuf& in_;
  uint64_t& offset_;
  const char* name_;
  Checksum checksum_;
  uint64_t last_parent_ = 0;
};

void GetRecord(Section& in, SearchRecord& record, uint64_t& states) {
  record.faults = in.GetInt();
  record.steps = in.GetInt();
  record.is_expanding = in.GetInt(1) == 1;
  record.explored.first = in.GetInt();
  record.explored.second = in.GetInt();
  const uint64_t levels = in.Get(kIntMax);
  in.Check(levels == static_cast<uint64_t>(record.faults) + 1, "another number of levels");
  for (uint64_t i = 0; i < levels; ++i) {
    FaultLevel& level = record.levels.emplace_back();
    level.states = in.Get(kAny);
    level.transitions = in.Get(kAny);
    level.steps = in.GetInt();
  }
  for (uint64_t& violating : record.violating) violating = in.Get(kAny);
  record.roots = in.Get(Link::kChoices);
  states = in.Get(Link::kStates);
  in.Check((record.roots > 0) == (states > 0) && record.roots <= states, "no initial states");
  for (uint64_t left = in.Get(states); left > 0; --left) {
    Batch batch;
    batch.faults = in.GetInt();
    batch.steps = in.GetInt();
    batch.first = in.Get(states - 1);
    const bool is_next = record.batches.empty() ? batch.first == 0 && batch.steps == 0
                                                : batch.first > record.batches.back().first;
    in.Check(is_next, "levels out of order");
    record.batches.push_back(batch);
  }
  in.Check(record.batches.empty() == (states == 0), "states in no level");
  for (uint64_t left = in.Get(states * kMaxProperties); left > 0; --left) {
    in.Check(states > 0, "a violation in no state");
    const uint64_t number = in.Get(states - 1);
    record.findings.emplace_back(number, in.GetFinding(Link::kStates));
  }
}

// Reads the log's links: those of the initial states, and then batch by batch.
void GetLog(Section& in, uint64_t states, SearchRecord& record) {
  for (size_t i = 0; i < record.batches.size(); ++i) {
    const uint64_t first = record.batches[i].first;
    const uint64_t end = i + 1 < record.batches.size() ? record.batches[i + 1].first : states;
    if (i == 0) in.Check(end == record.roots, "another number of initial states");
    in.GetLinks(end - first, i == 0 ? 1 : first, record.log);
  }
}

void GetWords(Section& in, FingerprintSet& set) {
  std::vector<uint64_t> words;
  for (uint32_t shard = 0; shard < FingerprintSet::kShards; ++shard) {
    words.clear();
    for (uint64_t word = in.GetWord(); word != kEndOfShard; word = in.GetWord()) {
      in.Check(words.empty() || word > words.back(), "fingerprints out of order");
      words.push_back(word);
    }
    set.SetShard(shard, words);
  }
}

void GetLinksBySteps(Section& in, uint64_t end, std::map<int, LinkLog>& all) {
  for (uint64_t left = in.Get(kIntMax); left > 0; --left) {
    const int steps = in.GetInt();
    in.Check(all.empty() || steps > all.rbegin()->first, "steps out of order");
    const uint64_t count = in.Get(Link::kStates);
    in.BeginLinks();
    in.GetLinks(count, end, all[steps]);
  }
}

void GetWaiting(Section& in, const SearchRecord& record, WaitingLinks& waiting) {
  const uint64_t states = record.log.size();
  waiting.frontier = in.Get(states);
  const uint64_t expanded = states - waiting.frontier;
  const uint64_t found = in.Get(Link::kStates);
  in.BeginLinks();
  in.GetLinks(found, expanded, waiting.found);
  for (uint64_t left = in.Get(found * kMaxProperties); left > 0; --left) {
    waiting.findings.push_back(in.GetFinding(found));
  }
  GetLinksBySteps(in, expanded, waiting.waiting);
  GetLinksBySteps(in, expanded, waiting.beyond_fault);
  in.Check(record.known.visited.size() == states + found, "another number of fingerprints");
}

void GetKeys(Section& in, const FingerprintSet& visited, BadGraph& bad) {
  const uint64_t count = in.Get(std::min(visited.size(), kKeysMax));
  for (uint64_t i = 0; i < count; ++i) {
    Key128 key;
    key.high = in.GetWord();
    key.low = in.GetWord();
    in.Check(visited.Contains(FingerprintSet::PlaceOf(key)), "a state that was not visited");
    in.Check(bad.AddKey(key) == i, "a state stands there twice");
  }
}

// REQUIRES: `record` and `waiting` are read.
void GetGraph(Section& in, const SearchRecord& record, const WaitingLinks& waiting, BadGraph& bad) {
  GetKeys(in, record.known.visited, bad);
  const uint32_t keys = bad.keys().size();
  const uint64_t expanded = record.log.size() - waiting.frontier;
  std::vector<bool> is_known(keys);
  uint64_t next_number = 0;
  for (uint64_t left = in.Get(std::min<uint64_t>(keys, expanded)); left > 0; --left) {
    const uint64_t skipped = in.Get(kAny);
    in.Check(next_number < expanded && skipped < expanded - next_number, "a state not expanded");
    const uint64_t number = next_number + skipped;
    next_number = number + 1;
    const auto key = static_cast<uint32_t>(in.Get(keys - 1));
    in.Check(!is_known[key], "a state stands there twice");
    is_known[key] = true;
    for (uint64_t edges = in.Get(Link::kChoices); edges > 0; --edges) {
      Edge edge;
      edge.to = static_cast<uint32_t>(in.Get(keys - 1));
      edge.classes = static_cast<uint32_t>(in.Get(std::numeric_limits<uint32_t>::max()));
      bad.AddEdge(edge);
    }
    bad.EndState(number, key);
  }
}

}  // namespace

Settings CheckpointReader::ReadSettings() {
  std::string line;
  constexpr size_t kLineMax = 60;
  for (int byte = in_.sbumpc(); byte != std::char_traits<char>::eof() && byte != '\n';
       byte = in_.sbumpc()) {
    line += static_cast<char>(byte);
    if (line.size() > kLineMax) break;
  }
  const std::string version = line.starts_with(kName) ? line.substr(kName.size()) : "";
  const bool is_number =
      !version.empty() && version.find_first_not_of("0123456789") == std::string::npos;
  if (!is_number) Fail(0, "no checkpoint of whorl explore");
  if (version != kVersion) {
    Fail(0, "a checkpoint of version " + version + ", and this program reads version " +
                std::string(kVersion));
  }
  offset_ = line.size() + 1;
  Section section(in_, offset_, "the settings");
  Settings settings;
  for (uint64_t left = section.Get(kSettingsMax); left > 0; --left) {
    std::string name = section.GetText();
    settings.emplace_back(std::move(name), section.GetText());
  }
  section.End(checksums_);
  return settings;
}

Checkpoint CheckpointReader::ReadSearch() {
  Checkpoint checkpoint;
  SearchRecord& record = checkpoint.record;
  uint64_t states = 0;
  Section counts(in_, offset_, "the counts");
  GetRecord(counts, record, states);
  counts.End(checksums_);
  Section links(in_, offset_, "the links");
  GetLog(links, states, record);
  links.End(checksums_);
  Section words(in_, offset_, "the fingerprints");
  GetWords(words, record.known.visited);
  words.End(checksums_);
  Section waiting(in_, offset_, "the states that wait");
  GetWaiting(waiting, record, checkpoint.waiting);
  waiting.End(checksums_);
  Section graph(in_, offset_, "the graph");
  GetGraph(graph, record, checkpoint.waiting, checkpoint.bad);
  graph.End(checksums_);
  if (in_.sgetc() != std::char_traits<char>::eof())
    Fail(offset_, "damaged: something follows the end");
  return checkpoint;
}

}  // namespace whorl::explore
