// `draftproof distribution` computes the exact output distribution of an external verifier on given inputs, without a
// verdict. `draftproof serve` runs a compiled library, or a registered verifier, mutant or lossy scheme, as an
// external verifier on standard input and output.
#pragma once

#include <unistd.h>
#include <algorithm>
#include <fstream>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include <draftproof/adapters/gate/distribution_checks.hpp>
#include <draftproof/adapters/gate/distribution_request.hpp>
#include <draftproof/adapters/open_adapter.hpp>
#include <draftproof/adapters/wire/served.hpp>
#include <draftproof/captures/input_error.hpp>
#include <draftproof/cli/register_command.hpp>
#include <draftproof/cli/report/program_report.hpp>

namespace draftproof::commands {

struct Distribution {
  static constexpr std::string_view name = "distribution";
  static constexpr std::string_view about =
      "computes the exact output distribution of an external verifier on inputs in JSON";
  static constexpr std::string_view example =
      "distribution --adapter 'exec:python3 examples/adapter/verifier_json.py' inputs.json";

  std::string file = "-";
  std::optional<int> predictions;

  void declare(CLI::App& app) {
    app.add_option("file", file,
                   "JSON, {\"inputs\": [{\"p\": [[..]], \"q\": [[..]], \"drafts\": [..], \"parents\": [..]}]}, and "
                   "optionally \"predictions\" and \"seed\"; - is standard input")
        ->capture_default_str();
    app.add_option("--predictions", predictions, adapters::predictions_help)
        ->check(between(adapters::fewest_predictions, adapters::most_predictions));
  }

  int run(const Session& session) const {
    end_at_first_signal();
    if (session.external.size() != 1)
      throw InputError({.file = "distribution",
                        .got = std::to_string(session.external.size()) + " adapters",
                        .expected = "exactly one --adapter"});
    const adapters::OpenAdapter& adapter = session.external.front();
    const adapters::Declaration& declaration = adapter.served->declaration();
    const adapters::DistributionRequest request = read(declaration);
    adapters::ExploreOptions options = adapters::exploration_of(declaration);
    options.seed = request.seed.value_or(session.seed);
    if (request.predictions) options.predictions = *request.predictions;
    if (predictions) options.predictions = *predictions;
    const std::vector<adapters::ProgramDistribution> distributions =
        adapters::explore_program(*adapter.program, request.inputs, options);
    session.write(adapters::report_distributions(distributions, request.inputs, declaration, options.seed));
    const auto any = [&distributions](auto is) {
      return std::any_of(distributions.begin(), distributions.end(), is);
    };
    if (any([](const auto& distribution) {
          return distribution.state == adapters::DistributionState::not_a_function;
        }))
      return exit_failed;
    if (any([](const auto& distribution) { return distribution.state != adapters::DistributionState::settled; }))
      return exit_undecided;
    return exit_passed;
  }

 private:
  adapters::DistributionRequest read(const adapters::Declaration& declaration) const {
    if (file == "-") return adapters::read_distribution_request(std::cin, "standard input", declaration);
    std::ifstream stream(file);
    if (!stream)
      throw InputError(
          {.file = file, .got = "a file that cannot be opened", .expected = "a JSON file, or - for standard input"});
    return adapters::read_distribution_request(stream, file, declaration);
  }
};

struct Serve {
  static constexpr std::string_view name = "serve";
  static constexpr std::string_view about =
      "runs a library or a built-in verifier as an external verifier on standard input and output";
  static constexpr std::string_view example = "serve k_seq";

  std::string what;

  void declare(CLI::App& app) {
    app.add_option("program", what, "lib:PATH, a library that exports draftproof_adapter, or the name of a verifier")
        ->required();
  }

  int run(const Session&) {
    end_at_first_signal();
    // Output that a library prints while it is loaded must not get into the frames, so standard output is kept apart.
    const int output = ::dup(STDOUT_FILENO);
    if (output < 0 || ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
      throw adapters::AdapterError("standard output is not open");
    const auto served = adapters::served_here(what);
    adapters::serve(*served, STDIN_FILENO, output);
    return exit_passed;
  }
};

}  // namespace draftproof::commands
