// A replay as a document: what was violated, every way it may go, the law that comes of it, one trial draw by draw.
#pragma once

#include <string>
#include <vector>

#include <draftproof/properties/proof/finding.hpp>
#include <draftproof/properties/prover/path_prover.hpp>
#include <draftproof/properties/prover/prover.hpp>
#include <draftproof/properties/replay/trace.hpp>
#include <draftproof/report/document.hpp>

namespace draftproof {

/// Starts a document about `what`. Schema draftproof.replay/1.
Document start_replay(const std::string& what, std::uint64_t seed);

/// The answer of each property asked; evidence on a smaller instance than `instance` says so.
template <class Level>
void add_answers(Document& document, const ProofOf<Level>& proof, const std::string& instance);

/// The answer of one check of a component.
void add_finding(Document& document, const GateFinding& finding);

/// A sentence of its own.
void add_remark(Document& document, const std::string& remark);

void add_story(Document& document, const DecisionTrace& trace);

/// Token by token, or step by step.
void add_law(Document& document, const ExactLaw<Rational>& law, const Instance& instance);
void add_law(Document& document, const StepLaw<Rational>& law);

void add_trial(Document& document, std::uint64_t trial, const std::vector<std::string>& lines);

}  // namespace draftproof
