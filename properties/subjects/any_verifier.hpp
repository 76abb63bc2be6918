// Verifiers and drafters under test, with their types erased: what the framework holds once a file has been found.
// Each can be set to work on any model of the laws with any source of randomness listed here.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include <draftproof/exact/rational.hpp>
#include <draftproof/sim/distributions/plain_rows.hpp>
#include <draftproof/sim/distributions/ratio_table.hpp>
#include <draftproof/sim/distributions/streamed_rows.hpp>
#include <draftproof/sim/info.hpp>
#include <draftproof/sim/random/batched_philox.hpp>
#include <draftproof/sim/random/explorer.hpp>
#include <draftproof/sim/random/tape.hpp>

namespace draftproof {

/// Trials first .. first + count - 1 of a seed, as arrays: `drafts` holds count x stride tokens, trial-major.
struct TrialBatch {
  std::uint64_t seed, first;
  int count;
  int stride;
  Token* drafts;
  int* lengths;  ///< drafts at hand in each trial, at most stride
  /// The trials where they are not those from `first` on.
  const std::uint64_t* trials = nullptr;
  /// Drafts that each trial is to have, of which `lengths` are at hand; 0: those are all. A trial that looks at
  /// another gets the verdict `drafts_exhausted`. Only for verifiers and drafters of can_be_lazy (simulation.hpp).
  int promised = 0;
  /// Coins that each of the trials is known to lose first, from an earlier verdict `drafts_exhausted`, which has the
  /// number in the place of the accepted draft.
  int known_rejections = 0;

  PhiloxBatch words(int start, Philox::Role role) const {
    const int size = std::min(PhiloxBatch::most, count - start);
    if (trials != nullptr) return {seed, trials + start, size, role};
    return {seed, first + static_cast<std::uint64_t>(start), size, role};
  }
  /// Of the trials at these places, PhiloxBatch::most at most.
  PhiloxBatch words(const int* places, int size, Philox::Role role) const {
    std::uint64_t chosen[PhiloxBatch::most];
    for (int i = 0; i < size; ++i)
      chosen[i] = trials != nullptr ? trials[places[i]] : first + static_cast<std::uint64_t>(places[i]);
    return {seed, chosen, size, role};
  }
};

/// Token of the verdict on a trial that wanted drafts that were not there yet.
inline constexpr Token drafts_exhausted = -3;

/// A verifier prepared for laws and a number of drafts. Refers to the laws; safe to share between threads where the
/// laws are.
template <class L, class R>
class Decider {
 public:
  virtual ~Decider() = default;
  virtual Verdict decide(std::span<const Token> drafts, R& random) const = 0;
};

/// The same for simulation: whole batches, so that the call through the interface costs nothing a trial.
template <class L>
class Decider<L, Philox> {
 public:
  virtual ~Decider() = default;
  virtual void decide(const TrialBatch& batch, Verdict* verdicts) const = 0;
};

template <class L, class R>
using DeciderPtr = std::unique_ptr<Decider<L, R>>;

/// What a scheme is to be held to: a lossy one departs from the target on purpose and says so, a mutant is wrong.
enum class Kind { verifier, lossy, mutant };

/// The kind as listings name it.
constexpr std::string_view name_of(Kind kind) {
  return kind == Kind::verifier ? "verifier" : kind == Kind::lossy ? "lossy" : "mutant";
}

namespace detail {
/// True while the registry takes in what comes with draftproof: whatever is made then is not the program's own.
inline bool& registering_builtin() {
  static bool builtin = false;
  return builtin;
}
}  // namespace detail

/// One found verifier. `on` returns null where Info::unsupported says that the scheme does not run there. Rows of floats
/// are for costs alone, and a slip of another rule has none: nobody asks what a bug costs, and builds are shorter.
class AnyVerifier {
 public:
  AnyVerifier(const Info& info, Kind kind) : info_{info}, kind_{kind} {}
  virtual ~AnyVerifier() = default;

  const Info& info() const { return info_; }
  Kind kind() const { return kind_; }
  /// Comes with draftproof, as opposed to a program that links it.
  bool builtin() const { return builtin_; }
  /// Whether the scheme is defined for this many drafts.
  bool takes(int drafts) const {
    return drafts >= info_.fewest_drafts && (info_.most_drafts == 0 || drafts <= info_.most_drafts);
  }

  virtual DeciderPtr<Rows<Rational>, Explorer<Rational>> prove_on(const Rows<Rational>&, int drafts) const = 0;
  virtual DeciderPtr<Rows<double>, Explorer<double>> explore_on(const Rows<double>&, int drafts) const = 0;
  virtual DeciderPtr<RatioTable, Explorer<double>> explore_on(const RatioTable&, int drafts) const = 0;
  virtual DeciderPtr<FreshRows<double>, Explorer<double>> explore_on(const FreshRows<double>&, int) const = 0;
  virtual DeciderPtr<RatioTable, Philox> simulate_on(const RatioTable&, int drafts) const = 0;
  virtual DeciderPtr<FreshRows<float>, Philox> simulate_on(const FreshRows<float>&, int drafts) const = 0;
  virtual DeciderPtr<Rows<double>, Philox> simulate_on(const Rows<double>&, int drafts) const = 0;
  /// On words from anywhere, every draw logged.
  virtual DeciderPtr<Rows<double>, Scripted> scripted_on(const Rows<double>&, int drafts) const = 0;
  virtual DeciderPtr<RatioTable, Scripted> scripted_on(const RatioTable&, int drafts) const = 0;

 private:
  const Info& info_;
  Kind kind_;
  bool builtin_ = detail::registering_builtin();
};

/// One found drafter. `draw` writes a tuple of at most `drafts` tokens and returns its length. An explorer gets the
/// declared law of a drafter that reads shared noise: the same law, unless the verifier reads that noise too, and
/// such a verifier cannot be explored.
class AnyDrafter {
 public:
  explicit AnyDrafter(const DrafterInfo& info) : info_{info} {}
  virtual ~AnyDrafter() = default;

  const DrafterInfo& info() const { return info_; }
  /// Whether the law exists for K drafts of V tokens from this many proposals.
  bool defined(int vocabulary, int drafts, int proposals) const {
    return (!info_.needs_k_tokens || drafts <= vocabulary) && drafts >= info_.fewest_drafts &&
           (info_.most_drafts == 0 || drafts <= info_.most_drafts) &&
           proposals >= (info_.several_proposals ? drafts : 1);
  }

  virtual int draw(const Rows<Rational>&, int drafts, Explorer<Rational>&, Token* out) const = 0;
  virtual int draw(const Rows<double>&, int drafts, Explorer<double>&, Token* out) const = 0;
  virtual int draw(const RatioTable&, int drafts, Explorer<double>&, Token* out) const = 0;
  virtual int draw(const FreshRows<double>&, int drafts, Explorer<double>&, Token* out) const = 0;
  virtual int draw(const Rows<double>&, int drafts, Scripted&, Token* out) const = 0;
  virtual int draw(const RatioTable&, int drafts, Scripted&, Token* out) const = 0;
  virtual void draw(const RatioTable&, int drafts, const TrialBatch& batch) const = 0;
  virtual void draw(const Rows<double>&, int drafts, const TrialBatch& batch) const = 0;
  /// The declared probability that a tuple of up to `drafts` drafts begins with `prefix`, in closed form; nothing
  /// from a drafter that does not state one. Of a drafter that poses as another: that of the law it poses as.
  virtual std::optional<Rational> declared_mass(const Rows<Rational>&, int drafts,
                                                std::span<const Token> prefix) const = 0;

 private:
  const DrafterInfo& info_;
};

}  // namespace draftproof
