#include "check/edn_lines.h"

#include <charconv>
#include <optional>
#include <utility>

#include "base/text.h"

namespace whorl::check {
namespace {

struct Broken {
  size_t at = 0;
  std::string text;
};

bool EndsAtom(char c) {
  return std::string_view(" \t\r\n,()[]{}\";").find(c) != std::string_view::npos;
}

class Parser {
 public:
  Parser(std::string_view text, Nodes& nodes) : text_(text), nodes_(nodes) {}

  // Whether another value begins.
  bool HasMore() {
    Skip();
    return at_ < text_.size();
  }

  Node* Value() {
    constexpr int kDeepest = 64;
    if (depth_ > kDeepest) throw Broken{at_, "is nested more deeply than any history"};
    ++depth_;
    Node* value = Deeper();
    --depth_;
    return value;
  }

 private:
  Node* Deeper() {
    if (!HasMore()) throw Broken{at_, "ends within a value"};
    switch (text_[at_]) {
      case '{':
        ++at_;
        return Map();
      case '[':
        ++at_;
        return List(']');
      case '(':
        ++at_;
        return List(')');
      case '"':
        return String();
      case '\\':
        ++at_;
        return Text(Atom(/*least=*/1));
      case '#':
        return Dispatch();
      case ':':
        ++at_;
        return Text(Atom(/*least=*/1));
      default:
        return Scalar();
    }
  }

  // Spaces, comments, and values that are to be left out.
  void Skip() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == ';') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (text_.substr(at_).starts_with("#_")) {
        at_ += 2;
        Value();
      } else if (c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == ',') {
        ++at_;
      } else {
        return;
      }
    }
  }

  bool Closes(char bracket) {
    if (!HasMore()) throw Broken{at_, Cat("ends before its ", std::string(1, bracket))};
    if (text_[at_] != bracket) return false;
    ++at_;
    return true;
  }

  Node* Map() {
    Node* map = nodes_.New(NodeKind::kObject);
    while (!Closes('}')) {
      const Node* key = Value();
      if (key->IsInteger()) key = Kept(std::to_string(key->integer));
      Node* value = Value();
      if (!key->IsString()) continue;  // nobody asks for it
      value->name = key->text;
      map->Add(value);
    }
    return map;
  }

  Node* List(char bracket) {
    Node* list = nodes_.New(NodeKind::kArray);
    while (!Closes(bracket)) list->Add(Value());
    return list;
  }

  // A set, or what a tag stands before.
  Node* Dispatch() {
    ++at_;
    if (at_ < text_.size() && text_[at_] == '{') {
      ++at_;
      return List('}');
    }
    if (at_ < text_.size() && text_[at_] == '#') {
      ++at_;  // ##NaN, ##Inf
      Node* number = nodes_.New(NodeKind::kOther);
      Atom(/*least=*/1);
      return number;
    }
    Atom(/*least=*/1);
    return Value();
  }

  std::string_view Atom(size_t least) {
    const size_t begins = at_;
    while (at_ < text_.size() && (at_ < begins + least || !EndsAtom(text_[at_]))) ++at_;
    if (at_ == begins) throw Broken{at_, "wants a name here"};
    return text_.substr(begins, at_ - begins);
  }

  Node* Text(std::string_view text) { return nodes_.NewString(text); }
  Node* Kept(std::string text) { return Text(nodes_.Keep(std::move(text))); }

  Node* String() {
    std::string text;
    const size_t begins = at_;
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      char c = text_[at_];
      if (c == '\\' && at_ + 1 < text_.size()) {
        c = text_[++at_];
        if (c == 'n') c = '\n';
        if (c == 't') c = '\t';
        if (c == 'r') c = '\r';
      }
      text += c;
    }
    if (at_ >= text_.size()) throw Broken{begins, "a string that begins here does not end"};
    ++at_;
    return Kept(std::move(text));
  }

  Node* Scalar() {
    const std::string_view atom = Atom(/*least=*/0);
    if (atom == "nil") return nodes_.New(NodeKind::kNull);
    if (atom == "true" || atom == "false") {
      Node* boolean = nodes_.New(NodeKind::kOther);
      boolean->text = atom;
      return boolean;
    }
    std::string_view digits = atom;
    if (digits.ends_with('N')) digits.remove_suffix(1);
    if (digits.starts_with('+')) digits.remove_prefix(1);
    int64_t number = 0;
    const char* const end = digits.data() + digits.size();
    const auto read = std::from_chars(digits.data(), end, number);
    if (read.ec != std::errc() || read.ptr != end || digits.empty()) return Text(atom);
    Node* integer = nodes_.New(NodeKind::kInteger);
    integer->integer = number;
    return integer;
  }

  std::string_view text_;
  size_t at_ = 0;
  int depth_ = 0;
  Nodes& nodes_;
};

}  // namespace

void EdnLines::Take(std::string_view text, const TextAt& at) {
  const size_t had = out_->size();
  nodes_.Clear();
  Parser parser(text, nodes_);
  try {
    while (parser.HasMore()) {
      RecordReader(protocol_, wanted_, at.place, *out_, {.jepsen = &jepsen_}).Read(*parser.Value());
    }
  } catch (const Broken& broken) {
    out_->resize(had);
    wrong_.push_back(Cat(at.WhereIs(text, broken.at), ": is no EDN: ", broken.text));
  } catch (const Wrong& wrong) {
    out_->resize(had);
    wrong_.push_back(Cat(at.WhereIs({}, 0), ": ", wrong.text));
  }
}

void EdnLines::Cut() {
  wrong_.push_back(
      Cat(elements_.Abandon().WhereIs({}, 0), ": is no EDN: what begins here does not end"));
}

bool EdnLines::BeginsAnew(std::string_view line) {
  const bool may_be =
      elements_.is_open_at_top() && (line.starts_with("{:") || line.starts_with("#jepsen"));
  if (!may_be) return false;
  try {
    nodes_.Clear();
    Parser parser(line, nodes_);
    if (!parser.HasMore() || !parser.Value()->IsObject() || parser.HasMore()) return false;
  } catch (const Broken&) {
    return false;
  }
  Cut();
  return true;
}

std::string EdnLines::Said() { return wanted_.Counts().RefuseButLast(std::exchange(wrong_, {})); }

std::string EdnLines::Part(std::string_view part, const Place& place, std::vector<Operation>& out) {
  out_ = &out;
  elements_.Add(part, place, column_);
  column_ += static_cast<int64_t>(part.size());
  return Said();
}

std::string EdnLines::Read(std::string_view line, const Place& place, std::vector<Operation>& out) {
  out_ = &out;
  const int64_t column = std::exchange(column_, 1);
  if (column == 1) (void)BeginsAnew(line);
  elements_.Add(line, place, column);
  elements_.EndLine();
  return Said();
}

std::string EdnLines::Finish() {
  if (elements_.is_open()) Cut();
  return Said();
}

}  // namespace whorl::check
