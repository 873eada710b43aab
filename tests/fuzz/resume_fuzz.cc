// libFuzzer's entry: any JSON as the file of `whorl check --resume`, and what goes on with it. The members that
// say whose file it is are put in, so that the others are read.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "cli/check/judgement.h"
#include "cli/check/request.h"
#include "cli/check/resume.h"
#include "protocol/protocols.h"
#include "sim/report/json_print.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace whorl;  // NOLINT(google-build-using-namespace)
  cli::CheckRequest request;
  request.protocol = "spindle_v2";
  request.database.name = "d";
  request.database.stream = "s";
  request.resume_path = "fuzz";
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::optional<cli::Resumed> resumed;
  (void)cli::ParseResume(text, request, resumed);
  sim::Json json = sim::Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return 0;
  json.update(cli::ResumeHead(request));
  resumed.reset();
  if (!cli::ParseResume(sim::DumpJson(json), request, resumed).ok() || !resumed) return 0;
  // Nothing is written, since the stream comes no further.
  cli::Judgement judgement(*FindProtocol(request.protocol), request,
                           std::make_shared<check::RecordCounts>());
  judgement.GoOn(*std::move(resumed));
  (void)judgement.News();
  (void)judgement.Verdict();
  return 0;
}
