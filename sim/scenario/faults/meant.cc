#include "sim/scenario/faults/meant.h"

#include <algorithm>
#include <array>

namespace whorl::sim {
namespace {

// What people write, between spaces, and the faults that they may mean by it.
struct Meaning {
  std::string_view words;
  std::string_view text;
};
constexpr std::array kMeanings = {
    Meaning{
        " gc garbage_collection stop_the_world freeze frozen hang hangs stall stalled stuck block "
        "sigstop throttle throttled throttling cpu cpu_throttling overload slow_node ",
        R"(a process that does not run for a while is "pause")"},
    Meaning{" suspend suspended hibernate vm vm_pause migrate migration live_migration snapshot ",
            R"(a suspended machine is "clock" with "stands", a process that does not run "pause")"},
    Meaning{" kill killed sigkill die dies death exit oom panic segfault power power_loss failure ",
            R"(a process that dies is "crash")"},
    Meaning{" restart reboot bounce recover ",
            R"(a process that starts again is "crash" or "stop" with "restart_after", or "start")"},
    Meaning{" deploy deployment rollout rolling_update shutdown shut_down sigterm terminate drain "
            "scale_down evict ",
            R"(a process that is told to stop is "stop", with "restart_after" if it comes back)"},
    Meaning{
        " network net network_partition connection disconnect split netsplit net_split offline cut "
        "cut_off isolate isolated unreachable firewall black_hole blackhole ",
        R"("partition" cuts a node off, "latency" makes its messages late, and "drop_request" )"
        R"(and "drop_reply" lose one)"},
    Meaning{" slow delay delayed lag jitter slow_network network_delay hold ",
            R"("latency" makes messages late, "slow_resource" writes to the resource)"},
    Meaning{" loss packet_loss lose lost drop dropped timeout message_loss ",
            R"("drop_request" loses a call before it is done, "drop_reply" after it was done)"},
    Meaning{
        " disk disk_full io storage fsync ",
        R"(no node has a disk: a process that waits for one is "pause", a resource that answers )"
        R"(late "slow_resource")"},
    Meaning{
        " skew drift clock_skew clock_drift ntp time time_jump wall_clock clock_jump ",
        R"(a node's clock is "clock"; those of Spanner are "truetime" and "current_timestamp")"},
    Meaning{
        " spanner spanner_down outage down server server_down database brownout ",
        R"(a Spanner that refuses calls is "unavailable"; the way of one node to it "partition")"},
    Meaning{" conflict contention aborted retry rollback deadlock ",
            R"(a transaction that Spanner ends is "abort")"},
    Meaning{" session sessions session_not_found ", R"(a session that is gone is "session_loss")"},
    Meaning{" operator delete remove delete_lock drop_row unlock force_release release expire ",
            R"(an operator's writes are "delete_row", "empty_row" and "release_row")"},
};

}  // namespace

std::string FaultMeantBy(std::string_view word) {
  std::string sought = " ";
  for (const char c : word) {
    sought += c == '-' || c == ' ' ? '_' : c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  }
  sought += ' ';
  const auto* found = std::ranges::find_if(kMeanings, [&](const Meaning& meaning) {
    return meaning.words.find(sought) != std::string_view::npos;
  });
  return found == kMeanings.end() ? std::string() : std::string(found->text);
}

}  // namespace whorl::sim
