// Checks the known facts about Spanner and its emulator (facts.h) against the model behind gRPC
// and, if there is one, against the emulator.
#include "tests/facts/facts.h"

#include <absl/strings/str_cat.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "live/emulator_process.h"
#include "spanner_model/server/server.h"
#include "tests/facts/probe.h"

namespace whorl::facts {

std::string FactId(const Section& section, const Fact& fact) {
  return absl::StrCat(section.number, ".", fact.row, " ", std::string(fact.name));
}

namespace {

const std::vector<Section>& AllSections() {
  static const std::vector<Section> kSections = {
      Surprises(),       Inserts(),       CommitTimestamps(), CurrentTimestamp(), Functions(),
      EmptyDml(),        Concurrency(),   CommitReplay(),     Sessions(),         TimedReads(),
      UnknownOutcomes(), CallSequences(), Published(),        EmulatorSpeed(),    Consequences()};
  return kSections;
}

// The expected transcripts, with the defaults filled in.
std::string_view FromModel(const Fact& fact) { return fact.heard.model; }
std::string_view FromModelAsEmulator(const Fact& fact) {
  const Heard& heard = fact.heard;
  return heard.by_emulators_rules.empty() ? heard.model : heard.by_emulators_rules;
}
std::string_view FromEmulator(const Fact& fact) {
  return fact.heard.from_emulator.empty() ? FromModelAsEmulator(fact) : fact.heard.from_emulator;
}

enum class Agreement : uint8_t { kAgrees, kDiffers, kNotCovered };
constexpr const char* kAgreementNames[] = {"agrees", "differs", "not covered"};

Agreement AgreementOf(const Fact& fact) {
  if (!fact.not_covered.empty()) return Agreement::kNotCovered;
  return fact.differs.empty() ? Agreement::kAgrees : Agreement::kDiffers;
}

template <typename Function>
void ForEachFact(Function function) {
  for (const Section& section : AllSections()) {
    for (const Fact& fact : section.facts) function(section, fact);
  }
}

// `ctest -V -R FactsTest.AreListed` prints the verdicts.
TEST(FactsTest, AreListedWithTheirVerdicts) {
  std::map<Agreement, int> counts;
  ForEachFact([&](const Section& section, const Fact& fact) {
    const Agreement agreement = AgreementOf(fact);
    ++counts[agreement];
    const std::string_view why = fact.not_covered.empty() ? fact.differs : fact.not_covered;
    std::cout << kAgreementNames[static_cast<int>(agreement)] << "\t" << FactId(section, fact)
              << " [" << fact.source << "]: " << fact.says << (why.empty() ? "" : ". Why: ") << why
              << "\n";
  });
  std::cout << "spanner facts: " << counts[Agreement::kAgrees] << " agree, "
            << counts[Agreement::kDiffers] << " differ, " << counts[Agreement::kNotCovered]
            << " not covered\n";
  EXPECT_GT(counts[Agreement::kAgrees],
            counts[Agreement::kDiffers] + counts[Agreement::kNotCovered]);
}

// A list with gaps would look complete.
TEST(FactsTest, EveryRowOfEverySectionHasAnEntryAndEveryEntryAnIdOfItsOwn) {
  // As counted in the list: rows of tables, and lines of text between them.
  const std::vector<int> rows = {11, 17, 15, 7, 10, 6, 17, 13, 7, 11, 9, 19, 15, 9, 8};
  ASSERT_EQ(AllSections().size(), rows.size());
  std::set<std::string> ids;
  for (size_t i = 0; i < rows.size(); ++i) {
    const Section& section = AllSections()[i];
    EXPECT_EQ(section.number, static_cast<int>(i));
    EXPECT_EQ(section.rows, rows[i]) << section.title;
    std::set<int> found;
    for (const Fact& fact : section.facts) {
      found.insert(fact.row);
      EXPECT_TRUE(ids.insert(FactId(section, fact)).second) << "twice: " << FactId(section, fact);
    }
    std::set<int> expected;
    for (int row = 1; row <= section.rows; ++row) expected.insert(row);
    EXPECT_EQ(found, expected) << "rows of section " << section.number;
  }
}

// A verdict without a test is an opinion.
TEST(FactsTest, WhatAgreesIsShownAndWhatDoesNotSaysWhy) {
  ForEachFact([](const Section& section, const Fact& fact) {
    SCOPED_TRACE(FactId(section, fact));
    EXPECT_FALSE(fact.says.empty());
    EXPECT_FALSE(fact.source.empty());
    EXPECT_TRUE(fact.differs.empty() || fact.not_covered.empty()) << "two verdicts";
    EXPECT_EQ(fact.probe == nullptr, fact.heard.model.empty())
        << "a probe without expectation, or v. v.";
    const bool shown = fact.probe != nullptr || !fact.shown_by.empty();
    EXPECT_TRUE(shown || AgreementOf(fact) != Agreement::kAgrees);
    EXPECT_FALSE(shown && AgreementOf(fact) == Agreement::kNotCovered);
    if (fact.probe == nullptr || FromEmulator(fact) == kNotAsked) return;
    const bool alike =
        FromEmulator(fact) == FromModel(fact) || FromEmulator(fact) == FromModelAsEmulator(fact);
    EXPECT_EQ(alike, AgreementOf(fact) == Agreement::kAgrees)
        << "not the verdict of its expectations";
  });
}

// "Suite.Name" of every test in the sources, also if a line break divides it.
std::set<std::string> NamesOfAllTests() {
  static const std::regex kTest(R"((?:TEST|TEST_F|TEST_P|RC_GTEST_\w+)\(\s*(\w+),\s*(\w+))");
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(
           std::filesystem::path(WHORL_SOURCE_DIR) / "tests")) {
    if (entry.path().extension() != ".cc") continue;
    std::ifstream file(entry.path());
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    for (std::sregex_iterator it(text.begin(), text.end(), kTest), end; it != end; ++it) {
      names.insert((*it)[1].str() + "." + (*it)[2].str());
    }
  }
  // Each part of this file is a test, too.
  std::ifstream errors(WHORL_SOURCE_DIR "/tests/sim/scenario/errors.txt");
  for (std::string line; std::getline(errors, line);) {
    if (line.starts_with("## ")) names.insert("ScenarioErrors." + line.substr(3));
  }
  return names;
}

TEST(FactsTest, TestsThatAreNamedExist) {
  const std::set<std::string> names = NamesOfAllTests();
  ASSERT_GT(names.size(), 300u);
  ForEachFact([&](const Section& section, const Fact& fact) {
    if (fact.shown_by.empty()) return;
    EXPECT_TRUE(names.contains(std::string(fact.shown_by)))
        << FactId(section, fact) << " is shown by " << fact.shown_by;
  });
}

using Expectation = std::string_view (*)(const Fact&);

void RunProbes(const std::shared_ptr<grpc::Channel>& channel, Expectation expected) {
  RawSpanner spanner(channel);
  int probes = 0;
  ForEachFact([&](const Section& section, const Fact& fact) {
    if (fact.probe == nullptr || expected(fact) == kNotAsked) return;
    ++probes;
    try {
      Probe probe(spanner, absl::StrCat("facts-", probes));
      fact.probe(probe);
      EXPECT_EQ(probe.Transcript(), expected(fact))
          << "where " << FactId(section, fact) << ": " << fact.says << "\n"
          << probe.Messages();
    } catch (const std::exception& error) {
      ADD_FAILURE() << FactId(section, fact) << ": " << error.what();
    }
  });
  std::cout << probes << " probes\n";
}

void RunOnModel(server::BackendOptions backend, Expectation expected) {
  const auto server = server::Server::Start({.backend = std::move(backend)});
  ASSERT_TRUE(server.ok()) << server.status();
  const std::shared_ptr<grpc::Channel> channel = MakeChannel((*server)->address());
  ASSERT_TRUE(WaitForServer(*channel, nullptr));
  const grpc::Status status = RawSpanner(channel).CreateInstance();
  ASSERT_TRUE(status.ok()) << status.error_message();
  RunProbes(channel, expected);
}

TEST(FactsTest, TheModelAnswersAsTheFactsSay) {
  server::BackendOptions options;
  options.model.retry_delay = Milliseconds(5);
  RunOnModel(options, FromModel);
}

TEST(FactsTest, TheModelByTheEmulatorsRulesAnswersAsTheFactsSay) {
  RunOnModel(server::EmulatorLike(), FromModelAsEmulator);
}

TEST(FactsTest, TheEmulatorAnswersAsTheFactsSay) {
  const std::unique_ptr<EmulatorProcess> emulator = EmulatorProcess::Start();
  if (emulator == nullptr) GTEST_SKIP() << kNoEmulator;
  RunProbes(emulator->channel(), FromEmulator);
}

}  // namespace
}  // namespace whorl::facts
