#include <draftproof/report/replay_report.hpp>

#include <fmt/format.h>

#include <draftproof/report/text.hpp>

namespace draftproof {

Document start_replay(const std::string& what, std::uint64_t seed) {
  Document document;
  document.data = {{"schema", "draftproof.replay/1"}, {"what", what}, {"seed", seed}};
  document.sections.push_back({.title = what});
  return document;
}

template <class Level>
void add_answers(Document& document, const ProofOf<Level>& proof) {
  Section section{.title = "Properties"};
  section.table.columns = {{"property"}, {"answer"}, {"evidence"}};
  auto& data = document.data["findings"] = nlohmann::ordered_json::array();
  for (const auto& finding : proof.findings) {
    if (finding.status == Status::skipped) continue;
    const Tone tone = finding.status == Status::violated ? Tone::bad
                      : finding.status == Status::held   ? Tone::good
                                                         : Tone::plain;
    section.table.rows.push_back(
        {{std::string(finding.property)}, {std::string(to_text(finding.status)), tone}, {finding.evidence}});
    data.push_back({{"property", finding.property}, {"status", to_text(finding.status)}});
    if (!finding.evidence.empty()) data.back()["evidence"] = finding.evidence;
  }
  document.sections.push_back(std::move(section));
}

void add_story(Document& document, const Story& story) {
  Section section{.title = "Every way it may go"};
  section.table.columns = {{"drafts"}, {"decisions of the verifier"}, {"emits"}, {"probability", true}};
  auto& data = document.data["ways"] = nlohmann::ordered_json::array();
  for (const StoryLine& line : story.lines) {
    section.table.rows.push_back({{line.drafts}, {line.decisions}, {line.emitted}, {line.probability}});
    data.push_back({{"drafts", line.drafts},
                    {"decisions", line.decisions},
                    {"emits", line.emitted},
                    {"probability", line.probability}});
  }
  if (!story.whole) section.after.push_back("  and more; --ways N shows N of them");
  document.sections.push_back(std::move(section));
}

void add_law(Document& document, const ExactLaw<Rational>& law, const Instance& instance) {
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

void add_law(Document& document, const PassageLaw<Rational>& law) {
  Section section{.title = "The passages that come of it"};
  section.table.columns = {{"passage"}, {"probability", true}};
  auto& data = document.data["passages"] = nlohmann::ordered_json::array();
  for (const auto& [passage, probability] : law.emitted) {
    section.table.rows.push_back({{prefix_text(passage)}, {brief(probability)}});
    data.push_back({{"passage", passage}, {"probability", to_text(probability)}});
  }
  section.after.push_back(fmt::format("  {} tokens accepted on average, the last one of a passage not counted",
                                      brief(law.mean_accepted())));
  document.sections.push_back(std::move(section));
}

void add_trial(Document& document, std::uint64_t trial, const std::vector<std::string>& lines) {
  document.data["trial"] = {{"number", trial}, {"lines", lines}};
  Section section{.title = fmt::format("Trial {}", grouped(trial))};
  for (const auto& line : lines) section.before.push_back("  " + line);
  document.sections.push_back(std::move(section));
}

template void add_answers(Document&, const Proof&);
template void add_answers(Document&, const PathProof&);

}  // namespace draftproof
