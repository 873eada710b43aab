// Answers other than results, as Google's protos: Encode for a server, Decode for a client.
#pragma once

#include <vector>

#include "google/spanner/v1/commit_response.pb.h"
#include "google/spanner/v1/spanner.pb.h"
#include "google/spanner/v1/transaction.pb.h"
#include "protocol/spanner/rpc.h"
#include "wire/results.h"

namespace whorl::wire {

// Of BeginTransaction.
v1::Transaction EncodeTransaction(const Response& response);
Status DecodeTransaction(const v1::Transaction& proto, Response& out);

// Of Commit: a timestamp, or the token to try again with.
v1::CommitResponse EncodeCommitResponse(const Response& response);
Status DecodeCommitResponse(const v1::CommitResponse& proto, Response& out);

// Of CreateSession and GetSession.
v1::Session EncodeSession(const SessionInfo& session);
Status DecodeSession(const v1::Session& proto, SessionInfo& out);

// Of ExecuteBatchDml: what each statement of `response.batch` answered, and result.status. The
// transaction that the batch began stands in the first result. `shapes`: one for each result.
v1::ExecuteBatchDmlResponse EncodeBatchDmlResponse(const Response& response,
                                                   const std::vector<ResultShape>& shapes);
Status DecodeBatchDmlResponse(const v1::ExecuteBatchDmlResponse& proto, Response& out);

}  // namespace whorl::wire
