// Represents a value of JSON, or of an equivalent text in another notation. Readers make a tree of them for each
// record and drop it with the next.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace whorl::check {

enum class NodeKind : uint8_t { kNull, kOther, kInteger, kString, kArray, kObject };

struct Node {
  NodeKind kind = NodeKind::kNull;  // kOther: a boolean, or a number that is no int64
  std::string_view name;            // as the member of an object
  std::string_view text;            // of a string; "true" or "false"
  int64_t integer = 0;
  const Node* first = nullptr;  // child of an array or object
  Node* last = nullptr;
  const Node* next = nullptr;  // with the same parent

  bool IsNull() const { return kind == NodeKind::kNull; }
  bool IsInteger() const { return kind == NodeKind::kInteger; }
  bool IsString() const { return kind == NodeKind::kString; }
  bool IsArray() const { return kind == NodeKind::kArray; }
  bool IsObject() const { return kind == NodeKind::kObject; }

  void Add(Node* child) {
    (last == nullptr ? first : last->next) = child;
    last = child;
  }

  class Iterator {
   public:
    explicit Iterator(const Node* at) : at_(at) {}
    const Node& operator*() const { return *at_; }
    Iterator& operator++() {
      at_ = at_->next;
      return *this;
    }
    friend bool operator==(Iterator, Iterator) = default;

   private:
    const Node* at_;
  };
  Iterator begin() const { return Iterator(first); }
  Iterator end() const { return Iterator(nullptr); }
};

// The member, whether null or not; nullptr if it is not there, or this is no object.
inline const Node* MemberIn(const Node* object, std::string_view name) {
  if (object == nullptr || !object->IsObject()) return nullptr;
  for (const Node& member : *object) {
    // Most names differ in their length or first letter, which costs no call.
    const bool may_be =
        member.name.size() == name.size() && (name.empty() || member.name.front() == name.front());
    if (may_be && member.name == name) return &member;
  }
  return nullptr;
}

// The first member that is there and not null, by any of its spellings; nullptr if none is.
inline const Node* Find(const Node& object, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    const Node* member = MemberIn(&object, name);
    if (member != nullptr && !member->IsNull()) return member;
  }
  return nullptr;
}
inline const Node* Find(const Node& object, std::string_view name) { return Find(object, {name}); }

// The elements if it is a list of two; nullptr otherwise.
inline std::array<const Node*, 2> PairIn(const Node& list) {
  const bool is_pair = list.IsArray() && list.first != nullptr && list.first->next == list.last &&
                       list.first != list.last;
  if (!is_pair) return {};
  return {list.first, list.last};
}

// Owns the nodes of one tree.
class Nodes {
 public:
  void Clear() {
    used_ = 0;
    texts_.clear();
  }
  Node* New(NodeKind kind) {
    if (used_ == chunks_.size() * kChunk) chunks_.push_back(std::make_unique<Node[]>(kChunk));
    Node* node = &chunks_[used_ / kChunk][used_ % kChunk];
    ++used_;
    *node = Node{.kind = kind};
    return node;
  }
  // The text lives elsewhere, as long as the tree.
  Node* NewString(std::string_view text) {
    Node* node = New(NodeKind::kString);
    node->text = text;
    return node;
  }
  std::string_view Keep(std::string text) { return texts_.emplace_back(std::move(text)); }

 private:
  static constexpr size_t kChunk = 256;
  std::vector<std::unique_ptr<Node[]>> chunks_;
  size_t used_ = 0;
  std::deque<std::string> texts_;
};

}  // namespace whorl::check
