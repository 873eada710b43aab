// Sections 12, 13 and 14: published numbers, the emulator's speed, and consequences for the model.
#include "tests/facts/facts.h"

namespace whorl::facts {

Section Published() {
  Section fact{.number = 12, .title = "published numbers, and the rules of the clock", .rows = 15};
  fact(1, "epsilon", "paper", "a sawtooth between about 1 and 7 ms, in 2012")
      .NotCovered("a number of 2012; the scenario's epsilon is an option");
  fact(2, "epsilon_today", "?", "below 1 ms is said, and found nowhere")
      .NotCovered("not confirmed");
  fact(3, "an_interval_with_true_time_in_it", "paper",
       "TT.now() surely holds the time of its call (unless a scenario says that it lies)")
      .ShownBy("ScenarioErrors.OfAnIntervalThatLies");
  fact(4, "start_rule", "paper",
       "a commit timestamp is not below TT.now().latest, and above all before")
      .ShownBy("DatabaseCommit.TimestampsGrowStrictlyInWholeMicrosecondsNotBelowTheLatestNow");
  fact(4, "start_rule_of_several_leaders", "paper", "and above what every participant gave")
      .ShownBy("DatabaseSplits.ACommitOverBothIsAboveWhatEitherGave");
  fact(5, "commit_wait", "paper", "nothing is visible before the timestamp is surely past")
      .ShownBy("DatabaseCommit.AStrongReadSeesNothingBeforeTheCommitIsVisible");
  fact(6, "later_calls_have_later_ends", "D",
       "the latest of a later call is after the earliest of an earlier one")
      .NotCovered("follows from 12.3 wherever no scenario makes TrueTime lie");
  fact(7, "safe_time", "paper", "reads as of a time wait for what is prepared at or before it")
      .ShownBy("DatabaseSnapshot.AnExactReadWaitsForWhatCommitsAtOrBeforeIt");
  fact(7, "leader_lease", "paper", "10 s, after which another replica leads")
      .NotCovered("leaders do not change in the model; a scenario fails calls instead");
  fact(8, "read_timestamps", "paper",
       "a strong read is as of a time at which nothing is prepared, or waits")
      .ShownBy("DatabaseSnapshot.AStrongReadIsAsOfBeforeWhatIsCommitting");
  fact(9, "latencies_of_2012", "paper",
       "some 14 ms for a write of three replicas, of which commit wait is 5")
      .NotCovered("a number of 2012; the latencies of a scenario are its own");
  fact(10, "two_phase_commit", "paper", "17 ms with one participant, 31 with fifty")
      .NotCovered("a number of 2012; participants' latency is the driver's");
  fact(11, "f1", "paper", "over the United States commits take 72 ms, and reads 9")
      .ShownBy("Latency.MultiRegionHasTheMeansOfF1");
  fact(12, "cloud", "D", "a handful of milliseconds for a write")
      .ShownBy("Latency.RegionalIsOfAFewMilliseconds");
  fact(13, "availability", "D", "four nines, or five of several regions")
      .NotCovered("a promise of a service, not a behaviour");
  fact(14, "commit_timestamps", "D", "of overlapping writes rise, in microseconds")
      .ShownBy("DatabaseCommit.TimestampsGrowEvenWhenTrueTimeStepsBack");
  fact(15, "emulators_clock", "S",
       "is one, strictly rising by microseconds; it has neither interval nor commit wait, and "
       "reads wait for the wall clock")
      .Differs("the model's clocks are inputs; see 0.4 for what the emulator's does");
  return fact;
}

Section EmulatorSpeed() {
  constexpr std::string_view kSpeed = "the speed of one machine";
  Section fact{.number = 13, .title = "speed of the emulator", .rows = 9};
  fact(1, "heartbeat", "E", "4 to 5 hundred a second").NotCovered(kSpeed);
  fact(2, "heartbeat_with_clean_up", "E", "some 270 a second").NotCovered(kSpeed);
  fact(3, "blind_mutation", "E", "3 to 4 thousand a second").NotCovered(kSpeed);
  fact(4, "get_session", "E", "nearly 5 thousand a second, the floor of a call").NotCovered(kSpeed);
  fact(5, "strong_read", "E", "1 ms when the emulator has just started").NotCovered(kSpeed);
  fact(6, "strong_read_later", "E, S",
       "ten times as long after ten thousand calls, because of its clock (0.4)")
      .NotCovered(kSpeed);
  fact(7, "select_one_later", "E", "likewise").NotCovered(kSpeed);
  fact(8, "four_clients_on_a_row", "E", "three aborted attempts for each commit")
      .NotCovered(kSpeed);
  fact(9, "memory", "E", "some 54 MB").NotCovered(kSpeed);
  return fact;
}

Section Consequences() {
  Section fact{.number = 14, .title = "what follows for the model", .rows = 8};
  fact(1, "two_clocks", "D, E", "TrueTime for commits, and another clock for CURRENT_TIMESTAMP")
      .ShownBy("DatabaseStatement.CurrentTimestampIsAClockOfItsOwn");
  fact(2, "locks_of_cells", "D", "shared at statements, exclusive at Commit, wound-wait by age")
      .ShownBy("DatabaseWait.WaitersAreWokenInTheOrderOfTheirAgeNotOfTheirArrival");
  fact(2, "emulators_rule", "E", "one lock for the database and nobody waits, as a mode")
      .ShownBy("DatabaseEmulator.WhoComesWhileTheLockIsHeldIsAborted");
  fact(3, "aborted_by_a_fault", "P", "any statement and Commit can be ABORTED, with RetryInfo")
      .ShownBy("DatabaseWait.AbortedRepliesCarryADelayWhenTheyAreToldTo");
  fact(3, "idle_transactions", "D", "are aborted after 10 s")
      .ShownBy("DatabaseWait.AHolderIsNotIdleBeforeTheLimitNorAfterEachStatement");
  fact(4, "commit_by_id_is_idempotent", "E, P", "and a single-use one is not")
      .ShownBy("DatabaseCommit.ARepeatedCommitGivesTheSameTimestamp");
  fact(4, "lost_replies", "D", "a reply can be lost after the Commit was applied")
      .ShownBy("DropReply.LosesTheReplyButNotTheCommit");
  fact(5, "doom", "E, I", "constraint errors doom, read errors do not, failed begins leave nothing")
      .ShownBy("DatabaseStatement.AFailedFirstStatementBeginsNothingAndLeavesNoLocks");
  fact(6, "pending_rule", "D, E", "of the table or of the column, as a switch")
      .ShownBy("DatabaseStatement.UnderTheTableRuleSpindlesCleanUpFailsAndItsHeartbeatCommits");
  fact(6, "future_timestamps", "D", "are refused against the server's now")
      .ShownBy("DatabaseStatement.ATimestampInTheFutureIsRefusedAndDooms");
  fact(7, "bounded_staleness", "D", "any time not before the bound, without the emulator's floor")
      .ShownBy("DatabaseSnapshot.ALaggingReplicaAnswersAsOfTheBoundAtTheOldest");
  fact(8, "deleted_sessions", "P", "release their locks")
      .ShownBy("DatabaseSession.DeletingOneReleasesItsLocksAndMayBeRepeated");
  fact(8, "rollback_of_an_unknown_id", "P", "is OK")
      .ShownBy("DatabaseCommit.AnUnknownTransactionIsNotFoundExceptForARollback");
  return fact;
}

}  // namespace whorl::facts
