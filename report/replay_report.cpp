#include <draftproof/report/replay_report.hpp>

#include <fmt/format.h>

#include <draftproof/report/text.hpp>

namespace draftproof {

Document start_replay(const std::string& what, std::uint64_t seed) {
  Document document;
  document.data = {{"schema", "draftproof.replay/2"}, {"what", what}, {"seed", seed}};
  document.sections.push_back({.title = what});
  return document;
}

namespace {

/// Adds a row to the table of answers, which is created on first use.
void add_answer(Document& document, std::string_view property, Status status, const std::string& evidence) {
  if (document.sections.back().title != "Properties") {
    document.sections.push_back({.title = "Properties", .table = {{{"property"}, {"answer"}, {"evidence"}}, {}}});
    document.data["findings"] = nlohmann::ordered_json::array();
  }
  const Tone tone = status == Status::violated ? Tone::bad : status == Status::held ? Tone::good : Tone::plain;
  document.sections.back().table.rows.push_back(
      {{std::string(property)}, {std::string(to_text(status)), tone}, {evidence}});
  auto& data = document.data["findings"];
  data.push_back({{"property", property}, {"status", to_text(status)}});
  if (!evidence.empty()) data.back()["evidence"] = evidence;
}

}  // namespace

template <class Level>
void add_answers(Document& document, const ProofOf<Level>& proof, const std::string& instance) {
  for (const auto& finding : proof.findings)
    if (finding.status != Status::skipped)
      add_answer(document, finding.property, finding.status,
                 finding.instance && finding.instance->text() != instance
                     ? fmt::format("{}, on {}", finding.evidence, finding.instance->text())
                     : finding.evidence);
}

void add_finding(Document& document, const GateFinding& finding) {
  add_answer(document, finding.check, finding.status, finding.evidence);
}

void add_remark(Document& document, const std::string& remark) {
  document.data["remarks"].push_back(remark);
  document.sections.back().after.push_back("  " + remark);
}

void add_story(Document& document, const DecisionTrace& trace) {
  Section section{.title = "Every way it may go"};
  section.table.columns = {{"drafts"}, {"decisions of the verifier"}, {"emits"}, {"probability", true}};
  auto& data = document.data["ways"] = nlohmann::ordered_json::array();
  for (const TraceLine& line : trace.lines) {
    section.table.rows.push_back({{line.drafts}, {line.decisions}, {line.emitted}, {line.probability}});
    data.push_back({{"drafts", line.drafts},
                    {"decisions", line.decisions},
                    {"emits", line.emitted},
                    {"probability", line.probability}});
  }
  if (!trace.whole) section.after.push_back("  and more; --ways N shows N of them");
  document.sections.push_back(std::move(section));
}

void add_law(Document& document, const ExactLaw<Rational>& law, const Instance& instance) {
  if (!law.complete) return add_remark(document, "the law is not known: too many branches");
  const auto target = normalised(instance.target);
  Section section{.title = "The law that comes of it"};
  section.table.columns = {{"token", true}, {"target", true}, {"emitted", true}, {"too much", true}};
  auto& data = document.data["law"] = nlohmann::ordered_json::array();
  for (std::size_t x = 0; x < target.size(); ++x) {
    const Rational excess = law.output[x] - target[x];
    section.table.rows.push_back({{std::to_string(x)},
                                  {brief(target[x])},
                                  {brief(law.output[x])},
                                  {excess == 0 ? "" : brief(excess), excess == 0 ? Tone::plain : Tone::bad}});
    data.push_back({{"target", to_text(target[x])}, {"emitted", to_text(law.output[x])}});
  }
  section.after.push_back(fmt::format("  TV {}; accepted {}, among the drafts {}",
                                      brief(total_variation(law.output, target)), brief(law.flag),
                                      brief(law.membership)));
  document.sections.push_back(std::move(section));
}

void add_law(Document& document, const StepLaw<Rational>& law) {
  if (!law.complete) return add_remark(document, "the law is not known: too many branches");
  Section section{.title = "The steps that come of it"};
  section.table.columns = {{"step"}, {"probability", true}};
  auto& data = document.data["steps"] = nlohmann::ordered_json::array();
  for (const auto& [step, probability] : law.emitted) {
    section.table.rows.push_back({{prefix_text(step)}, {brief(probability)}});
    data.push_back({{"step", step}, {"probability", to_text(probability)}});
  }
  section.after.push_back(
      fmt::format("  {} tokens accepted on average, the last one of a step not counted", brief(law.mean_accepted())));
  document.sections.push_back(std::move(section));
}

void add_trial(Document& document, std::uint64_t trial, const std::vector<std::string>& lines) {
  document.data["trial"] = {{"number", trial}, {"lines", lines}};
  Section section{.title = fmt::format("Trial {}", grouped(trial))};
  for (const auto& line : lines) section.before.push_back("  " + line);
  document.sections.push_back(std::move(section));
}

template void add_answers(Document&, const Proof&, const std::string&);
template void add_answers(Document&, const PathProof&, const std::string&);

}  // namespace draftproof
