#include <draftproof/report/page/verdicts.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace draftproof::page {

namespace {

Grade grade_of(const std::string& text) {
  for (const char* good : {"proved", "held", "caught", "within", "not accused"})
    if (begins(text, good)) return Grade::good;
  for (const char* bad : {"refuted", "violated", "not caught", "accused"})
    if (begins(text, bad)) return Grade::bad;
  return begins(text, "lossy") ? Grade::lossy : Grade::open;
}

Verdict verdict_of(std::string kind, std::string subject, std::string where, std::string text) {
  const Grade grade = grade_of(text);
  return {std::move(kind), std::move(subject), std::move(where), std::move(text), grade};
}

void add_proofs_of(const Json& data, std::vector<Verdict>& verdicts) {
  for (const Json* proof : objects_in(member(data, "proofs"))) {
    verdicts.push_back(
        verdict_of("proof", text_of(*proof, "verifier"), text_of(*proof, "law"), text_of(*proof, "verdict")));
    Verdict& verdict = verdicts.back();
    verdict.detail = fmt::format("{} instances", count_of(*proof, "instances"));
    if (const auto distance = number_of(member(*proof, "total_variation"), "largest"); distance && *distance > 0)
      verdict.detail += fmt::format(", total variation to {:.4f}", *distance);
  }
}

std::string checks_held(const Json& gate) {
  const auto findings = objects_in(member(gate, "findings"));
  const auto held = std::count_if(findings.begin(), findings.end(),
                                  [](const Json* finding) { return text_of(*finding, "status") == "held"; });
  return fmt::format("{} of {} checks held", held, findings.size());
}

}  // namespace

std::vector<VerdictReader>& found_verdict_readers() {
  static std::vector<VerdictReader> all;
  return all;
}

std::vector<Verdict> verdicts_in(const Json& data) {
  std::vector<Verdict> verdicts;
  add_proofs_of(data, verdicts);
  for (const Json* gate : objects_in(member(data, "gates")))
    if (const std::string status = text_of(*gate, "status"); !status.empty()) {
      verdicts.push_back(verdict_of("gate", text_of(*gate, "verifier"), text_of(*gate, "tier"), status));
      verdicts.back().detail = checks_held(*gate);
    }
  for (const Json* mutant : objects_in(member(data, "mutants"))) {
    const bool caught = member(*mutant, "caught") == true;
    verdicts.push_back(
        verdict_of("mutant", text_of(*mutant, "mutant"), text_of(*mutant, "with"), caught ? "caught" : "not caught"));
    verdicts.back().detail = text_of(member(*mutant, "first"), "check");
  }
  for (const Json* control : objects_in(member(data, "controls"))) {
    const std::string accuser = text_of(*control, "accused_by");
    verdicts.push_back(verdict_of("control", text_of(*control, "verifier"), text_of(*control, "law"),
                                  accuser.empty() ? "not accused" : "accused"));
    verdicts.back().detail = accuser;
  }
  if (data.is_object() && data.contains("log10_threshold"))
    verdicts.push_back(verdict_of("audit", text_of(data, "engine"), text_of(data, "trace"), text_of(data, "status")));
  for (const VerdictReader& reader : found_verdict_readers()) reader(data, verdicts);
  return verdicts;
}

namespace {

/// Takes the finding if it has a counterexample.
void take(const Json& finding, const char* property, const std::string& subject, const std::string& where,
          bool expected, std::vector<Counterexample>& found) {
  Counterexample example{subject,
                         where,
                         text_of(finding, property),
                         text_of(finding, "counterexample"),
                         text_of(finding, "evidence"),
                         text_of(finding, "replay"),
                         expected};
  const std::string status = text_of(finding, "status");
  if (status == "held" || status == "skipped" || (example.instance.empty() && status != "violated")) return;
  found.push_back(std::move(example));
}

}  // namespace

std::vector<Counterexample> counterexamples_in(const Json& data) {
  std::vector<Counterexample> found;
  for (const Json* proof : objects_in(member(data, "proofs")))
    for (const Json* finding : objects_in(member(*proof, "findings")))
      take(*finding, "property", text_of(*proof, "verifier"), text_of(*proof, "law"),
           text_of(*proof, "verdict") == "lossy", found);
  for (const Json* gate : objects_in(member(data, "gates")))
    for (const Json* finding : objects_in(member(*gate, "findings")))
      take(*finding, "check", text_of(*gate, "verifier"), text_of(*gate, "tier"), false, found);
  for (const Json* mutant : objects_in(member(data, "mutants")))
    take(member(*mutant, "shown"), "check", text_of(*mutant, "mutant"), text_of(*mutant, "with"), true, found);
  if (const Json& example = member(data, "example"); example.is_object())
    take(example, "check", text_of(example, "bug"), "planted bug", true, found);
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.expected < b.expected; });
  return found;
}

}  // namespace draftproof::page
