// The law that a program realises on one input, and how far it can be trusted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <draftproof/doors/explorer/run_store.hpp>

namespace draftproof::doors {

enum class LawState {
  settled,         ///< the whole law; every prediction in a row held
  cut,             ///< `unexplored` mass is left; the rest is as settled
  unsettled,       ///< predictions still failed when the witnesses or calls were used up
  not_a_function,  ///< equal calls had different results; there is no law
};

const char* to_text(LawState state);

struct OutcomeMass {
  Outcome outcome{};
  double probability = 0;
};

/// Values of one draw that a program treats alike.
struct Stretch {
  int place = 0;                        ///< of the tape
  DrawKind kind = DrawKind::coin;       ///< or a lone clock
  std::string stream{};                 ///< of the draw, if the program names it
  int bits = 0;                         ///< the draw is a multiple of 2^-bits
  std::uint64_t first = 0, last = 0;    ///< the draw times 2^bits, both ends included
  double probability = 0;               ///< of the draw's place being reached this way and the draw being among these
  std::vector<OutcomeMass> outcomes{};  ///< what follows, in all `probability` less what is unexplored
};

/// The remark on a race whose winner its weights do not explain, as where other rows change a draw.
inline constexpr std::string_view race_undecided = "a race is not decided by the least clock over weight";

struct ProgramLaw {
  LawState state = LawState::settled;
  std::vector<OutcomeMass> outcomes{};  ///< distinct, in order of (status, tokens, state)
  double unexplored = 0;                ///< mass of the branches that the limits cut
  /// Bound on the total variation by which a program that draws its coins on a grid and computes in floating point
  /// may miss the law it is written for; see deviation_limit().
  double limit = 0;
  std::vector<Stretch> edges{};      ///< coins' stretches of one or two values
  std::vector<Stretch> stretches{};  ///< all stretches of coins, where ExploreOptions::keep_stretches

  std::size_t calls = 0;      ///< runs, repeated ones and those with longer tapes included
  std::size_t predicted = 0;  ///< predictions in a row that held
  std::size_t unjudged = 0;   ///< predictions on unexplored branches, or that rounding decides
  std::size_t witnesses = 0;  ///< sequences that completed runs: the first ones, and wrong predictions
  std::size_t leaves = 0;
  int most_places = 0;                 ///< of a leaf
  std::vector<int> idle_places{};      ///< places that were never seen to matter
  std::vector<std::string> remarks{};  ///< what was cut, and why
  std::string overwrote{};             ///< arrays of the input that a run changed in place
  std::string silent{};        ///< why the program answers no more: the law is unsettled, and as far as it was found
  std::vector<double> tape{};  ///< not_a_function: the call; unsettled: the last prediction that failed

  /// Probability of an outcome with status ok.
  double of(const std::vector<Token>& tokens) const;
  double of(RowStatus status) const;
};

}  // namespace draftproof::doors
