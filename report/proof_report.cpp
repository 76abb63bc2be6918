#include <draftproof/report/proof_report.hpp>

#include <algorithm>

#include <fmt/format.h>

#include <draftproof/report/text.hpp>

namespace draftproof {

namespace {

/// Names of the undecided findings, as "padding (3)".
template <class Level>
std::string undecided_text(const ProofOf<Level>& proof) {
  std::string text;
  for (const auto& finding : proof.findings)
    if (finding.status == Status::undecided)
      text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", finding.property, finding.undecided);
  return text;
}

/// The findings that held for a verifier that cannot be explored.
template <class Level>
std::string not_proved_line(const ProofOf<Level>& proof) {
  std::string held;
  for (const auto& finding : proof.findings)
    if (finding.status == Status::held)
      held += fmt::format("{}{} on {}", held.empty() ? "" : ", ", finding.property,
                          counted(static_cast<std::uint64_t>(finding.held), "instance"));
  return fmt::format("  {}: the output law is not proved, {}; held in trials: {}", proof.verifier->info().name,
                     proof.verifier->info().unsupported.explore, held.empty() ? "nothing" : held);
}

/// The distance in one sentence.
template <class Instance>
std::string distance_text(const DistanceOf<Instance>& distance, int instances) {
  return fmt::format("  TV to p: not 0 on {} of {}, at most {:.6f}, on {}", distance.off,
                     counted(static_cast<std::uint64_t>(instances), "instance"),
                     static_cast<double>(distance.largest), distance.instance.text());
}

}  // namespace

template <class Level>
Cell verdict_cell(const ProofOf<Level>& proof) {
  if (proof.lossy() && proof.distance)
    return {fmt::format("lossy, TV to {:.4f}", static_cast<double>(proof.distance->largest)), Tone::bad};
  if (proof.violation()) return {"refuted", Tone::bad};
  if (!proof.complete) return {fmt::format("stopped ({})", proof.instances)};
  if (proof.exact()) return {fmt::format("proved ({})", proof.instances), Tone::good};
  if (!proof.provable()) return {"law not proved", Tone::faint};
  if (proof.kept()) return {fmt::format("within {:g} ({})", proof.verifier->info().tau, proof.instances), Tone::good};
  return {"undecided"};
}

template <class Level>
Cell verdict_cell(const ProofOf<Level>* proof, const Info& info) {
  if (proof) return verdict_cell(*proof);
  return {info.unsupported.explore.empty() ? "not asked" : "cannot be explored", Tone::faint};
}

template <class Level>
nlohmann::ordered_json proof_data(const ProofOf<Level>& proof, bool timings) {
  nlohmann::ordered_json data{{"level", Level::name},
                              {"verifier", proof.verifier->info().name},
                              {"law", proof.drafter->info().name},
                              {"verdict", proof.lossy()       ? "lossy"
                                          : proof.violation() ? "refuted"
                                          : !proof.complete   ? "stopped"
                                          : proof.exact()     ? "proved"
                                          : !proof.provable() ? "law not proved"
                                          : proof.kept()      ? "within tau"
                                                              : "undecided"},
                              {"complete", proof.complete},
                              {"instances", proof.instances},
                              {"branches", proof.leaves}};
  if (!proof.provable()) data["why_not_proved"] = proof.verifier->info().unsupported.explore;
  if (timings) data["seconds"] = proof.seconds;
  if (proof.distance) {
    data["total_variation"] = {{"largest", static_cast<double>(proof.distance->largest)},
                               {"instances_off", proof.distance->off}};
    if (proof.distance->off > 0) data["total_variation"]["instance"] = proof.distance->instance.text();
  }
  for (const auto& finding : proof.findings) {
    nlohmann::ordered_json entry{{"property", finding.property},
                                 {"status", to_text(finding.status)},
                                 {"held", finding.held},
                                 {"undecided", finding.undecided}};
    if (finding.instance) {
      entry["counterexample"] = finding.instance->text();
      entry["replay"] = finding.replay;
    }
    if (!finding.evidence.empty()) entry["evidence"] = finding.evidence;
    data["findings"].push_back(std::move(entry));
  }
  return data;
}

template <class Level>
std::vector<std::string> violation_lines(const ProofOf<Level>& proof) {
  std::vector<std::string> lines;
  const auto* shown = proof.violation();
  if (!shown) return lines;
  // One bug breaks many properties: the one that decides losslessness is shown, the others are named.
  lines.push_back(
      fmt::format("  {} violated on {}", shown->property, shown->instance ? shown->instance->text() : "an instance"));
  lines.push_back("    " + shown->evidence);
  lines.push_back("    replay: " + shown->replay);
  std::string others;
  for (const auto& finding : proof.findings)
    if (finding.status == Status::violated && &finding != shown)
      others += (others.empty() ? "" : ", ") + std::string(finding.property);
  if (!others.empty()) lines.push_back("  also violated: " + others);
  if (!lines.empty() && proof.distance && proof.distance->off > 0)
    lines.push_back(distance_text(*proof.distance, proof.instances));
  return lines;
}

template <class Level>
std::string refutation_title(const ProofOf<Level>& proof) {
  return fmt::format("{} with {} drafts is {}", proof.verifier->info().name, proof.drafter->info().name,
                     proof.lossy() ? "lossy by design" : "refuted");
}

namespace {

/// Adds the table of one level, its proofs as data, and a section for every violation.
template <class Level>
void add_level(Document& document, std::vector<Section>& violations, std::string title,
               std::span<const ProofOf<Level>> proofs, bool timings) {
  Section section{.title = std::move(title)};
  section.table.columns = {{"verifier"},        {"draft law"},      {"verdict"},       {"properties held", true},
                           {"instances", true}, {"branches", true}, {"seconds", true}, {"undecided"}};
  for (const ProofOf<Level>& proof : proofs) {
    document.data["proofs"].push_back(proof_data(proof, timings));
    const auto held = std::count_if(proof.findings.begin(), proof.findings.end(),
                                    [](const auto& finding) { return finding.status == Status::held; });
    const auto asked = std::count_if(proof.findings.begin(), proof.findings.end(),
                                     [](const auto& finding) { return finding.status != Status::skipped; });
    section.table.rows.push_back({{std::string(proof.verifier->info().name)},
                                  {std::string(proof.drafter->info().name)},
                                  verdict_cell(proof),
                                  {fmt::format("{} of {}", held, asked)},
                                  {grouped(static_cast<std::uint64_t>(proof.instances))},
                                  {grouped(proof.leaves)},
                                  {fmt::format("{:.2f}", proof.seconds), Tone::faint},
                                  {undecided_text(proof)}});
    if (!proof.provable()) section.after.push_back(not_proved_line(proof));
    if (proof.violation()) violations.push_back({.title = refutation_title(proof), .before = violation_lines(proof)});
  }
  document.sections.push_back(std::move(section));
}

}  // namespace

Document report_proofs(std::span<const Proof> proofs, std::span<const PathProof> path_proofs,
                       const ProofOptions& options, bool timings) {
  Document document;
  document.data = {
      {"schema", "draftproof.prove/2"}, {"seed", options.seed}, {"proofs", nlohmann::ordered_json::array()}};
  std::vector<Section> violations;
  if (!proofs.empty() || path_proofs.empty())
    add_level(document, violations, "Proofs in exact fractions", proofs, timings);
  if (!path_proofs.empty())
    add_level(document, violations, "Proofs of paths and trees in exact fractions", path_proofs, timings);
  for (auto& violation : violations) document.sections.push_back(std::move(violation));
  return document;
}

template Cell verdict_cell(const Proof&);
template Cell verdict_cell(const PathProof&);
template Cell verdict_cell(const Proof*, const Info&);
template Cell verdict_cell(const PathProof*, const Info&);
template nlohmann::ordered_json proof_data(const Proof&, bool);
template nlohmann::ordered_json proof_data(const PathProof&, bool);
template std::string refutation_title(const Proof&);
template std::string refutation_title(const PathProof&);
template std::vector<std::string> violation_lines(const Proof&);
template std::vector<std::string> violation_lines(const PathProof&);

}  // namespace draftproof
