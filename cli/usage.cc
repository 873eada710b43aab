#include "cli/usage.h"

#include <algorithm>
#include <array>
#include <iostream>
#include <optional>
#include <string_view>
#include <vector>

#include "base/nearest_word.h"
#include "base/text.h"
#include "cli/output.h"

namespace whorl::cli {
namespace {

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
  const std::optional<std::string_view> nearest = NearestWord(word, views);
  return Cat("unknown ", kind, " ", Printable(word),
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

// The first sub-command that has the option; empty if none has it.
std::string SubCommandWith(const CLI::App& app, std::string_view option) {
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    const std::vector<std::string> options = OptionsOf(*sub);
    if (std::ranges::find(options, option) != options.end()) return sub->get_name();
  }
  return {};
}

// The message for an option of a sub-command that stands before the sub-command; empty if the line
// begins with no such option.
std::string MisplacedOption(const CLI::App& root, std::span<const std::string> arguments) {
  if (arguments.empty() || !arguments.front().starts_with("--")) return {};
  const std::string_view option = WithoutValue(arguments.front());
  const std::vector<std::string> own = OptionsOf(root);
  const std::string owner = SubCommandWith(root, option);
  if (owner.empty() || std::ranges::find(own, option) != own.end()) return {};
  return Cat(option, " comes after the sub-command: whorl ", owner, " ", option);
}

// The message for an option whose value was forgotten, so that the option after it was taken for
// the value; empty if there is none. `arguments` are in the order of the command line.
std::string SwallowedOption(const CLI::App& root, std::span<const std::string> arguments) {
  const Chosen chosen = ChosenIn(root);
  const std::vector<std::string> options = OptionsOf(*chosen.app);
  const auto is_option = [&](std::string_view word) {
    return std::ranges::find(options, WithoutValue(word)) != options.end();
  };
  for (const CLI::Option* option : chosen.app->get_options()) {
    for (const std::string& value : option->results()) {
      if (!value.starts_with("--") || !is_option(value)) continue;
      const std::string name =
          "--" + (option->get_lnames().empty() ? std::string() : option->get_lnames().front());
      const std::array<std::string, 2> pair = {name, value};
      if (std::ranges::search(arguments, pair).empty()) continue;
      return Cat(name, " wants a value, and ", value, " is an option (", name, "=", value,
                 " if it is meant)");
    }
  }
  return {};
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
    text = Cat("unexpected argument ", Printable(remaining.front()));
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
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());  // as CLI11 takes them
  try {
    root.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    return print(root.help());
  } catch (const CLI::CallForVersion& version) {
    return print(std::string(version.what()) + "\n");
  } catch (const CLI::ParseError& error) {
    std::string message = MisplacedOption(root, arguments);
    if (message.empty()) message = SwallowedOption(root, arguments);
    if (message.empty()) message = UsageError(root, error);
    Complain(message);
    return wrong;
  }
  if (const std::string swallowed = SwallowedOption(root, arguments); !swallowed.empty()) {
    Complain(swallowed);
    return wrong;
  }
  return std::nullopt;
}

}  // namespace whorl::cli
