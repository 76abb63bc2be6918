// Type-erased verifiers and drafters under test. AnyVerifier and AnyDrafter list the forms of rows and the random
// sources that they support. Also the sorted lists that registries consist of.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <draftproof/optimum/exact/rational.hpp>
#include <draftproof/sim/distributions/plain_rows.hpp>
#include <draftproof/sim/distributions/ratio_table.hpp>
#include <draftproof/sim/distributions/streamed_rows.hpp>
#include <draftproof/sim/info.hpp>
#include <draftproof/sim/random/batched_philox.hpp>
#include <draftproof/sim/random/explorer.hpp>
#include <draftproof/sim/random/tape.hpp>

namespace draftproof {

// Lists that are sorted by a key and contain every key once.

/// Inserts `item` so that `list` stays sorted by `key`, a tuple whose second part is the name.
/// Throws: std::logic_error if the key is in the list.
template <class List, class Item, class Key>
void insert_sorted(List& list, Item&& item, Key key) {
  const auto place =
      std::lower_bound(list.begin(), list.end(), item, [&](const auto& a, const auto& b) { return key(a) < key(b); });
  if (place != list.end() && key(*place) == key(item))
    throw std::logic_error("registered twice: " + std::string(std::get<1>(key(item))));
  list.insert(place, std::forward<Item>(item));
}

/// A sorted list of entries with different names, for verifiers, drafters, components, their checks, properties
/// and families of instances. Sorted by group() if the entries have it, then by kind() (verifiers before
/// mutants), then by name. A name is `entry->info().name`, or `entry.name`.
template <class Thing>
class NamedList {
 public:
  /// Throws: std::logic_error if an entry of any group or kind already has the name, because look-ups and
  /// reports use the name only.
  void add(Thing thing) {
    if (find(name_of(thing))) throw std::logic_error("registered twice: " + std::string(name_of(thing)));
    insert_sorted(things_, std::move(thing), [](const Thing& one) {
      if constexpr (requires { one->group(); })
        return std::tuple(std::tuple(one->group(), one->kind()), name_of(one));
      else if constexpr (requires { one->kind(); })
        return std::tuple(one->kind(), name_of(one));
      else
        return std::tuple(0, name_of(one));
    });
  }
  const std::vector<Thing>& all() const { return things_; }
  std::vector<Thing> take() && { return std::move(things_); }
  /// Returns a pointer to the entry of that name, or null.
  auto find(std::string_view name) const {
    const auto found =
        std::find_if(things_.begin(), things_.end(), [&](const Thing& one) { return name_of(one) == name; });
    if constexpr (requires { found->get(); })
      return found == things_.end() ? nullptr : found->get();
    else
      return found == things_.end() ? nullptr : &*found;
  }

 private:
  static std::string_view name_of(const Thing& thing) {
    if constexpr (requires { thing->info(); })
      return thing->info().name;
    else
      return thing.name;
  }

  std::vector<Thing> things_;
};

/// Trials first .. first + count - 1 of a seed, as arrays. `drafts` has count x stride tokens, trial by trial.
struct TrialBatch {
  std::uint64_t seed, first;
  int count;
  int stride;
  Token* drafts;
  int* lengths;  ///< number of available drafts of each trial, at most stride
  /// The number of each trial, if the numbers are not first, first + 1, ..; else null.
  const std::uint64_t* trials = nullptr;
  /// Number of drafts that each trial will have, of which `lengths` are available; 0: all are available. A
  /// trial that reads an unavailable draft gets the verdict `drafts_exhausted`. Only for verifiers and drafters
  /// with can_be_lazy() (simulation.hpp).
  int promised = 0;
  /// Number of flips at the beginning of each trial that are known to reject. A verdict `drafts_exhausted` has its
  /// number of known rejections in `accepted`, the field of the accepted draft.
  int known_rejections = 0;

  /// Returns random bits for at most PhiloxBatch::most trials from index `start` on.
  PhiloxBatch words(int start, Philox::Role role) const {
    const int size = std::min(PhiloxBatch::most, count - start);
    if (trials != nullptr) return {seed, trials + start, size, role};
    return {seed, first + static_cast<std::uint64_t>(start), size, role};
  }
  /// Returns random bits for the trials at these indices, at most PhiloxBatch::most.
  PhiloxBatch words(const int* places, int size, Philox::Role role) const {
    std::uint64_t chosen[PhiloxBatch::most];
    for (int i = 0; i < size; ++i)
      chosen[i] = trials != nullptr ? trials[places[i]] : first + static_cast<std::uint64_t>(places[i]);
    return {seed, chosen, size, role};
  }
};

/// Token of the verdict on a trial that read an unavailable draft.
inline constexpr Token drafts_exhausted = -3;

/// A verifier prepared for rows, to which it refers, and for a number of drafts. Threads may share a decider if they
/// may share the rows.
template <class L, class R>
class Decider {
 public:
  virtual ~Decider() = default;
  /// Returns the verdict on these drafts.
  virtual Verdict decide(std::span<const Token> drafts, R& random) const = 0;
};

/// The decider for simulation: decides whole batches, so that one virtual call serves many trials.
template <class L>
class Decider<L, Philox> {
 public:
  virtual ~Decider() = default;
  /// Writes one verdict for each trial of the batch.
  virtual void decide(const TrialBatch& batch, Verdict* verdicts) const = 0;
};

template <class L, class R>
using DeciderPtr = std::unique_ptr<Decider<L, R>>;

/// A lossless verifier, a scheme that is lossy by design and declares it, or a verifier that is wrong on purpose.
enum class Kind { verifier, lossy, mutant };

/// Returns the kind as printed in listings.
constexpr std::string_view name_of(Kind kind) {
  return kind == Kind::verifier ? "verifier" : kind == Kind::lossy ? "lossy" : "mutant";
}

namespace detail {
/// True while the registry adds the built-in entries. Entries added at any other time are user-defined.
inline bool& registering_builtin() {
  static bool builtin = false;
  return builtin;
}
}  // namespace detail

/// The base class of AnyVerifier and AnyPathVerifier.
class RegisteredVerifier {
 public:
  RegisteredVerifier(const Info& info, Kind kind) : info_{info}, kind_{kind} {}
  virtual ~RegisteredVerifier() = default;

  const Info& info() const { return info_; }
  Kind kind() const { return kind_; }
  /// Whether the verifier is built in, as opposed to user-defined (registered by the linking program).
  bool builtin() const { return builtin_; }
  /// Whether the scheme is defined for this many drafts.
  bool takes(int drafts) const {
    return drafts >= info_.fewest_drafts && (info_.most_drafts == 0 || drafts <= info_.most_drafts);
  }

 private:
  const Info& info_;
  Kind kind_;
  bool builtin_ = detail::registering_builtin();
};

/// A registered verifier of one position. A function that returns a decider returns null if Info::unsupported excludes
/// this combination of rows and random source, or the verifier does not override the function. Deciders on rows of
/// floats are in timed_forms.hpp.
class AnyVerifier : public RegisteredVerifier {
 public:
  using RegisteredVerifier::RegisteredVerifier;

  /// Returns a decider for exact enumeration in fractions.
  virtual DeciderPtr<Rows<Rational>, Explorer<Rational>> prove_on(const Rows<Rational>&, int) const { return {}; }
  /// Returns a decider for enumeration in double on plain rows, prepared tables or fresh rows.
  virtual DeciderPtr<Rows<double>, Explorer<double>> explore_on(const Rows<double>&, int) const { return {}; }
  virtual DeciderPtr<RatioTable, Explorer<double>> explore_on(const RatioTable&, int) const { return {}; }
  virtual DeciderPtr<FreshRows<double>, Explorer<double>> explore_on(const FreshRows<double>&, int) const {
    return {};
  }
  /// Returns a decider for trials on prepared tables.
  virtual DeciderPtr<RatioTable, Philox> simulate_on(const RatioTable&, int drafts) const = 0;
  /// Returns a decider for trials on plain rows: scripted_on(), run on the random bits of each trial.
  DeciderPtr<Rows<double>, Philox> simulate_on(const Rows<double>&, int drafts) const;
  /// Returns a decider for scripted random bits, which logs every draw.
  virtual DeciderPtr<Rows<double>, Scripted> scripted_on(const Rows<double>&, int) const { return {}; }
  virtual DeciderPtr<RatioTable, Scripted> scripted_on(const RatioTable&, int) const { return {}; }
};

/// A registered drafter. `draw` writes a tuple of at most `drafts` tokens and returns its length. For a drafter that
/// reads shared noise, the overloads with an Explorer draw from the declared distribution instead. The results are the
/// same, because drafts have the declared distribution, unless the verifier reads the noise too; and such a verifier
/// cannot be enumerated.
class AnyDrafter {
 public:
  explicit AnyDrafter(const DrafterInfo& info) : info_{info} {}
  virtual ~AnyDrafter() = default;

  const DrafterInfo& info() const { return info_; }
  /// Whether the draft sampling is defined for this many drafts of V tokens from this many proposals.
  bool defined(int vocabulary, int drafts, int proposals) const {
    return (!info_.needs_k_tokens || drafts <= vocabulary) && drafts >= info_.fewest_drafts &&
           (info_.most_drafts == 0 || drafts <= info_.most_drafts) &&
           proposals >= (info_.several_proposals ? drafts : 1);
  }

  /// Draws one tuple into `out`. Returns its length.
  virtual int draw(const Rows<Rational>&, int drafts, Explorer<Rational>&, Token* out) const = 0;
  virtual int draw(const Rows<double>&, int drafts, Explorer<double>&, Token* out) const = 0;
  virtual int draw(const RatioTable&, int drafts, Explorer<double>&, Token* out) const = 0;
  virtual int draw(const FreshRows<double>&, int drafts, Explorer<double>&, Token* out) const = 0;
  virtual int draw(const Rows<double>&, int drafts, Scripted&, Token* out) const = 0;
  virtual int draw(const RatioTable&, int drafts, Scripted&, Token* out) const = 0;
  /// Draws the tuples of a whole batch and sets their lengths.
  virtual void draw(const RatioTable&, int drafts, const TrialBatch& batch) const = 0;
  virtual void draw(const Rows<double>&, int drafts, const TrialBatch& batch) const = 0;
  /// Returns the declared probability that a tuple of up to `drafts` drafts begins with `prefix`, in closed
  /// form; nullopt if the drafter has no closed form. A wrong drafter returns the probability under the distribution
  /// that it declares.
  virtual std::optional<Rational> declared_mass(const Rows<Rational>&, int drafts,
                                                std::span<const Token> prefix) const = 0;

 private:
  const DrafterInfo& info_;
};

}  // namespace draftproof
