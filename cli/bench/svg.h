// Writes SVG: shapes and escaped texts, with numbers that do not depend on the locale.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace whorl::cli {

struct Point {
  double x = 0;
  double y = 0;
};

enum class Anchor { kStart, kMiddle, kEnd };

struct TextStyle {
  std::string_view colour = "#222222";
  Anchor anchor = Anchor::kStart;
  int size = 12;
  bool bold = false;
  bool edged = false;  // has a white edge, so that it can be read on top of lines
};

class Svg {
 public:
  // Sizes and places are in pixels, from the upper left corner.
  void Rectangle(Point corner, Point size, std::string_view fill);
  void Line(Point from, Point to, std::string_view colour);
  void Curve(std::span<const Point> points, std::string_view colour, bool dashed);
  void Text(Point at, std::string_view text, const TextStyle& style = {});

  // The whole document.
  std::string Document(Point size) const;

 private:
  std::string body_;
};

}  // namespace whorl::cli
