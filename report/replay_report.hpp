// The report of a replay: the violation, every course of the decision, the resulting law, one trial draw by draw.
#pragma once

#include <string>
#include <vector>

#include <draftproof/properties/proof/finding.hpp>
#include <draftproof/properties/prover/path_prover.hpp>
#include <draftproof/properties/prover/prover.hpp>
#include <draftproof/properties/replay/trace.hpp>
#include <draftproof/report/document.hpp>

namespace draftproof {

/// An empty report with the title `what`. Schema draftproof.replay/2.
Document start_replay(const std::string& what, std::uint64_t seed);

/// Adds the answer of each property. Evidence on an instance other than `instance` names that instance.
template <class Level>
void add_answers(Document& document, const ProofOf<Level>& proof, const std::string& instance);

/// Adds the finding of one check of a component.
void add_finding(Document& document, const GateFinding& finding);

/// Adds a sentence.
void add_remark(Document& document, const std::string& remark);

/// Adds the courses of a decision.
void add_story(Document& document, const DecisionTrace& trace);

/// Adds the law of a token.
void add_law(Document& document, const ExactLaw<Rational>& law, const Instance& instance);
/// Adds the law of a step.
void add_law(Document& document, const StepLaw<Rational>& law);

/// Adds the lines of one trial.
void add_trial(Document& document, std::uint64_t trial, const std::vector<std::string>& lines);

}  // namespace draftproof
