// The interface that a C++ program implements to be an external verifier: serve() calls it for each request. The
// caller owns all buffers; spans of a request are valid during the call only.
//
//   b   rows of the batch                   n   drafts of its longest row          V   vocabulary
//   P   target rows of a row, 1 or n + 1    Q   proposal rows of a row, 1 or n
//   S   numbers of a row's state, 0 without state
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <draftproof/adapters/declaration.hpp>
#include <draftproof/adapters/program.hpp>

namespace draftproof::adapters {

/// A request to verify, or to draft. In a request to draft, p, drafts, lengths and parents are empty, and n is the
/// number of drafts wanted.
struct ServedBatch {
  int rows = 0;           ///< b
  int vocabulary = 0;     ///< V
  int drafts_a_row = 0;   ///< n
  int target_rows = 0;    ///< P
  int proposal_rows = 0;  ///< Q
  int places = 0;         ///< number of values on the tape of each row
  int state_size = 0;     ///< S
  bool grammar = false;   ///< whether rows of p have masks
  int settings_size = 0;  ///< setting_count with settings of requests, else 0
  Dtype dtype = Dtype::float32;
  RowKind kind = RowKind::probabilities;
  Randomness randomness = Randomness::scripted;
  std::span<const std::byte> p{};           ///< [b, P, V] of dtype, aligned to it; fill_unused() fills unused rows
  std::span<const std::byte> q{};           ///< [b, Q, V]
  std::span<const std::int32_t> drafts{};   ///< [b, n], padded with -1
  std::span<const std::int32_t> lengths{};  ///< [b], 0 .. n
  std::span<const std::int32_t> parents{};  ///< [b, n] for trees, else empty
  std::span<const std::int32_t> legal{};    ///< [b, P, V] under a grammar, 1 for allowed tokens, else empty
  std::span<const double> settings{};       ///< [b, settings_size]: temperature, top-k, top-p, min-p
  std::span<const double> tape{};           ///< [b, places] if scripted, else empty
  std::span<const std::int64_t> seeds{};    ///< [b] if seeded, else empty
  std::span<const double> state{};          ///< [b, S], zeros in a first call

  /// Returns row `i` of the target, or of the proposal, of batch row `row`: V values. T has the size of dtype.
  template <class T>
  std::span<const T> target(int row, int i) const {
    return values<T>(p, row, i, target_rows);
  }
  template <class T>
  std::span<const T> proposal(int row, int i) const {
    return values<T>(q, row, i, proposal_rows);
  }
  /// Returns the state with which `row` begins.
  std::span<const double> state_of(int row) const { return state.subspan(at(row) * at(state_size), at(state_size)); }
  /// Returns the tape of `row`.
  std::span<const double> tape_of(int row) const { return tape.subspan(at(row) * at(places), at(places)); }

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  template <class T>
  std::span<const T> values(std::span<const std::byte> bytes, int row, int i, int rows_of_it) const {
    const std::size_t first = (at(row) * at(rows_of_it) + at(i)) * at(vocabulary);
    return {reinterpret_cast<const T*>(bytes.data()) + first, at(vocabulary)};
  }
};

/// The answer to a ServedBatch. The caller sizes and clears it before the call.
struct ServedResult {
  int tokens_a_row = 0;                    ///< n + 1 for verify, n for draft
  std::vector<std::int32_t> tokens{};      ///< [b, tokens_a_row], filled with -1
  std::vector<std::int32_t> counts{};      ///< [b], initially 0: number of tokens emitted
  std::vector<std::int32_t> status{};      ///< [b], initially 0: a RowStatus other than crashed
  int state_size = 0;                      ///< S for verify, 0 for draft
  std::vector<double> state{};             ///< [b, S], initially zeros: state for the row's next call
  std::map<int, std::string> messages{};   ///< by row: error messages of rows whose status is not ok
  std::map<int, std::string> overwrote{};  ///< by row: names of its arrays that the program changed in place
  std::vector<std::vector<Draw>> draws{};  ///< by row of a scripted run: a draw for each place of the tape used

  /// Returns where the tokens of `row` are to be written.
  std::span<std::int32_t> tokens_of(int row) {
    const auto width = static_cast<std::size_t>(tokens_a_row);
    return std::span(tokens).subspan(static_cast<std::size_t>(row) * width, width);
  }
  /// Returns where the state after `row` is to be written.
  std::span<double> state_of(int row) {
    const auto size = static_cast<std::size_t>(state_size);
    return std::span(state).subspan(static_cast<std::size_t>(row) * size, size);
  }
  void set(int row, RowStatus to, std::string message = {}) {
    status[static_cast<std::size_t>(row)] = static_cast<std::int32_t>(to);
    if (!message.empty()) messages[row] = std::move(message);
  }
};

/// A request to generate. For a program that serves one request, two Markov tables of order n stand for the models, and
/// n tokens 0 precede the text. For a program that serves several requests, two finite automata with S states stand for
/// the models; they start in state 0 and read a prompt first.
struct ServedModels {
  int vocabulary = 0;
  int memory = 1;  ///< n
  int length = 0;  ///< number of tokens; fewer if an end token comes before
  int drafts = 0;
  std::int64_t seed = 0;
  std::span<const double> target{}, proposal{};  ///< [V, .., V], n + 1 extents: last n tokens, then the next token
  // The members below are for several requests; target and proposal then have shape [S, V].
  std::span<const std::int32_t> next{};  ///< [S, V]: the state after each token in each state
  /// For a grammar with G states, [G, V]: `legal` is 1 where the state allows the token, `legal_next` is the state
  /// after the token. The first token is checked in state 0.
  std::span<const std::int32_t> legal{}, legal_next{};
  std::vector<std::vector<std::int32_t>> prompts{};  ///< prompt of each request, at least one token
  std::vector<int> lengths{};                        ///< number of tokens of each request; `length` is their limit
  std::vector<nlohmann::json> settings{};            ///< for each request an object of the declared settings by name
};

/// A request to choose drafts; sim/components/selection_view.hpp defines the terms. A request has n drafts, and its
/// longest path has L.
struct ServedSelection {
  struct Request {
    std::vector<std::int32_t> drafts{}, parents{};   ///< [n]; a parent of -1 is the context itself
    std::vector<std::vector<double>> q{};            ///< [n, V]: the row that each draft was drawn from
    std::vector<std::vector<std::int32_t>> legal{};  ///< [n, V]: 1 if the grammar allows the token there
    std::vector<double> confidence{};                ///< [n + 1]: before any draft, then after each draft
    std::int32_t accepted = 0;                       ///< drafts accepted in the previous step
    std::vector<double> past_confidence{};           ///< [L]: confidence at each position in the previous step
  };
  int vocabulary = 0;
  int budget = 0;              ///< most drafts that are verified, over all requests
  std::vector<double> cost{};  ///< cost of verifying 0, 1, .. drafts; the last entry is used for more drafts
  std::vector<Request> requests{};
};

class Served {
 public:
  virtual ~Served() = default;
  virtual const Declaration& declaration() const = 0;
  /// Throws: an exception derived from std::exception to refuse the whole batch with its text.
  virtual void verify(const ServedBatch& batch, ServedResult& result) = 0;
  /// Draws `batch.drafts_a_row` drafts for each row from its single proposal row.
  virtual void draft(const ServedBatch&, ServedResult&) { throw std::logic_error("this adapter does not draft"); }
  /// Returns `models.length` tokens, or fewer that end with an end token.
  virtual std::vector<std::int32_t> generate(const ServedModels&) {
    throw std::logic_error("this adapter does not generate");
  }
  /// Returns a text for each of `models.prompts`.
  virtual std::vector<std::vector<std::int32_t>> generate_requests(const ServedModels&) {
    throw std::logic_error("this adapter does not generate for several requests");
  }
  /// Returns 1 for each draft that is kept, by request and draft.
  virtual std::vector<std::vector<std::uint8_t>> select(const ServedSelection&) {
    throw std::logic_error("this adapter does not select");
  }
};

/// The child's side of the wire protocol: sends the hello message, then answers requests in frames until `bye` or the
/// end of `input`. First it makes standard output a copy of standard error, permanently, so that the program's output
/// does not get into the frames. Requests are checked: malformed requests, and requests on which Served throws, are
/// refused with an error message. Throws: AdapterError if the host cannot be reached any more or does not send
/// frames. Cost: rows are not copied.
void serve(Served& served, int input = 0, int output = 1);

}  // namespace draftproof::adapters
