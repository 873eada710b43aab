// Reads OpenTelemetry spans, in the JSON of OTLP.
//
// A span with the attribute whorl.lock says what its process did under that lock from its start to its
// end: whorl.event is "works" (also if it is missing) or "leads". A span with a commit timestamp
// (spanner.commit_timestamp, or whorl.commit_timestamp) is a call of Spanner. Its events with the name of
// an event of docs/CHECKING.md are lines of the process. Any other span shows that the process went on.
// The process is the attribute whorl.id, of the span or of its resource; otherwise the resource's
// service.instance.id, k8s.pod.name or host.name.
#pragma once

#include <vector>

#include "check/record_reader.h"

namespace whorl::check {

bool IsOtlp(const Node& object);
// Throws Wrong. Logs and metrics are left out. REQUIRES: IsOtlp(object).
void ReadOtlp(const Node& object, const Wanted& wanted, const Place& place,
              std::vector<Operation>& out);

}  // namespace whorl::check
