#include "sim/report/timeline_layout.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "base/text.h"
#include "base/time.h"

namespace whorl::sim {
namespace {

constexpr size_t kTimeWidth = 12;  // a day in seconds, with microseconds
constexpr size_t kTextStart = kTimeWidth + 2;
constexpr size_t kScreenMin = 60;
constexpr size_t kNodeMin = 16;  // "| belief lapsed" and a blank
constexpr size_t kNodeWanted = 18;
constexpr size_t kSpannerMin = 22;
constexpr size_t kSpannerMax = 34;
constexpr size_t kNameMax = 24;  // length of a node's name, if each line names its node

constexpr std::string_view kLegend = "| runs   # believes that it leads";
constexpr std::string_view kLegendOfPauses = "   : paused   % paused, and still believes";

char MarkOf(Lane lane) { return " |#:%"[static_cast<size_t>(lane)]; }

std::string_view ColourOf(Tone tone) {
  switch (tone) {
    case Tone::kGood:
      return "\x1b[32m";
    case Tone::kBad:
      return "\x1b[31m";
    case Tone::kWarning:
      return "\x1b[33m";
    case Tone::kPlain:
      break;
  }
  return {};
}

std::string TimeCell(Instant at) {
  const std::string text = FormatSeconds({at.ns}, 6);
  return std::string(kTimeWidth - std::min(kTimeWidth, text.size()), ' ') + text;
}

// Where to break `text`, which is longer than `width`: before a blank, otherwise after an
// underscore (as in takeover_insert), otherwise at `width`.
size_t EndOfPiece(std::string_view text, size_t width) {
  const size_t blank = text.rfind(' ', width);
  if (blank != std::string_view::npos && blank > 0) return blank;
  const size_t underscore = text.rfind('_', width - 1);
  return underscore == std::string_view::npos ? width : underscore + 1;
}

// Splits `text` into pieces of at most `width`.
std::vector<std::string_view> Wrap(std::string_view text, size_t width) {
  std::vector<std::string_view> pieces;
  while (text.size() > width) {
    const size_t end = EndOfPiece(text, width);
    pieces.push_back(text.substr(0, end));
    text.remove_prefix(end);
    if (text.starts_with(' ')) text.remove_prefix(1);
  }
  pieces.push_back(text);
  return pieces;
}

class Layout {
 public:
  Layout(const std::vector<std::string>& nodes, const TimelineStyle& style, std::ostream& out)
      : nodes_(nodes),
        colour_(style.colour),
        legend_(Cat(kLegend, style.tells_pauses ? kLegendOfPauses : "")),
        width_(std::max(kScreenMin, static_cast<size_t>(std::max(style.width, 0)))),
        lanes_(nodes.size(), Lane::kAbsent),
        out_(out) {
    const size_t room = width_ - kTextStart;
    const size_t wanted = nodes.size() * kNodeWanted;
    spanner_width_ = std::clamp(room > wanted ? room - wanted : 0, kSpannerMin, kSpannerMax);
    node_width_ = nodes.empty() ? 0 : (room - spanner_width_) / nodes.size();
    has_columns_ = node_width_ >= kNodeMin;
    if (!has_columns_) PlaceNames();
  }

  void PrintHead() {
    std::string row(width_, ' ');
    row[kTimeWidth - 1] = 's';
    if (has_columns_) {
      Put("spanner", kTextStart, row);
      for (size_t i = 0; i < nodes_.size(); ++i) {
        Put(std::string_view(nodes_[i]).substr(0, node_width_ - 3), NodeStart(i) + 2, row);
      }
    } else {
      Put("node", kTextStart, row);
    }
    Print(row, 0, 0, Tone::kPlain);
    for (const std::string_view piece : Wrap(legend_, width_ - kTextStart)) {
      out_ << std::string(kTextStart, ' ') << piece << '\n';
    }
  }

  void PrintLine(const TimelineLine& line) {
    const bool is_node = line.node >= 0 && static_cast<size_t>(line.node) < nodes_.size();
    if (is_node) lanes_[static_cast<size_t>(line.node)] = line.lane;
    const size_t start = TextStart(line, is_node);
    bool first = true;
    for (const std::string_view piece : Wrap(line.text, width_ - start)) {
      std::string row = Background(line, is_node, first);
      if (first) Put(TimeCell(line.at), 0, row);
      Put(piece, start, row);
      // A mark directly after the text would look like its last letter.
      if (start + piece.size() < width_) row[start + piece.size()] = ' ';
      Print(row, start, piece.size(), line.tone);
      first = false;
    }
  }

 private:
  void PlaceNames() {
    name_width_ = std::string_view("spanner").size();
    for (const std::string& node : nodes_) name_width_ = std::max(name_width_, node.size());
    name_width_ = std::min(name_width_, kNameMax);
  }

  size_t NodeStart(size_t node) const { return kTextStart + spanner_width_ + node * node_width_; }

  size_t TextStart(const TimelineLine& line, bool is_node) const {
    if (line.node == TimelineLine::kAll) return kTextStart;
    if (!has_columns_) return kTextStart + name_width_ + 3;
    return is_node ? NodeStart(static_cast<size_t>(line.node)) + 2 : kTextStart;
  }

  // What is drawn behind the text: the marks of all lanes, or the name of the line's node; nothing
  // if the text extends across all columns.
  std::string Background(const TimelineLine& line, bool is_node, bool first) const {
    std::string row(width_, ' ');
    if (line.node == TimelineLine::kAll) return row;
    if (has_columns_) {
      for (size_t i = 0; i < nodes_.size(); ++i) row[NodeStart(i)] = MarkOf(lanes_[i]);
    } else if (is_node) {
      const auto node = static_cast<size_t>(line.node);
      if (first) Put(std::string_view(nodes_[node]).substr(0, name_width_), kTextStart, row);
      row[kTextStart + name_width_ + 1] = MarkOf(lanes_[node]);
    } else if (line.node == TimelineLine::kSpanner && first) {
      Put("spanner", kTextStart, row);
    }
    return row;
  }

  static void Put(std::string_view text, size_t at, std::string& row) {
    const size_t size = std::min(text.size(), row.size() - at);
    row.replace(at, size, text.substr(0, size));
  }

  // The `size` characters from `start` on are the text; only they are coloured.
  void Print(const std::string& row, size_t start, size_t size, Tone tone) {
    const std::string_view used = std::string_view(row).substr(0, row.find_last_not_of(' ') + 1);
    const std::string_view colour = colour_ ? ColourOf(tone) : std::string_view();
    if (colour.empty()) {
      out_ << used << '\n';
      return;
    }
    out_ << row.substr(0, start) << colour << row.substr(start, size) << "\x1b[0m"
         << used.substr(std::min(used.size(), start + size)) << '\n';
  }

  const std::vector<std::string>& nodes_;
  bool colour_;
  std::string legend_;
  size_t width_;
  size_t spanner_width_ = 0;
  size_t node_width_ = 0;
  bool has_columns_ = false;
  size_t name_width_ = 0;
  std::vector<Lane> lanes_;
  std::ostream& out_;
};

}  // namespace

void PrintTimelineLines(const std::vector<std::string>& nodes,
                        const std::vector<TimelineLine>& lines, const TimelineStyle& style,
                        std::ostream& out) {
  Layout layout(nodes, style, out);
  layout.PrintHead();
  for (const TimelineLine& line : lines) layout.PrintLine(line);
}

}  // namespace whorl::sim
