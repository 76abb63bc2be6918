// A replay as a document: what was violated, every way it may go, the law that comes of it, one trial draw by draw.
#pragma once

#include <string>
#include <vector>

#include <draftproof/properties/paths/path_prover.hpp>
#include <draftproof/properties/prover.hpp>
#include <draftproof/properties/story.hpp>
#include <draftproof/report/document.hpp>

namespace draftproof {

/// Starts a document about `what`. Schema draftproof.replay/1.
Document start_replay(const std::string& what, std::uint64_t seed);

/// The answer of each property asked.
template <class Level>
void add_answers(Document& document, const ProofOf<Level>& proof);

void add_story(Document& document, const Story& story);

/// Token by token, or passage by passage.
void add_law(Document& document, const ExactLaw<Rational>& law, const Instance& instance);
void add_law(Document& document, const PassageLaw<Rational>& law);

void add_trial(Document& document, std::uint64_t trial, const std::vector<std::string>& lines);

}  // namespace draftproof
