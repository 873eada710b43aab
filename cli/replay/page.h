// `whorl replay --html`: the page of a run, one file that needs nothing else (page/README.md).
//
// The page's code is built by npm's tools, which are optional: PagesMissing says whether this command
// was built without, and how to get one with.
#pragma once

#include <ostream>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "sim/report/page_model.h"

namespace whorl::cli {

// The page before and after its data; both are empty in a command that was built without pages.
struct PageParts {
  std::string_view before;
  std::string_view after;
};
PageParts BuiltPage();

// An error if this command was built without pages.
absl::Status PagesMissing();

// REQUIRES: PagesMissing() is ok.
void WritePage(const sim::PageModel::Data& data, std::ostream& out);

}  // namespace whorl::cli
