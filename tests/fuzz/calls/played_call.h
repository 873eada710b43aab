// Holds one call of a fuzzed round, and reads and writes it as a line of a script.
//
// A line: "NUMBER THREAD METHOD [deadline=MS] [read=PARTS] [cancel] | REQUEST", the request in protobuf's text
// format. What the server gives a name to during a round is written by the number of the call that got
// it: @s3 is the session that call 3 made, @t3 its transaction, @r3 the newest
// resume token of its stream. Lines that begin with # are comments.
#pragma once

#include <cstdint>
#include <istream>
#include <string>
#include <vector>

namespace whorl::fuzz {

struct PlayedCall {
  int number = 0;
  int thread = 0;           // calls of one thread follow each other; 0: before all threads
  std::string method;       // "ExecuteSql"
  int64_t deadline_ms = 0;  // 0: kDefaultDeadlineMs
  int read_parts = -1;      // the stream is given up after this number of messages; -1: never
  bool cancel = false;      // right after it was sent
  std::string request;      // text format, with references
};
inline constexpr int64_t kDefaultDeadlineMs = 300;

std::string FormatScript(const std::vector<PlayedCall>& calls);
// Throws std::runtime_error, which names the line.
std::vector<PlayedCall> ParseScript(std::istream& in);

}  // namespace whorl::fuzz
