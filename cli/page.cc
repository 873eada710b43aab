#include "cli/page.h"

#include <zlib.h>

#include <cstddef>
#include <cstdint>

#include "absl/strings/escaping.h"

namespace whorl::cli {

namespace {

// JSON that no reader of HTML takes for the end of its element: within JSON, '<' stands in texts only.
std::string WithoutMarkup(const std::string& json) {
  std::string text;
  text.reserve(json.size());
  for (const char c : json) {
    if (c == '<') {
      text += "\\u003c";
    } else {
      text += c;
    }
  }
  return text;
}

// As DecompressionStream("deflate") reads it: with zlib's header.
std::string Deflated(const std::string& bytes) {
  uLongf size = compressBound(bytes.size());
  std::string deflated(size, '\0');
  compress2(reinterpret_cast<Bytef*>(deflated.data()), &size,
            reinterpret_cast<const Bytef*>(bytes.data()), bytes.size(), Z_BEST_COMPRESSION);
  deflated.resize(size);
  return deflated;
}

}  // namespace

absl::Status PagesMissing() {
  if (!BuiltPage(PageKind::kRun).before.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      "this command was built without pages, so --html writes none: install esbuild "
      "(Debian's package esbuild), and build it again with ./dev build");
}

void WritePage(PageKind kind, const sim::Json& head, const std::string& bytes, std::ostream& out) {
  const PageParts page = BuiltPage(kind);
  out << page.before << "<script type=\"application/json\" id=\"head\">"
      << WithoutMarkup(sim::DumpJson(head)) << "</script>\n"
      << "<script type=\"text/plain\" id=\"data\">" << absl::Base64Escape(Deflated(bytes))
      << "</script>\n"
      << page.after;
}

}  // namespace whorl::cli
