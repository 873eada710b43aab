// Declares the sub-commands of `whorl`, one function each. Those that speak gRPC are in grpc_commands.h.
#pragma once

#include <CLI/App.hpp>
#include <functional>
#include <string>

#include "cli/grpc_commands.h"

namespace whorl::cli {

// A sub-command's options, and the function that runs it.
struct SubCommand {
  CLI::App* app = nullptr;   // owned by the root
  std::function<int()> run;  // REQUIRES: the command line was parsed; returns the exit code
  // Makes the options where there are many: a command line makes those that it names alone, since they
  // are a good part of the time that a start takes. Empty if they are made already.
  std::function<void()> make_options = {};
};

// Each Add function adds the sub-command to `root` (or to its parent command). `command` is how whorl was
// called, for printed lines that a person may paste.

// `whorl bench`: measures what an operator wants to know about a lock: takeover latency and cost.
// (`./dev bench`, in bench/, measures how fast this testbed itself runs.)
SubCommand AddBenchCommand(CLI::App& root, const GrpcCommands& grpc);

// `whorl bench cost`: measures what it costs to keep a lock, by protocol, lease, followers and locks.

// `bench`: the command `whorl bench`.
SubCommand AddCostCommand(CLI::App& bench);

// `whorl bench takeover`: measures how long it takes until another process leads.
SubCommand AddTakeoverCommand(CLI::App& bench, const GrpcCommands& grpc);

// `whorl convert`: writes a file of an earlier release in today's words.
SubCommand AddConvertCommand(CLI::App& root);

// `whorl diff`: finds the first event in which two traces differ.
SubCommand AddDiffCommand(CLI::App& root);

// `whorl explore`: runs every schedule of a lock protocol within bounds.
SubCommand AddExploreCommand(CLI::App& root, const std::string& command);

// `whorl hunt`: looks for violations in many drawn worlds, and shrinks what it finds.
SubCommand AddHuntCommand(CLI::App& root, const std::string& command);

// `whorl new`: writes a commented scenario to start from.
SubCommand AddNewCommand(CLI::App& root, const std::string& command);

// `whorl protocols`: lists the lock protocols and what each promises.
SubCommand AddProtocolsCommand(CLI::App& root);

// `whorl replay`: runs scenarios, and reports what happened and whether it was as expected.
SubCommand AddReplayCommand(CLI::App& root, const std::string& command, const GrpcCommands& grpc);

// `whorl report`: runs the scenarios of a folder, and writes an index of them as a page.
SubCommand AddReportCommand(CLI::App& root, const std::string& command);

}  // namespace whorl::cli
