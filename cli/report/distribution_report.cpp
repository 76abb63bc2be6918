#include <draftproof/cli/report/program_report.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <draftproof/adapters/gate/distribution_text.hpp>
#include <draftproof/adapters/gate/judgement.hpp>

namespace draftproof::adapters {

namespace {

using Data = nlohmann::ordered_json;

ResultRow row_of(const OutcomeMass& mass) {
  const auto& [outcome, probability] = mass;
  ResultRow row;
  row.cell("emits", {outcome_text(outcome)});
  if (outcome.status == RowStatus::ok)
    row.data("tokens", outcome.tokens);
  else
    row.data("status", to_text(outcome.status));
  if (!outcome.message.empty()) row.data("message", outcome.message);
  row.data("probability", probability).text("text", "probability", {probability_text(probability)});
  return row.number("", {fmt::format("{:.9g}", probability), Tone::faint});
}

Data outcomes_data(std::span<const OutcomeMass> outcomes) {
  Data list = Data::array();
  for (const OutcomeMass& mass : outcomes) list.push_back(row_of(mass).record);
  return list;
}

Data edge_data(const Stretch& edge) {
  return {{"place", edge.place},
          {"kind", to_text(edge.kind)},
          {"stream", edge.stream},
          {"bits", edge.bits},
          {"first", edge.first},
          {"last", edge.last},
          {"probability", edge.probability},
          {"text", probability_text(edge.probability)},
          {"outcomes", outcomes_data(edge.outcomes)}};
}

std::string state_name(DistributionState state) {
  return state == DistributionState::not_a_function ? "not_a_function" : to_text(state);
}

Data distribution_data(const ProgramDistribution& distribution, double rounding) {
  Data data{{"state", state_name(distribution.state)},
            {"outcomes", outcomes_data(distribution.outcomes)},
            {"limit", distribution.limit},
            {"rounding_limit", rounding},
            {"unexplored", distribution.unexplored},
            {"calls", distribution.calls},
            {"predicted", distribution.predicted},
            {"unjudged", distribution.unjudged},
            {"idle_places", distribution.idle_places},
            {"edges", Data::array()},
            {"remarks", distribution.remarks}};
  for (const Stretch& edge : distribution.edges) data["edges"].push_back(edge_data(edge));
  if (!distribution.tape.empty()) data["tape"] = distribution.tape;
  return data;
}

Section distribution_section(std::size_t number, const Input& input, const ProgramDistribution& distribution,
                             double rounding) {
  Section section{.title = fmt::format("Input {}, drafts ({}), {}", number, fmt::join(input.drafts, " "),
                                       to_text(distribution.state))};
  for (const OutcomeMass& mass : distribution.outcomes) section.table.add(row_of(mass));
  auto& after = section.after;
  after.push_back(fmt::format("  {} calls, {} predictions confirmed; rounding explains {:.1g} + {:.1g}",
                              distribution.calls, distribution.predicted, distribution.limit, rounding));
  if (distribution.unexplored > 0)
    after.push_back(fmt::format("  probability not explored: {:.3g}", distribution.unexplored));
  if (!distribution.idle_places.empty())
    after.push_back(fmt::format("  places of the tape without effect: {}", fmt::join(distribution.idle_places, " ")));
  for (const Stretch& edge : distribution.edges)
    after.push_back(fmt::format("  edge: {}, probability {}: {}", stretch_text(edge),
                                probability_text(edge.probability), outcomes_text(edge.outcomes)));
  for (const std::string& remark : distribution.remarks) after.push_back("  " + remark);
  if (!distribution.tape.empty())
    after.push_back(fmt::format("  on the tape ({:.9g})", fmt::join(distribution.tape, " ")));
  return section;
}

}  // namespace

Document report_distributions(std::span<const ProgramDistribution> distributions, std::span<const Input> inputs,
                              const Declaration& declaration, std::uint64_t seed) {
  Document document;
  document.data = {{"schema", "draftproof.distribution/1"},
                   {"verifier", declaration.name},
                   {"level", to_text(declaration.level)},
                   {"seed", seed},
                   {"inputs", Data::array()}};
  for (std::size_t i = 0; i < distributions.size(); ++i) {
    const double rounding =
        rounding_limit(declaration.dtypes.front(), static_cast<int>(inputs[i].drafts.size()), inputs[i].vocabulary());
    document.data["inputs"].push_back(distribution_data(distributions[i], rounding));
    document.sections.push_back(distribution_section(i, inputs[i], distributions[i], rounding));
  }
  return document;
}

}  // namespace draftproof::adapters
