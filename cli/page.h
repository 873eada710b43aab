// Writes pages: files of HTML that need nothing else (page/README.md).
//
// Their code is bundled by esbuild, which is optional: PagesMissing says whether this command was built
// without, and how to get one with.
#pragma once

#include <ostream>
#include <string>

#include "absl/status/status.h"
#include "cli/page_parts.h"
#include "sim/report/json_print.h"

namespace whorl::cli {

// An error if this command was built without pages.
absl::Status PagesMissing();

// `bytes`: the tables that `head` describes; empty if the page has none.
// REQUIRES: PagesMissing() is ok.
void WritePage(PageKind kind, const sim::Json& head, const std::string& bytes, std::ostream& out);

}  // namespace whorl::cli
