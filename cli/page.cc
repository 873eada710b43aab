#include "cli/page.h"

#include <cstddef>
#include <cstdint>

#include "absl/strings/escaping.h"

#ifdef WHORL_HAS_PAGES
#include <zlib.h>
#endif

namespace whorl::cli {

#ifdef WHORL_HAS_PAGES

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

absl::Status PagesMissing() { return absl::OkStatus(); }

void WritePage(PageKind kind, const sim::Json& head, const std::string& bytes, std::ostream& out) {
  const PageParts page = BuiltPage(kind);
  out << page.before << "<script type=\"application/json\" id=\"head\">"
      << WithoutMarkup(sim::DumpJson(head)) << "</script>\n"
      << "<script type=\"text/plain\" id=\"data\">" << absl::Base64Escape(Deflated(bytes))
      << "</script>\n"
      << page.after;
}

#else

PageParts BuiltPage(PageKind /*kind*/) { return {}; }

absl::Status PagesMissing() {
  return absl::FailedPreconditionError(
      "this command was built without pages, so --html writes none: install Node.js with npm, and "
      "zlib (Debian: nodejs, npm, zlib1g-dev), and build it again with ./dev build");
}

void WritePage(PageKind /*kind*/, const sim::Json& /*head*/, const std::string& /*bytes*/,
               std::ostream& /*out*/) {}

#endif

}  // namespace whorl::cli
