// The exact law of a program that one can only call: which values of each random number lead to which emitted tokens,
// found by running the program on chosen tapes.
//
// The tree of draws and stretches is a conjecture, judged by a few witnesses: one random sequence, one with small and
// one with large values. Sequences are then predicted by the tree, random ones and ones at the ends of its stretches,
// and run. Every wrong prediction becomes a witness on its path through the tree, until `predictions` in a row hold.
//
// Correctness: a wrong prediction always refines the tree. Let s be its sequence and r the tree's own path to the
// leaf that s was predicted to reach. Replace the values of s by those of r, one place after another: the run's
// behaviour changes at some place, and there the witness s tells the two values apart.
// Not excluded: a stretch that holds no asked value, no threshold that the input suggests and no predicted value.
// Half of the predictions are uniformly random; n of them miss a wrong mass m with probability (1 - m)^n.
#pragma once

#include <span>
#include <vector>

#include <draftproof/doors/explorer/explore_options.hpp>
#include <draftproof/doors/explorer/program_law.hpp>
#include <draftproof/doors/program.hpp>

namespace draftproof::doors {

/// The laws of `program` on each of `inputs`, in their order. All inputs are explored at once, so that a batch holds
/// the next calls of all of them.
/// Cost: for a chain of V = 3 and two drafts 150 to 250 calls an input, and the predictions; one batch for each step
/// of a bisection.
/// A program that answers no more leaves the laws as far as they were found: ProgramLaw::silent.
/// Throws: DoorError if the program cannot be reached or its log breaks the protocol; std::invalid_argument if an
/// option is out of range.
std::vector<ProgramLaw> explore_program(Program& program, std::span<const Input> inputs,
                                        const ExploreOptions& options = {});

}  // namespace draftproof::doors
