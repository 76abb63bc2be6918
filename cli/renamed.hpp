// Command-line names of version 0.2 that still work in 0.3. Each prints a line with the new name.
#pragma once

#include <algorithm>
#include <array>
#include <iostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace draftproof {

namespace renamed {

using Names = std::pair<std::string_view, std::string_view>;  // old, new

inline constexpr std::array options{Names{"--door", "--adapter"},
                                    Names{"--door-limit", "--adapter-limit"},
                                    Names{"--door-dump", "--adapter-dump"},
                                    Names{"--law", "--draft-sampling"},
                                    Names{"--draft-law", "--draft-sampling"},
                                    Names{"--own", "--user-defined"},
                                    Names{"--deal", "--balance"}};

inline constexpr std::array values{Names{"law", "distribution"},
                                   Names{"draft_laws", "draft_samplings"},
                                   Names{"exact_law", "exact_distribution"},
                                   Names{"sampled_law", "sampled_distribution"},
                                   Names{"completed_law", "completed_distribution"},
                                   Names{"process_law", "process_distribution"},
                                   Names{"declared_law", "declared_distribution"},
                                   Names{"fixed_tree_law", "fixed_tree_distribution"},
                                   Names{"sampled_prefix_law", "sampled_prefix_distribution"},
                                   Names{"state_law", "state_distribution"},
                                   Names{"row_law", "row_distribution"},
                                   Names{"draw_ledger", "draw_count"}};

}  // namespace renamed

/// Returns the arguments with the new names of options, commands, properties and studies, and of the prefix `own:`.
/// Writes a line for each old name to `lines`.
inline std::vector<std::string> with_new_names(std::vector<std::string> arguments, std::ostream& lines) {
  std::vector<std::string> seen;
  for (std::string& argument : arguments) {
    const std::string option = argument.substr(0, argument.find('='));
    const auto replace = [&](std::string_view from, std::string_view to) {
      argument = std::string(to) + argument.substr(from.size());
      if (std::find(seen.begin(), seen.end(), from) != seen.end()) return;
      seen.emplace_back(from);
      lines << "draftproof: " << from << " is now " << to << "; version 0.4 removes the old name\n";
    };
    for (const auto& [from, to] : renamed::options)
      if (option == from) replace(from, to);
    for (const auto& [from, to] : renamed::values)
      if (argument == from) replace(from, to);
    if (argument.starts_with("own:")) replace("own:", "built-in:");
  }
  return arguments;
}

}  // namespace draftproof
