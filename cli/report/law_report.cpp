#include <draftproof/cli/report/program_report.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <draftproof/adapters/gate/judgement.hpp>
#include <draftproof/adapters/gate/law_text.hpp>

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

std::string state_name(LawState state) {
  return state == LawState::not_a_function ? "not_a_function" : to_text(state);
}

Data law_data(const ProgramLaw& law, double rounding) {
  Data data{{"state", state_name(law.state)},
            {"outcomes", outcomes_data(law.outcomes)},
            {"limit", law.limit},
            {"rounding_limit", rounding},
            {"unexplored", law.unexplored},
            {"calls", law.calls},
            {"predicted", law.predicted},
            {"unjudged", law.unjudged},
            {"idle_places", law.idle_places},
            {"edges", Data::array()},
            {"remarks", law.remarks}};
  for (const Stretch& edge : law.edges) data["edges"].push_back(edge_data(edge));
  if (!law.tape.empty()) data["tape"] = law.tape;
  return data;
}

Section law_section(std::size_t number, const Input& input, const ProgramLaw& law, double rounding) {
  Section section{
      .title = fmt::format("Input {}, drafts ({}), {}", number, fmt::join(input.drafts, " "), to_text(law.state))};
  for (const OutcomeMass& mass : law.outcomes) section.table.add(row_of(mass));
  auto& after = section.after;
  after.push_back(fmt::format("  {} calls, {} predictions held; number formats explain {:.1g} + {:.1g}", law.calls,
                              law.predicted, law.limit, rounding));
  if (law.unexplored > 0) after.push_back(fmt::format("  unexplored: {:.3g}", law.unexplored));
  if (!law.idle_places.empty())
    after.push_back(fmt::format("  places that never matter: {}", fmt::join(law.idle_places, " ")));
  for (const Stretch& edge : law.edges)
    after.push_back(fmt::format("  edge: {}, probability {}: {}", stretch_text(edge),
                                probability_text(edge.probability), outcomes_text(edge.outcomes)));
  for (const std::string& remark : law.remarks) after.push_back("  " + remark);
  if (!law.tape.empty()) after.push_back(fmt::format("  on the tape ({:.9g})", fmt::join(law.tape, " ")));
  return section;
}

}  // namespace

Document report_laws(std::span<const ProgramLaw> laws, std::span<const Input> inputs, const Declaration& declaration,
                     std::uint64_t seed) {
  Document document;
  document.data = {{"schema", "draftproof.law/1"},
                   {"verifier", declaration.name},
                   {"level", to_text(declaration.level)},
                   {"seed", seed},
                   {"inputs", Data::array()}};
  for (std::size_t i = 0; i < laws.size(); ++i) {
    const double rounding =
        rounding_limit(declaration.dtypes.front(), static_cast<int>(inputs[i].drafts.size()), inputs[i].vocabulary());
    document.data["inputs"].push_back(law_data(laws[i], rounding));
    document.sections.push_back(law_section(i, inputs[i], laws[i], rounding));
  }
  return document;
}

}  // namespace draftproof::adapters
