// Holds the text of pages around their data. Its definition is written at build time
// (cmake/bundle_page.cmake), and compiles in no time as this header brings nothing along.
#pragma once

#include <cstdint>
#include <string_view>

namespace whorl::cli {

enum class PageKind : uint8_t {
  kRun,      // `whorl replay --html`
  kCompare,  // `whorl diff --html`
  kIndex,    // `whorl report --html`
  kBench,    // `whorl bench ... --html`
  kPlay,     // `whorl play`
};

// A page before and after its data; both are empty in a command that was built without pages.
struct PageParts {
  std::string_view before;
  std::string_view after;
};
PageParts BuiltPage(PageKind kind);

}  // namespace whorl::cli
