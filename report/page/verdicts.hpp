// The verdicts in stored data: of proofs, gates, mutants, controls, audits and judged goals.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <draftproof/report/page/read.hpp>

namespace draftproof::page {

/// From good to bad: a change to a later one is a change for the worse.
enum class Grade { good, open, lossy, bad };

struct Verdict {
  std::string kind;     ///< "proof", "gate", "mutant", "control", "audit", "goal"
  std::string subject;  ///< the scheme
  std::string where;    ///< its draft law, level or tier
  std::string text;     ///< "proved", "refuted", "held", "caught", ..
  Grade grade;
  std::string detail{};  ///< "50 instances"

  /// What makes it the same verdict in another run.
  std::string key() const { return kind + " " + subject + " " + where; }
};

using VerdictReader = std::function<void(const Json& data, std::vector<Verdict>& verdicts)>;

/// What reads verdicts of other libraries' data; the library of benchmarks judges goals.
std::vector<VerdictReader>& found_verdict_readers();

/// The verdicts in the order of the data.
std::vector<Verdict> verdicts_in(const Json& data);

struct Counterexample {
  std::string subject, where, property;
  std::string instance, evidence, replay;
  bool expected = false;  ///< of a mutant, or of a scheme that is lossy by design
};

/// The counterexamples of `data`, those that are not expected first.
std::vector<Counterexample> counterexamples_in(const Json& data);

}  // namespace draftproof::page
