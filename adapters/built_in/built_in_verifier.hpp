// A registered verifier, mutant or lossy scheme with the interface of an external program, which returns tokens for
// given rows, drafts and random bits.
//
//   level      verifier of                              by default
//   position   one position                             yes
//   chain      paths, the drafts one after the other    where the scheme takes one path
//   tree       paths                                    otherwise
//
// The state of a stateful scheme consists of layers (VerifierState in sim/trees/conditional_model.hpp). It is passed
// as two numbers per layer, the remaining count (at least 1) and the ratio; unused numbers at the end are 0.
//
// `verify` runs the scripted form of the verifier on any source of random bits. Plans of the last few inputs are
// cached.
//
// Schemes of shared noise read random bits by address, and their drafters read the same bits. They run on seeds only,
// not on a finite tape of numbers: a drafter would use up the numbers that are meant for the verifier, and the number
// of addresses that a run may read is not bounded. Their drafts must come from the same seed: from `draft`, or from the
// tree drafter of the draft sampling on Philox(seed, trial, draft).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <draftproof/adapters/declaration.hpp>
#include <draftproof/adapters/program.hpp>
#include <draftproof/properties/subjects/any_path_verifier.hpp>
#include <draftproof/sim/random/tape.hpp>

namespace draftproof::adapters {

struct BuiltInOptions {
  int coin_bits = 53;            ///< bits of each uniform that decides a flip; other uniforms have 53
  std::uint64_t seed = 0;        ///< Philox key of seeded rows; the seed of a row is its trial
  std::string drafter{};         ///< name of a drafter, which may be a wrong one; empty: the verifier's default
  std::optional<Level> level{};  ///< empty: the default of the table above
};

/// Thrown for a row that cannot be decided; holds the status of the row, and the reason as text.
class RowRefused : public std::runtime_error {
 public:
  RowRefused(RowStatus status, const std::string& message) : std::runtime_error(message), status_{status} {}
  RowStatus status() const { return status_; }

 private:
  RowStatus status_;
};

class BuiltInVerifier {
 public:
  /// Throws: AdapterError if nothing is registered by that name, or an option does not fit.
  explicit BuiltInVerifier(std::string_view name, BuiltInOptions options = {});
  ~BuiltInVerifier();

  const Declaration& declaration() const { return declaration_; }
  const BuiltInOptions& options() const { return options_; }
  /// Whether scheme and drafter read the same noise; such a scheme can be seeded only.
  bool shared_noise() const;
  /// Whether the scheme is exact only over several steps, where each call starts from the state that the last call
  /// returned.
  bool stateful() const { return path_ != nullptr && path_->stateful(); }

  /// Returns the emitted tokens. A scheme with state reads it from the input (zeros in a first step) and writes the
  /// state for the next step to `state`, declaration().state_size numbers.
  /// Throws: RowRefused on rows of other shapes or with invalid entries; exceptions of `words`.
  std::vector<Token> verify(const Input& input, Words& words, std::span<double> state = {});
  /// Returns at most `drafts` drafts from the proposal `q`, which has one row, or one row per draft. Throws: as verify.
  std::vector<Token> draft(const std::vector<std::vector<double>>& q, int drafts, Words& words) const;

 private:
  struct Prepared;

  void choose_distribution();
  void choose_level();
  Prepared& prepared(const Input& input);
  std::unique_ptr<Prepared> prepare(const Input& input) const;

  BuiltInOptions options_;
  const AnyVerifier* position_ = nullptr;
  const AnyPathVerifier* path_ = nullptr;
  const AnyDrafter* drafter_ = nullptr;           ///< null unless the level is one position
  const AnyTreeDrafter* tree_drafter_ = nullptr;  ///< null if the level is one position
  Declaration declaration_{};
  std::vector<std::unique_ptr<Prepared>> recent_;
};

/// A name that BuiltInVerifier accepts, with the main properties of the scheme.
struct BuiltInName {
  std::string name;
  Kind kind;
  Level level;
  bool shared_noise;
  bool stateful;
};

/// All names that can be served, verifiers of one position first, each at the level that BuiltInVerifier serves by
/// default.
std::vector<BuiltInName> built_in_names();

// Random bits of a scripted run, made from numbers in [0, 1) that a host chooses: the n-th number is the uniform value
// of the n-th 64 bits that the run reads.
//
//   purpose    bits         stream      use by the verifier
//   flip       coin_bits    accept      compares u den with num
//   pick       53           pick        inverts the running sums of weights at u
//   emit       53           emit        as pick, and ends the run
//   all        53           draft       any purpose, if a drafter reads the bits
//
// The host supplies uniforms for picks and emits too, because a source of random bits has no access to the weights.

/// `Coins` is a function (int bits, const char* stream) that returns a multiple of 2^-bits in [0, 1).
template <class Coins>
class BuiltInWords final : public Words {
 public:
  BuiltInWords(Coins coins, int coin_bits, bool drafting)
      : coins_{std::move(coins)}, coin_bits_{coin_bits}, drafting_{drafting} {}

  std::uint64_t next(Purpose purpose) override {
    const bool flip = purpose == Purpose::flip;
    const char* const stream = drafting_ ? "draft" : flip ? "accept" : purpose == Purpose::pick ? "pick" : "emit";
    return Tape::word(coins_(flip ? coin_bits_ : 53, stream));
  }
  /// Throws: RowRefused, because the host's numbers have no addresses at which a drafter could read the same bits.
  NoiseBlock noise(std::uint32_t, std::uint32_t) override {
    throw RowRefused(RowStatus::unsupported, "shared noise can be drawn from seeds only");
  }

 private:
  Coins coins_;
  int coin_bits_;
  bool drafting_;
};

}  // namespace draftproof::adapters
