#include "cli/bench/svg.h"

#include <array>
#include <charconv>

#include "base/text.h"

namespace whorl::cli {
namespace {

std::string Escaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        // Control characters have no place in XML.
        escaped += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    }
  }
  return escaped;
}

std::string Number(double number) {
  std::array<char, 32> text{};
  const auto [end, error] =
      std::to_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed, 1);
  return {text.data(), end};
}

std::string Attribute(std::string_view name, std::string_view value) {
  return Cat(" ", name, "=\"", Escaped(value), "\"");
}
std::string Attribute(std::string_view name, double value) {
  return Cat(" ", name, "=\"", Number(value), "\"");
}

std::string_view AnchorText(Anchor anchor) {
  if (anchor == Anchor::kMiddle) return "middle";
  return anchor == Anchor::kStart ? "start" : "end";
}

}  // namespace

void Svg::Rectangle(Point corner, Point size, std::string_view fill) {
  body_ +=
      Cat("<rect", Attribute("x", corner.x), Attribute("y", corner.y), Attribute("width", size.x),
          Attribute("height", size.y), Attribute("fill", fill), "/>\n");
}

void Svg::Line(Point from, Point to, std::string_view colour) {
  body_ += Cat("<line", Attribute("x1", from.x), Attribute("y1", from.y), Attribute("x2", to.x),
               Attribute("y2", to.y), Attribute("stroke", colour), "/>\n");
}

void Svg::Curve(std::span<const Point> points, std::string_view colour, bool dashed) {
  std::string places;
  for (const Point& point : points) {
    places += Cat(places.empty() ? "" : " ", Number(point.x), ",", Number(point.y));
  }
  body_ += Cat("<polyline", Attribute("points", places), Attribute("fill", "none"),
               Attribute("stroke", colour), Attribute("stroke-width", 2.0),
               dashed ? Attribute("stroke-dasharray", "5 3") : "", "/>\n");
}

void Svg::Text(Point at, std::string_view text, const TextStyle& style) {
  constexpr std::string_view kEdge =
      " paint-order=\"stroke\" stroke=\"#ffffff\" stroke-width=\"4\" stroke-linejoin=\"round\"";
  body_ += Cat("<text", Attribute("x", at.x), Attribute("y", at.y), Attribute("fill", style.colour),
               Attribute("font-size", std::to_string(style.size)),
               Attribute("text-anchor", AnchorText(style.anchor)),
               style.bold ? Attribute("font-weight", "bold") : "", style.edged ? kEdge : "", ">",
               Escaped(text), "</text>\n");
}

std::string Svg::Document(Point size) const {
  return Cat("<svg xmlns=\"http://www.w3.org/2000/svg\"", Attribute("width", size.x),
             Attribute("height", size.y), Attribute("font-family", "sans-serif"), ">\n",
             "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n", body_, "</svg>\n");
}

}  // namespace whorl::cli
