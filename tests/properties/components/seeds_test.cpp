// Tests that verdicts on components do not depend on the seed: at the size of the gate `pr`, wrong components of every
// class are refuted at every seed, and correct components at no seed. `./dev test nightly` tests a hundred seeds
// instead of one.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <draftproof/properties/components/component_registry.hpp>
#include <draftproof/properties/components/counter/counter_group.hpp>
#include <draftproof/properties/components/target/target_group.hpp>
#include <draftproof/tests/support/nightly.hpp>

namespace draftproof {
namespace {

struct Asked {
  std::string name;
  std::shared_ptr<const AnyComponent> made;
  const AnyComponent* component = made.get();
};

/// Expects that each component is refuted at 99 % of the seeds or more if it is `wrong`, and otherwise at no seed.
void expect_at_every_seed(const std::vector<Asked>& all, bool wrong) {
  component_registry();  // registers the checks
  const int seeds = swept(1, 100);
  for (const Asked& one : all) {
    int refuted = 0;
    std::string said;
    for (int seed = 1; seed <= seeds; ++seed)
      for (const Finding& finding : one.component->examine({.seed = static_cast<std::uint64_t>(seed)}))
        if (finding.status == Status::failed) {
          ++refuted;
          said = finding.property + " at seed " + std::to_string(seed) + ": " + finding.evidence + "\n" +
                 finding.instance;
          break;
        }
    if (wrong)
      EXPECT_GE(100 * refuted, 99 * seeds) << one.name << ": " << refuted << " of " << seeds << " seeds";
    else
      EXPECT_EQ(refuted, 0) << one.name << ", " << said;
  }
}

std::vector<Asked> registered(Kind kind) {
  std::vector<Asked> all;
  for (const auto& component : component_registry().components())
    if (component->kind() == kind)
      all.push_back({.name = component->qualified_name(), .made = nullptr, .component = component.get()});
  return all;
}

TEST(Seeds, RegisteredWrongOnesAreRefutedAtAll) { expect_at_every_seed(registered(Kind::mutant), true); }
TEST(Seeds, RegisteredRightOnesAreRefutedAtNone) { expect_at_every_seed(registered(Kind::verifier), false); }

// Tests of sources of target rows that combine two settings in a wrong way.

constexpr ComponentInfo nameless{.name = "of_a_test", .summary = "", .source = ""};

/// Returns the row that results if settings a and b are applied in exchanged order.
template <std::size_t a, std::size_t b>
std::vector<Rational> exchanged(const TargetRequest& request, const Token* drafts, int i) {
  Reading reading = reading_of(request);
  const auto place = [&](Setting one) { return std::find(reading.order.begin(), reading.order.end(), one); };
  std::iter_swap(place(all_settings[a]), place(all_settings[b]));
  const auto row = wanted_row(request.weights[static_cast<std::size_t>(i)], request, {drafts, drafts + i}, reading);
  return row.value_or(std::vector<Rational>(static_cast<std::size_t>(request.vocabulary())));
}

int weight_of(const TargetRequest& request, int i, Token x) { return TargetSteps{}.weight(request, i, x); }

Asked target_source(std::string name, TargetSource::Row row) {
  return {.name = std::move(name),
          .made = std::make_shared<ComponentOf<TargetGroup>>(TargetSource(nameless, row, &weight_of), Kind::mutant)};
}

constexpr std::size_t first_filter = 3, past_filters = 7;

/// A wrong source for filters that are applied one after another: filter b is computed from all tokens, including the
/// tokens that filter a has removed.
template <std::size_t a, std::size_t b>
struct Blind : TargetSteps {
  template <class Scalar>
  void filter(const TargetRequest& request, TargetFilters<Scalar>& filters) const {
    if (request.joint) return TargetSteps::filter(request, filters);
    TargetFilters<Scalar> without_a = filters;
    for (std::size_t f = first_filter; f < past_filters; ++f) {
      TargetRequest alone = request;
      for (std::size_t other = first_filter; other < past_filters; ++other)
        if (other != f) switch_off(alone, all_settings[other]);
      if (f != a) TargetSteps::filter(alone, without_a);
      if (f == b)
        filters.keep(without_a.kept());
      else
        TargetSteps::filter(alone, filters);
    }
  }
  static std::vector<Rational> row(const TargetRequest& request, const Token* drafts, int i) {
    return target_row<Rational>(Blind{}, request, drafts, i);
  }
};

/// Returns the row of a wrong source for filters that are all computed from the same row: filter b is computed without
/// the tokens that filter a has removed.
template <std::size_t a, std::size_t b>
std::vector<Rational> seeing(const TargetRequest& request, const Token* drafts, int i) {
  std::vector<Rational> row = target_row<Rational>(TargetSteps{}, request, drafts, i);
  if (!request.joint) return row;
  TargetRequest chain = request;
  chain.joint = false;
  if (chain.cold_last) chain.coldness = chain.grain;  // the temperature comes after the filters
  for (std::size_t f = first_filter; f < past_filters; ++f)
    if (f != a && f != b) switch_off(chain, all_settings[f]);
  const std::vector<Rational> kept = target_row<Rational>(TargetSteps{}, chain, drafts, i);
  Rational total = 0;
  for (std::size_t x = 0; x < row.size(); ++x) total += row[x] = kept[x] > 0 ? row[x] : Rational(0);
  for (Rational& mass : row) mass = total > 0 ? Rational(mass / total) : Rational(0);
  return row;
}

/// Adds the sources that are wrong in settings a and b to `wrong`, or to `right` if they cannot differ from the correct
/// source: bias and penalty are both factors, and min-p and top-k each keep the heaviest tokens, whatever the other
/// keeps.
template <std::size_t a, std::size_t b>
void add_pair(std::vector<Asked>& wrong, std::vector<Asked>& right) {
  if constexpr (a < b) {
    std::vector<Asked>& to = b == a + 1 && (a == 0 || a == first_filter) ? right : wrong;
    const std::string pair = std::to_string(a) + " and " + std::to_string(b);
    to.push_back(target_source("settings exchanged: " + pair, &exchanged<a, b>));
    if constexpr (a >= first_filter && b < past_filters) {
      to.push_back(target_source("chained filters that are blind: " + pair, &Blind<a, b>::row));
      to.push_back(target_source("joint filters that see: " + pair, &seeing<a, b>));
    }
  }
}

template <std::size_t... pair>
void add_pairs(std::index_sequence<pair...>, std::vector<Asked>& wrong, std::vector<Asked>& right) {
  (add_pair<pair / all_settings.size(), pair % all_settings.size()>(wrong, right), ...);
}

TEST(Seeds, EveryTwoSettingsReadInAnotherWay) {
  std::vector<Asked> wrong, right;
  add_pairs(std::make_index_sequence<all_settings.size() * all_settings.size()>(), wrong, right);
  EXPECT_EQ(wrong.size(), 26u + 10u);
  EXPECT_EQ(right.size(), 2u + 2u);
  expect_at_every_seed(wrong, true);
  expect_at_every_seed(right, false);
}

// Tests of counters whose cells have few bits and of counters that lose trials.

enum class Full { wraps, saturates };

template <int bits, std::uint64_t every, Full full>
struct Narrow : CounterSteps {
  static constexpr const ComponentInfo& info = nameless;
  static constexpr std::uint64_t flush = every, most = (std::uint64_t{1} << bits) - 1;
  template <class Cell>
  static Cell more(Cell cell, std::uint64_t trials) {
    return full == Full::wraps ? (cell + trials) & most : std::min(cell + trials, most);
  }
  using Counts = StepCounts<Narrow>;
};

/// A counter that flushes its cells in time, but each flush loses its last trial, or all trials of the last token.
template <std::uint64_t every, bool of_last_token>
struct LosesAtFlush : CounterSteps {
  static constexpr const ComponentInfo& info = nameless;
  class Counts {
   public:
    explicit Counts(int vocabulary) : right_(vocabulary), last_{vocabulary - 1} {}
    void add(Verdict verdict, std::uint64_t times = 1) {
      right_.add(verdict, times);
      const bool last = verdict.token == last_;
      const std::uint64_t now = std::min(times, every - since_);
      since_ += now;
      fresh_ += last ? now : 0;
      times -= now;
      if (since_ == every) {
        lost_ += of_last_token ? fresh_ : 1;
        lost_ += times / every * (!of_last_token ? 1 : last ? every : 0);
        since_ = times % every;
        fresh_ = last ? since_ : 0;
      }
    }
    void merge(const Counts& other) {
      right_.merge(other.right_);
      lost_ += other.lost_;
    }
    std::uint64_t trials() const { return right_.trials(); }
    std::uint64_t accepted() const { return right_.accepted(); }
    std::uint64_t cell(Token x) const { return right_.cell(x) - (x == (of_last_token ? last_ : 0) ? lost_ : 0); }

   private:
    StepCounts<CounterSteps> right_;
    Token last_;
    std::uint64_t since_ = 0, fresh_ = 0, lost_ = 0;
  };
};

template <class Counter>
Asked counter_named(const std::string& name) {
  return {.name = name, .made = std::make_shared<ComponentOf<CounterGroup>>(trial_counter<Counter>(), Kind::mutant)};
}

template <int bits>
void add_cells(std::vector<Asked>& wrong, std::vector<Asked>& right) {
  constexpr std::uint64_t size = std::uint64_t{1} << bits;
  const auto add = [&]<std::uint64_t every>(std::vector<Asked>& to, std::integral_constant<std::uint64_t, every>) {
    const std::string name = std::to_string(bits) + " bits, emptied after " + std::to_string(every);
    to.push_back(counter_named<Narrow<bits, every, Full::wraps>>(name));
    to.push_back(counter_named<Narrow<bits, every, Full::saturates>>("saturating, " + name));
    if constexpr (every > 0) {
      wrong.push_back(counter_named<LosesAtFlush<every, false>>("loses a trial, " + name));
      wrong.push_back(counter_named<LosesAtFlush<every, true>>("loses the last token, " + name));
    }
  };
  add(wrong, std::integral_constant<std::uint64_t, 0>());
  add(right, std::integral_constant<std::uint64_t, size / 2>());
  add(right, std::integral_constant<std::uint64_t, size - 1>());
  add(wrong, std::integral_constant<std::uint64_t, size>());
  add(wrong, std::integral_constant<std::uint64_t, size + 1>());
  add(wrong, std::integral_constant<std::uint64_t, 2 * size - 1>());
  add(wrong, std::integral_constant<std::uint64_t, 2 * size>());
}

TEST(Seeds, CellsOfFewBitsEmptiedInTimeOrNot) {
  std::vector<Asked> wrong, right;
  add_cells<8>(wrong, right);
  add_cells<16>(wrong, right);
  add_cells<24>(wrong, right);
  add_cells<32>(wrong, right);
  EXPECT_EQ(right.size(), 4u * 4u);
  expect_at_every_seed(wrong, true);
  expect_at_every_seed(right, false);
}

}  // namespace
}  // namespace draftproof
