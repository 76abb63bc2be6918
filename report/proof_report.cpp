#include <draftproof/report/proof_report.hpp>

#include <algorithm>

#include <fmt/format.h>

#include <draftproof/report/text.hpp>

namespace draftproof {

namespace {

/// Undecided findings, as "padding (3)".
std::string undecided_text(const Proof& proof) {
  std::string text;
  for (const Finding& finding : proof.findings)
    if (finding.status == Status::undecided)
      text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", finding.property, finding.undecided);
  return text;
}

/// What is known of a verifier that cannot be explored.
std::string not_proved_line(const Proof& proof) {
  std::string held;
  for (const Finding& finding : proof.findings)
    if (finding.status == Status::held)
      held += fmt::format("{}{} on {}", held.empty() ? "" : ", ", finding.property,
                          counted(static_cast<std::uint64_t>(finding.held), "instance"));
  return fmt::format("  {}: the output law is not proved, {}; held in trials: {}", proof.verifier->info().name,
                     proof.verifier->info().cannot.explore, held.empty() ? "nothing" : held);
}

/// In one sentence; nothing for a proof without a violation.
std::string distance_text(const Distance& distance, int instances) {
  return fmt::format("  TV to p: not 0 on {} of {}, at most {:.6f}, on {}", distance.off,
                     counted(static_cast<std::uint64_t>(instances), "instance"),
                     static_cast<double>(distance.largest), distance.instance.text());
}

}  // namespace

Cell verdict_cell(const Proof& proof) {
  if (proof.lossy() && proof.distance)
    return {fmt::format("lossy, TV to {:.4f}", static_cast<double>(proof.distance->largest)), Tone::bad};
  if (proof.violation()) return {"refuted", Tone::bad};
  if (proof.exact()) return {fmt::format("proved ({})", proof.instances), Tone::good};
  if (!proof.provable()) return {"law not proved", Tone::faint};
  if (proof.kept()) return {fmt::format("within {:g} ({})", proof.verifier->info().tau, proof.instances), Tone::good};
  return {"undecided"};
}

nlohmann::ordered_json proof_data(const Proof& proof, bool timings) {
  nlohmann::ordered_json data{{"verifier", proof.verifier->info().name},
                              {"law", proof.drafter->info().name},
                              {"verdict", proof.lossy()       ? "lossy"
                                          : proof.violation() ? "refuted"
                                          : proof.exact()     ? "proved"
                                          : !proof.provable() ? "law not proved"
                                          : proof.kept()      ? "within tau"
                                                              : "undecided"},
                              {"instances", proof.instances},
                              {"branches", proof.leaves}};
  if (!proof.provable()) data["why_not_proved"] = proof.verifier->info().cannot.explore;
  if (timings) data["seconds"] = proof.seconds;
  if (proof.distance) {
    data["total_variation"] = {{"largest", static_cast<double>(proof.distance->largest)},
                               {"instances_off", proof.distance->off}};
    if (proof.distance->off > 0) data["total_variation"]["instance"] = proof.distance->instance.text();
  }
  for (const Finding& finding : proof.findings) {
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

std::vector<std::string> violation_lines(const Proof& proof) {
  std::vector<std::string> lines;
  for (const Finding& finding : proof.findings) {
    if (finding.status != Status::violated) continue;
    lines.push_back(fmt::format("  {} violated on {}", finding.property,
                                finding.instance ? finding.instance->text() : "an instance"));
    lines.push_back("    " + finding.evidence);
    lines.push_back("    replay: " + finding.replay);
  }
  if (!lines.empty() && proof.distance && proof.distance->off > 0)
    lines.push_back(distance_text(*proof.distance, proof.instances));
  return lines;
}

std::string refutation_title(const Proof& proof) {
  return fmt::format("{} with {} drafts is {}", proof.verifier->info().name, proof.drafter->info().name,
                     proof.lossy() ? "lossy by design" : "refuted");
}

Document report_proofs(std::span<const Proof> proofs, const ProofOptions& options, bool timings) {
  Document document;
  document.data = {
      {"schema", "draftproof.prove/1"}, {"seed", options.seed}, {"proofs", nlohmann::ordered_json::array()}};
  Section section{.title = "Proofs in exact fractions"};
  section.table.columns = {{"verifier"},        {"draft law"},      {"verdict"},       {"properties held", true},
                           {"instances", true}, {"branches", true}, {"seconds", true}, {"undecided"}};
  std::vector<Section> violations;
  for (const Proof& proof : proofs) {
    document.data["proofs"].push_back(proof_data(proof, timings));
    const auto held = std::count_if(proof.findings.begin(), proof.findings.end(),
                                    [](const Finding& finding) { return finding.status == Status::held; });
    const auto asked = std::count_if(proof.findings.begin(), proof.findings.end(),
                                     [](const Finding& finding) { return finding.status != Status::skipped; });
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
  for (auto& violation : violations) document.sections.push_back(std::move(violation));
  return document;
}

}  // namespace draftproof
