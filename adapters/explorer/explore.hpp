// The exact distribution of a program that one can only call: which values of each random number lead to which
// emitted tokens, found by running the program on chosen tapes.
//
// The tree of draws and stretches is a conjecture. It is first built from a few witnesses (sequences of random numbers
// that complete a run): a random witness, a witness with small values and a witness with large values. The tree then
// predicts the runs on further sequences, of random values and of values at the ends of its stretches, and these
// sequences are run. A wrong prediction becomes a witness on its path through the tree, until `predictions` in a row
// are right.
//
// Correctness: a wrong prediction always refines the tree. Let s be its sequence, and r the tree's own path to the leaf
// that was predicted for s. Replace the values of s by the values of r, one draw after another: at some draw the run's
// behaviour changes, and there s is a witness that separates the two values. The exploration can miss a stretch in
// which no value was tested, neither as a threshold that the input suggests nor in a prediction. Half of the
// predictions are uniformly random; if a mass m of the tree is wrong, n of these miss it with probability (1 - m)^n.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <draftproof/adapters/explorer/run_store.hpp>
#include <draftproof/adapters/program.hpp>

namespace draftproof::adapters {

// Limits and choices of an exploration.

struct ExploreOptions {
  int coin_bits = 24;     ///< bits of the program's uniforms; tape entries are multiples of 2^-min(24, coin_bits)
  int dtype_bits = 24;    ///< significand of the numbers that the program computes in, for ProgramDistribution::limit
  int predictions = 256;  ///< predictions that must be right in a row
  int even_points = 8;    ///< parts of a grid whose ends are always tested
  int most_witnesses = 64;                  ///< most witnesses of an input
  std::size_t most_calls = 20000;           ///< calls for an input's tree; predictions may take 4 * predictions more
  std::size_t most_branches = 4096;         ///< most branches of one draw
  int most_places = 512;                    ///< places of a tape; branches that draw more are unexplored
  double least_mass = 0x1p-60;              ///< branches below it are unexplored
  int repeat_every = 16;                    ///< one call in this many is repeated, in another order; 0: none
  bool keep_stretches = false;              ///< report all stretches of coins, not only the edges
  std::uint64_t seed = 1;                   ///< seed of witnesses and predictions
  std::vector<double> thresholds{};         ///< thresholds to test beside those of suggested_points.hpp
  const std::atomic<bool>* stop = nullptr;  ///< if true, no further batch is run, as if the program stopped answering
};

// The distribution that a program realises on one input, and how far it can be trusted.

enum class DistributionState {
  settled,         ///< the whole distribution; all predictions in a row were right
  cut,             ///< branches of mass `unexplored` were not explored; all predictions on the rest were right
  unsettled,       ///< predictions still failed when the witnesses or calls were used up
  not_a_function,  ///< equal calls had different results; there is no distribution
};

const char* to_text(DistributionState state);

struct OutcomeMass {
  Outcome outcome{};
  double probability = 0;
};

/// Values of one draw that a program treats alike.
struct Stretch {
  int place = 0;                        ///< place on the tape
  DrawKind kind = DrawKind::coin;       ///< a coin, an integer or a lone clock
  std::string stream{};                 ///< stream of the draw, if the program names it
  int bits = 0;                         ///< the draw is a multiple of 2^-bits
  std::uint64_t first = 0, last = 0;    ///< the draw times 2^bits, both ends included
  double probability = 0;               ///< probability of the draws before this place, and of one of these values
  std::vector<OutcomeMass> outcomes{};  ///< outcomes after the stretch; sum: `probability` less unexplored mass
};

/// The remark on a race in which the weights do not explain the winner, for example because other rows change a draw.
inline constexpr std::string_view race_undecided = "a race is not won by the smallest clock divided by its weight";

struct ProgramDistribution {
  DistributionState state = DistributionState::settled;
  std::vector<OutcomeMass> outcomes{};  ///< distinct, in order of (status, tokens, state)
  double unexplored = 0;                ///< mass of the branches that the limits cut
  /// Bound on the total variation by which a program that draws its coins on a grid and computes in floating point
  /// may miss the distribution it is written for; see deviation_limit().
  double limit = 0;
  std::vector<Stretch> edges{};      ///< stretches of uniforms with one or two values
  std::vector<Stretch> stretches{};  ///< all stretches of coins if ExploreOptions::keep_stretches is set, else empty

  std::size_t calls = 0;      ///< runs, including repeated runs and runs with longer tapes
  std::size_t predicted = 0;  ///< predictions in a row that were right
  std::size_t unjudged = 0;   ///< predictions that end in unexplored branches, or that rounding decides
  std::size_t witnesses = 0;  ///< witnesses used: the first three, and wrong predictions
  std::size_t leaves = 0;
  int most_places = 0;                 ///< largest number of places that a run reads
  std::vector<int> idle_places{};      ///< places whose value never changed the outcome
  std::vector<std::string> remarks{};  ///< which parts of the tree were cut, and why
  std::string overwrote{};             ///< arrays of the input that a run changed in place
  std::string silent{};  ///< why the program stopped answering; the distribution is then unsettled and incomplete
  /// For not_a_function: tape of the call that had two results; for unsettled: tape of the last wrong prediction.
  std::vector<double> tape{};

  /// Returns the probability of the outcome with these tokens and status ok.
  double of(const std::vector<Token>& tokens) const;
  double of(RowStatus status) const;
};

/// Returns the distributions of `program` on each of `inputs`, in their order. All inputs are explored at once, so that
/// a batch holds the next calls of all of them.
/// Cost: for a chain of V = 3 and two drafts 150 to 250 calls an input, and the predictions; one batch for each step
/// of a bisection.
/// If the program stops answering, the distributions are incomplete (ProgramDistribution::silent).
/// Throws: AdapterError if the program cannot be reached or its log breaks the protocol; std::invalid_argument if an
/// option is out of range.
std::vector<ProgramDistribution> explore_program(Program& program, std::span<const Input> inputs,
                                                 const ExploreOptions& options = {});

}  // namespace draftproof::adapters
