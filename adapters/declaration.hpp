// The declaration that an external program sends when its adapter opens: level, draft sampling, formats and limits.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <draftproof/sim/components/selection_view.hpp>

namespace draftproof::adapters {

/// The unit that the program decides on: one token, a chain of tokens or a tree (Input has the shapes).
enum class Level { position, chain, tree };

/// Who chooses the random numbers.
enum class Randomness { scripted, seeded, opaque };

enum class Dtype { float32, float64, float16, bfloat16 };

enum class RowKind { probabilities, logits };

/// Whether a program emits the likeliest token of each row instead of a draw, and which token if several are equally
/// likely.
enum class Greedy { no, first, last, any };

/// A sampling setting of a request. The first four change a row in a way that does not depend on earlier tokens, so
/// `verify` can have them, too; `generate` for several requests can have all.
enum class Setting {
  temperature,
  top_k,
  top_p,
  min_p,
  repetition_penalty,
  presence_penalty,
  frequency_penalty,
  logit_bias,
  min_tokens,
  stop
};
inline constexpr int setting_count = 4;  ///< number of settings that `verify` can have
inline constexpr int text_setting_count = 10;

/// Declarations of a selection policy (sim/components/selection_view.hpp).
struct DeclaredSelection {
  SelectionCut cut = SelectionCut::before_verification;
  bool trees = false;           ///< whether the policy chooses from trees, not only from chains
  bool matching_alone = false;  ///< whether the policy is for sample-and-match alone
};

std::string_view to_text(Level level);
std::string_view to_text(Randomness randomness);
std::string_view to_text(Dtype dtype);
std::string_view to_text(RowKind kind);
std::string_view to_text(Setting setting);

struct Declaration {
  std::string name;
  std::string version{};  ///< version of the engine
  Level level = Level::chain;
  std::string draft_sampling{"iid"};  ///< name of the draft sampling that the verifier is written for
  std::vector<Randomness> randomness{Randomness::scripted};
  std::vector<Dtype> dtypes{Dtype::float32};
  std::vector<RowKind> rows{RowKind::probabilities};
  std::vector<std::string> functions{"verify"};  ///< the functions that it has of verify, draft, generate, select
  int most_rows = 4096;                          ///< most rows of a batch
  int fewest_drafts = 1;
  int most_drafts = 0;      ///< 0: no limit
  int most_vocabulary = 0;  ///< 0: no limit
  DeclaredSelection selection{};
  Greedy greedy = Greedy::no;
  std::vector<std::int32_t> end_tokens{};  ///< tokens after which a text ends
  int memory = 1;                          ///< number of last tokens that a row of a table of `generate` depends on
  bool requests = false;  ///< `generate` takes several requests with prompts, and models with a state
  /// Whether `verify` gets a grammar's mask for each row of p, and rows of p to which the mask was not applied.
  bool grammar = false;
  /// Settings of each request that `verify`, or `generate` for several requests, gets together with rows to which they
  /// were not applied.
  std::vector<Setting> settings{};
  bool ragged = true;            ///< rows of a batch may have different numbers of drafts
  bool deterministic = true;     ///< equal calls have equal results
  bool batch_invariant = false;  ///< a row's results are the same bits in every batch, not only up to rounding
  double tolerance = 0;          ///< largest total variation from the target that an approximate program declares
  int coin_bits = 24;            ///< uniforms are multiples of 2^-coin_bits, unless a draw states other bits
  std::string old_names{};       ///< names of protocol version 0.2 in the hello message, each with its new name
  int state_size = 0;            ///< numbers that a result passes to the next call on its text; 0: independent calls

  bool can(Randomness wanted) const;
  bool has(std::string_view function) const;
  bool takes(Setting setting) const;
  /// Whether all requests are greedy.
  bool always_greedy() const { return greedy != Greedy::no && !takes(Setting::temperature); }
  /// Whether requests of temperature 0 are greedy and others draw.
  bool greedy_at_zero() const { return greedy != Greedy::no && takes(Setting::temperature); }
  /// Whether each call returns a state that the next call starts from.
  bool stateful() const { return state_size > 0; }
};

/// Throws: AdapterError if the settings do not fit the other fields: settings are declared without `verify` or
/// `requests`, or with both; a setting is listed twice; `verify` declares a setting that only `generate` can have; or a
/// temperature is declared for rows of 16 bits, whose rounding would exceed its effect.
void check_settings(const Declaration& declaration);

/// Thrown if a program cannot be started or reached, or broke the protocol. The command line exits with code 2, or 1 if
/// a program under test crashed on a row that it accepted.
class AdapterError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Thrown if the program was stopped, or did not answer before a time limit. Checks that have not ended are then
/// undecided, earlier findings are kept, and the command line exits with code 3.
class ProgramSilent : public AdapterError {
 public:
  using AdapterError::AdapterError;
};

/// Thrown if the program fails on every input, so that there is no distribution to judge.
class ProgramFails : public AdapterError {
 public:
  ProgramFails(const std::string& name, const std::string& message)
      : AdapterError(name + " fails on every input" + (message.empty() ? ", without a message" : ": " + message)) {}
};

/// Returns a value as JSON in ASCII on one line, for error messages; invalid UTF-8 becomes U+FFFD.
std::string json_text(const nlohmann::json& value);
/// Returns the value as text in double quotes, for the "got" part of a message.
std::string shown_json(const nlohmann::json& value);

/// Returns the declaration in a hello message. Throws: AdapterError that states field, value found and value expected.
Declaration read_declaration(const nlohmann::json& hello);
nlohmann::json to_json(const Declaration& declaration);

}  // namespace draftproof::adapters
