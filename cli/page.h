// Writes pages: files of HTML that need nothing else (page/README.md).
//
// Their code is built by npm's tools, which are optional: PagesMissing says whether this command was
// built without, and how to get one with.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "sim/report/json_print.h"

namespace whorl::cli {

enum class PageKind : uint8_t {
  kRun,      // `whorl replay --html`
  kCompare,  // `whorl diff --html`
  kIndex,    // `whorl report --html`
  kBench,    // `whorl bench ... --html`
};

// A page before and after its data; both are empty in a command that was built without pages.
struct PageParts {
  std::string_view before;
  std::string_view after;
};
PageParts BuiltPage(PageKind kind);

// An error if this command was built without pages.
absl::Status PagesMissing();

// `bytes`: the tables that `head` describes; empty if the page has none.
// REQUIRES: PagesMissing() is ok.
void WritePage(PageKind kind, const sim::Json& head, const std::string& bytes, std::ostream& out);

}  // namespace whorl::cli
