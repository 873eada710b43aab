// Turns responses other than results into Google's protos (Encode, for a server) and back (Decode, for a client).
#pragma once

#include <vector>

#include "google/spanner/v1/commit_response.pb.h"
#include "google/spanner/v1/spanner.pb.h"
#include "google/spanner/v1/transaction.pb.h"
#include "protocol/spanner/rpc.h"
#include "wire/results.h"

namespace whorl::wire {

// The response to BeginTransaction.
v1::Transaction EncodeTransaction(const Response& response);
Status DecodeTransaction(const v1::Transaction& proto, Response& out);

// The response to Commit: a timestamp, or the precommit token with which to retry.
v1::CommitResponse EncodeCommitResponse(const Response& response);
Status DecodeCommitResponse(const v1::CommitResponse& proto, Response& out);

// The response to CreateSession and GetSession.
v1::Session EncodeSession(const SessionInfo& session);
Status DecodeSession(const v1::Session& proto, SessionInfo& out);

// The response to ExecuteBatchDml: the results of the statements (response.batch) and the batch's
// status (response.result.status). The first result names the transaction that the batch began.
// `shapes` has one entry for each result.
v1::ExecuteBatchDmlResponse EncodeBatchDmlResponse(const Response& response,
                                                   const std::vector<ResultShape>& shapes);
Status DecodeBatchDmlResponse(const v1::ExecuteBatchDmlResponse& proto, Response& out);

}  // namespace whorl::wire
