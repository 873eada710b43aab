#include "cli/usage.h"

#include <algorithm>
#include <iostream>
#include <optional>
#include <string_view>
#include <vector>

#include "cli/output.h"
#include "sim/scenario/error_text.h"
#include "sim/scenario/nearest_word.h"

namespace whorl::cli {
namespace {

using sim::Cat;

// The words that the parser did not know, in order.
std::vector<std::string> Remaining(const CLI::App& root) { return root.remaining(true); }

std::vector<std::string> OptionsOf(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::vector<std::string> SubCommandsOf(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(sub->get_name());
  }
  return names;
}

// "unknown option --sed; did you mean --seed?"
std::string Unknown(std::string_view kind, std::string_view word,
                    const std::vector<std::string>& known) {
  const std::vector<std::string_view> views(known.begin(), known.end());
  const std::optional<std::string_view> nearest = sim::NearestWord(word, views);
  return Cat("unknown ", kind, " ", sim::Printable(word),
             nearest.has_value() ? Cat("; did you mean ", *nearest, "?") : "");
}

// --seed=7: --seed.
std::string_view WithoutValue(std::string_view word) { return word.substr(0, word.find('=')); }

// The part of the command line that was parsed as sub-commands.
struct Chosen {
  const CLI::App* app = nullptr;  // the innermost
  std::string command;            // "whorl bench takeover"
};

Chosen ChosenIn(const CLI::App& root) {
  Chosen chosen{.app = &root, .command = "whorl"};
  while (!chosen.app->get_subcommands().empty()) {
    chosen.app = chosen.app->get_subcommands().front();
    chosen.command += Cat(" ", chosen.app->get_name());
  }
  return chosen;
}

}  // namespace

std::string UsageError(const CLI::App& root, const CLI::ParseError& error) {
  const auto [app, command] = ChosenIn(root);
  const std::vector<std::string> sub_commands = SubCommandsOf(*app);
  const std::vector<std::string> remaining = Remaining(root);
  std::string text;
  const std::vector<std::string> options = OptionsOf(*app);
  // After `--` a known option is no option.
  const bool is_option =
      !remaining.empty() && remaining.front().starts_with('-') &&
      std::ranges::find(options, WithoutValue(remaining.front())) == options.end();
  if (is_option) {
    text = Unknown("option", WithoutValue(remaining.front()), options);
  } else if (!remaining.empty() && !sub_commands.empty()) {
    text = Unknown("sub-command", remaining.front(), sub_commands);
  } else if (!remaining.empty()) {
    text = Cat("unexpected argument ", sim::Printable(remaining.front()));
  } else if (!sub_commands.empty()) {
    text = "a sub-command is missing";
  } else {
    text = error.what();
  }
  return Cat(text, " (", command, " --help says what there is)");
}

std::string EmptyArgument(std::span<const std::string> arguments, std::string_view of) {
  for (size_t i = 1; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument.empty()) return Cat("argument ", std::to_string(i), of, " is empty");
    if (argument.starts_with("--") && argument.ends_with("=")) return argument + " has no value";
  }
  return {};
}

std::optional<int> Parse(CLI::App& root, std::vector<std::string> arguments, int wrong) {
  const auto print = [](const std::string& text) {
    std::cout << text;
    return End(FlushStdout());
  };
  std::ranges::reverse(arguments);  // as CLI11 takes them
  try {
    root.parse(arguments);
  } catch (const CLI::CallForHelp&) {
    return print(root.help());
  } catch (const CLI::CallForVersion& version) {
    return print(std::string(version.what()) + "\n");
  } catch (const CLI::ParseError& error) {
    Complain(UsageError(root, error));
    return wrong;
  }
  return std::nullopt;
}

}  // namespace whorl::cli
