#include <draftproof/cli/report/proof_report.hpp>

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <draftproof/cli/report/text.hpp>
#include <draftproof/properties/proof/rollout_certificate.hpp>

namespace draftproof {

namespace {

/// Returns the names of the undecided findings, as "padding (3)".
template <class Level>
std::string undecided_text(const ProofOf<Level>& proof) {
  return listed(proof.findings, [](const auto& finding) {
    return finding.status == Status::undecided ? fmt::format("{} ({})", finding.property, finding.undecided) : "";
  });
}

/// Returns the line on a verifier whose branches cannot be explored: it is not proved, but the named properties
/// passed in trials.
template <class Level>
std::string not_proved_line(const ProofOf<Level>& proof) {
  const std::string passed = listed(proof.findings, [](const auto& finding) {
    return finding.status != Status::passed
               ? ""
               : fmt::format("{} on {}", finding.property,
                             counted(static_cast<std::uint64_t>(finding.passed), "instance"));
  });
  return fmt::format("  {}: the output distribution is not proved, {}; passed in trials: {}",
                     proof.verifier->info().name, proof.verifier->info().unsupported.explore,
                     passed.empty() ? "nothing" : passed);
}

/// Returns the distance of the output from the target, in one sentence.
template <class Instance>
std::string distance_text(const DistanceOf<Instance>& distance, int instances) {
  return fmt::format("  TV to p: positive on {} of {}; the largest is {:.6f}, on {}", distance.off,
                     counted(static_cast<std::uint64_t>(instances), "instance"),
                     static_cast<double>(distance.largest), distance.instance.text());
}

}  // namespace

Cell status_cell(Status status) {
  const Tone tone = status == Status::failed ? Tone::bad : status == Status::passed ? Tone::good : Tone::plain;
  return {std::string(to_text(status)), tone};
}

template <class Level>
Cell verdict_cell(const ProofOf<Level>& proof) {
  if (proof.lossy() && proof.distance)
    return {fmt::format("lossy, TV to {:.4f}", static_cast<double>(proof.distance->largest)), Tone::bad};
  if (proof.violation()) return {"refuted", Tone::bad};
  if (!proof.complete) return {fmt::format("stopped ({})", proof.instances)};
  if (proof.exact()) return {fmt::format("proved ({})", proof.instances), Tone::good};
  if (!proof.provable()) return {"distribution not proved", Tone::faint};
  if (proof.kept()) return {fmt::format("within {:g} ({})", proof.verifier->info().tau, proof.instances), Tone::good};
  return {"undecided"};
}

template <class Level>
Cell verdict_cell(const ProofOf<Level>* proof, const Info& info) {
  if (proof) return verdict_cell(*proof);
  return {info.unsupported.explore.empty() ? "not proved" : "cannot be enumerated", Tone::faint};
}

template <class Level>
nlohmann::ordered_json proof_data(const ProofOf<Level>& proof, bool timings) {
  nlohmann::ordered_json data{{"level", Level::name},
                              {"verifier", proof.verifier->info().name},
                              {"draft_sampling", proof.drafter->info().name},
                              {"verdict", proof.lossy()       ? "lossy"
                                          : proof.violation() ? "refuted"
                                          : !proof.complete   ? "stopped"
                                          : proof.exact()     ? "proved"
                                          : !proof.provable() ? "distribution not proved"
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
                                 {"passed", finding.passed},
                                 {"undecided", finding.undecided}};
    if (!finding.instance.empty()) {
      entry["counterexample"] = finding.instance;
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
  // One bug fails many properties, so only the property that decides losslessness is shown; the other failed
  // properties are only named.
  lines.push_back(
      fmt::format("  {} failed on {}", shown->property, shown->instance.empty() ? "an instance" : shown->instance));
  lines.push_back("    " + shown->evidence);
  lines.push_back("    replay: " + shown->replay);
  const std::string others = listed(proof.findings, [shown](const auto& finding) {
    return std::string(finding.status == Status::failed && &finding != shown ? finding.property : "");
  });
  if (!others.empty()) lines.push_back("  also failed: " + others);
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
  for (const ProofOf<Level>& proof : proofs) {
    const auto passed = std::count_if(proof.findings.begin(), proof.findings.end(),
                                      [](const auto& finding) { return finding.status == Status::passed; });
    const auto asked = std::count_if(proof.findings.begin(), proof.findings.end(),
                                     [](const auto& finding) { return finding.status != Status::skipped; });
    ResultRow row{.record = proof_data(proof, timings)};
    row.cell("verifier", {std::string(proof.verifier->info().name)});
    row.cell("draft sampling", {std::string(proof.drafter->info().name)}).cell("verdict", verdict_cell(proof));
    row.number("properties passed", {fmt::format("{} of {}", passed, asked)});
    row.number("instances", {grouped(static_cast<std::uint64_t>(proof.instances))});
    row.number("branches", {grouped(proof.leaves)});
    row.number("seconds", {fmt::format("{:.2f}", proof.seconds), Tone::faint});
    row.cell("undecided", {undecided_text(proof)});
    section.table.add(document.data["proofs"], std::move(row));
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
      {"schema", "draftproof.prove/3"}, {"seed", options.seed}, {"proofs", nlohmann::ordered_json::array()}};
  std::vector<Section> violations;
  if (!proofs.empty() || path_proofs.empty())
    add_level(document, violations, "Proofs in exact fractions", proofs, timings);
  if (!path_proofs.empty())
    add_level(document, violations, "Proofs of paths and trees in exact fractions", path_proofs, timings);
  for (auto& violation : violations) document.sections.push_back(std::move(violation));
  return document;
}

Document start_replay(const std::string& what, std::uint64_t seed) {
  Document document;
  document.data = {{"schema", "draftproof.replay/3"}, {"what", what}, {"seed", seed}};
  document.sections.push_back({.title = what});
  return document;
}

namespace {

/// Adds a row to the table of properties, which is created on first use.
void add_answer(Document& document, std::string_view property, Status status, const std::string& evidence) {
  if (document.sections.back().title != "Properties") {
    document.sections.push_back({.title = "Properties"});
    document.data["findings"] = nlohmann::ordered_json::array();
  }
  ResultRow row;
  row.text("property", "property", {std::string(property)}).text("status", "answer", status_cell(status));
  row.cell("evidence", {evidence});
  if (!evidence.empty()) row.data("evidence", evidence);
  document.sections.back().table.add(document.data["findings"], std::move(row));
}

}  // namespace

template <class Level>
void add_answers(Document& document, const ProofOf<Level>& proof, const std::string& instance) {
  for (const auto& finding : proof.findings)
    if (finding.status != Status::skipped)
      add_answer(document, finding.property, finding.status,
                 !finding.instance.empty() && finding.instance != instance
                     ? fmt::format("{}, on {}", finding.evidence, finding.instance)
                     : finding.evidence);
}

void add_finding(Document& document, const Finding& finding) {
  add_answer(document, finding.property, finding.status, finding.evidence);
}

void add_remark(Document& document, const std::string& remark) {
  document.data["remarks"].push_back(remark);
  document.sections.back().after.push_back("  " + remark);
}

void add_story(Document& document, const DecisionTrace& trace) {
  Section section{.title = "All decision paths"};
  auto& data = document.data["ways"] = nlohmann::ordered_json::array();
  for (const TraceLine& line : trace.lines) {
    ResultRow row;
    row.text("drafts", "drafts", {line.drafts}).text("decisions", "decisions of the verifier", {line.decisions});
    row.text("emits", "emits", {line.emitted});
    row.data("probability", line.probability).number("probability", {line.probability});
    section.table.add(data, std::move(row));
  }
  if (!trace.whole) section.after.push_back("  further paths are not shown; --ways N shows N of them");
  document.sections.push_back(std::move(section));
}

namespace {

/// Adds the certificate that a lossy scheme's output can be used as rollouts of p, or the reason why there is none.
void add_certificate(Document& document, Section& section, std::span<const Rational> output,
                     std::span<const Rational> target) {
  const auto certificate = rollout_certificate(output, target);
  nlohmann::ordered_json data{{"refused", certificate.refused()},
                              {"total_variation", to_text(certificate.total_variation)}};
  if (std::isfinite(certificate.divergence)) data["divergence"] = certificate.divergence;
  const std::string divergence = fmt::format("KL(output || p) {:.6g} nats", certificate.divergence);
  if (certificate.refused()) {
    const Token x = certificate.never_emitted;
    data["never_emitted"] = x;
    section.after.push_back(
        fmt::format("  no certificate for rollouts: token {} has p {} and is never emitted, so the importance ratio "
                    "p / output is unbounded; {}",
                    x, brief(target[static_cast<std::size_t>(x)]), divergence));
  } else {
    data["largest_ratio"] = to_text(certificate.ratio);
    section.after.push_back(
        fmt::format("  certificate for rollouts: bias (TV) {}, {}, importance ratio p / output at most {}",
                    brief(certificate.total_variation), divergence, brief(certificate.ratio)));
  }
  document.data["rollout_certificate"] = std::move(data);
}

}  // namespace

void add_distribution(Document& document, const ExactDistribution<Rational>& distribution, const Instance& instance,
                      bool lossy) {
  if (!distribution.complete) return add_remark(document, "the distribution is not known: too many branches");
  const auto target = normalised(instance.target);
  Section section{.title = "Resulting distribution"};
  auto& data = document.data["distribution"] = nlohmann::ordered_json::array();
  for (std::size_t x = 0; x < target.size(); ++x) {
    const Rational excess = distribution.output[x] - target[x];
    ResultRow row;
    row.number("token", {std::to_string(x)});
    row.data("target", to_text(target[x])).number("target", {brief(target[x])});
    row.data("emitted", to_text(distribution.output[x])).number("emitted", {brief(distribution.output[x])});
    row.number("excess", {excess == 0 ? "" : brief(excess), excess == 0 ? Tone::plain : Tone::bad});
    section.table.add(data, std::move(row));
  }
  section.after.push_back(fmt::format("  TV {}; accepted {} (verifier's count), {} (any draft emitted)",
                                      brief(total_variation(distribution.output, target)),
                                      brief(distribution.draft_accepted), brief(distribution.draft_emitted)));
  if (lossy) add_certificate(document, section, distribution.output, target);
  document.sections.push_back(std::move(section));
}

void add_distribution(Document& document, const StepDistribution<Rational>& distribution) {
  if (!distribution.complete) return add_remark(document, "the distribution is not known: too many branches");
  Section section{.title = "Resulting steps"};
  auto& data = document.data["steps"] = nlohmann::ordered_json::array();
  for (const auto& [step, probability] : distribution.emitted) {
    ResultRow row;
    row.data("step", step).cell("step", {prefix_text(step)});
    row.data("probability", to_text(probability)).number("probability", {brief(probability)});
    section.table.add(data, std::move(row));
  }
  section.after.push_back(fmt::format("  {} tokens accepted on average, the last token of a step not counted",
                                      brief(distribution.mean_accepted())));
  document.sections.push_back(std::move(section));
}

void add_trial(Document& document, std::uint64_t trial, const std::vector<std::string>& lines) {
  document.data["trial"] = {{"number", trial}, {"lines", lines}};
  Section section{.title = fmt::format("Trial {}", grouped(trial))};
  for (const auto& line : lines) section.before.push_back("  " + line);
  document.sections.push_back(std::move(section));
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
template void add_answers(Document&, const Proof&, const std::string&);
template void add_answers(Document&, const PathProof&, const std::string&);

}  // namespace draftproof
