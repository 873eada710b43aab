// Reads OpenTelemetry spans and records of logs, in the JSON of OTLP, of its older names, and of Tempo.
//
// A span with the attribute whorl.lock says what its process did under that lock from its start to its
// end: whorl.event is "works" (also if it is missing) or "leads". A span with a commit timestamp
// (spanner.commit_timestamp, or whorl.commit_timestamp) is a call of Spanner. Its events with the name of
// an event of docs/CHECKING.md are lines of the process, and so are records of logs with whorl.event. Any other
// span shows that the process went on. A span that has no end may have ended at any time since it began.
// The process is the attribute whorl.id, of the span or of its resource; otherwise the resource's
// service.instance.id, k8s.pod.name or host.name. What has none of these and says nothing of a lock is of
// another service, and passed over.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "check/record_reader.h"

namespace whorl::check {

// The lists of the outermost object, of resources.
std::span<const std::string_view> OtlpLists();
// Whether it is a list within `deep` others: of resources, of scopes, or of what they recorded.
bool IsOtlpList(std::string_view name, size_t deep);
bool IsMetricsList(std::string_view name);  // of resources
bool IsLogList(std::string_view name);      // of records of a log

bool IsOtlp(const Node& object);
// What is wrong with a trace of another kind; empty if it is none.
std::string_view ForeignTrace(const Node& object);
// What is wrong with the lists of an object that stands in `deep` lists, of resources or of scopes; its known ones
// may have been read, and be empty. Throws Wrong, so that nothing under an unknown name is left out in silence.
void CheckLists(const Node& object, size_t deep);
// Throws Wrong. Metrics are left out. REQUIRES: IsOtlp(object).
void ReadOtlp(const Node& object, const Wanted& wanted, const Place& place,
              std::vector<Operation>& out);
// Throws Wrong. `resource` may be null.
void ReadSpan(const Node& span, const Node* resource, const Wanted& wanted, const Place& place,
              std::vector<Operation>& out);
void ReadLogRecord(const Node& record, const Node* resource, const Wanted& wanted,
                   const Place& place, std::vector<Operation>& out);

}  // namespace whorl::check
