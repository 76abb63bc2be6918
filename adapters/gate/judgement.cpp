#include <draftproof/adapters/gate/judgement.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <stdexcept>
#include <utility>

#include <draftproof/adapters/gate/distribution_text.hpp>
#include <draftproof/adapters/gate/selection_checks.hpp>
#include <draftproof/adapters/gate/small_model.hpp>
#include <draftproof/captures/input_error.hpp>
#include <draftproof/captures/nearest_names.hpp>
#include <draftproof/properties/components/selection/selection_case.hpp>
#include <draftproof/sim/numeric/sums.hpp>

namespace draftproof::adapters {

namespace {

template <class I>
void check_taken(const Declaration& declaration, const std::string& text) {
  const auto refused = [](std::string found, std::string wanted) {
    return InputError({.file = "--instance", .got = std::move(found), .expected = std::move(wanted)});
  };
  std::optional<I> instance;
  try {
    instance = I::parse(text);
  } catch (const std::invalid_argument& error) {
    throw refused(error.what(), fmt::format("an instance of the level {}, as printed by a failed check",
                                            to_text(declaration.level)));
  }
  if (!takes(declaration, *instance))
    throw refused(instance->text(), "an instance that the declaration of " + declaration.name + " takes");
}

}  // namespace

void check_instance(const Declaration& declaration, const std::string& text) {
  if (is_selection_case(declaration, text)) {
    try {
      SelectionCase::parse(text);
    } catch (const std::invalid_argument& error) {
      throw InputError(
          {.file = "--instance", .got = error.what(), .expected = "a case as printed by the failed check"});
    }
    return;
  }
  if (declaration.level == Level::position) return check_taken<Instance>(declaration, text);
  check_taken<PathInstance>(declaration, text);
}

int significant_bits(Dtype dtype) {
  switch (dtype) {
    case Dtype::float64:
      return 53;
    case Dtype::float32:
      return 24;
    case Dtype::float16:
      return 11;
    case Dtype::bfloat16:
      break;
  }
  return 8;
}

double rounding_limit(Dtype dtype, int drafts, int vocabulary) {
  return (drafts + 1) * (vocabulary + 3) * std::ldexp(1.0, -significant_bits(dtype));
}

double settings_limit(Dtype dtype, int drafts) {
  return 32 * (drafts + 1) * std::ldexp(1.0, -significant_bits(dtype));
}

std::string_view status_text(RowStatus status) {
  switch (status) {
    case RowStatus::ok:
      return "answers";
    case RowStatus::bad_input:
      return "refuses the row";
    case RowStatus::unsupported:
      return "does not support the row";
    case RowStatus::failed:
      return "fails";
    case RowStatus::no_mass:
      return "draws from weights that are all zero";
    case RowStatus::tape_short:
      return "draws more random numbers than the tape has";
    case RowStatus::crashed:
      return "dies";
  }
  return "answers";
}

std::string failure_text(RowStatus status, const std::string& message) {
  const std::string_view text = status_text(status);
  if (message.empty()) return std::string(text);
  if (status == RowStatus::failed) return fmt::format("{} with {}", text, one_line(message));
  const bool refused = status == RowStatus::bad_input || status == RowStatus::unsupported;
  return refused ? fmt::format("{}: {}", text, one_line(message)) : std::string(text);
}

namespace {

/// For each prefix the probability that an emitted string begins with the prefix, and the probability that the prefix
/// is the whole string.
class Strings {
 public:
  explicit Strings(const SmallModel& small_model) : small_model_{small_model} {}

  /// A string with an entry outside the vocabulary is left out; its mass counts as missing.
  void emit(const Tokens& tokens, double probability) {
    if (std::any_of(tokens.begin(), tokens.end(), [&](Token x) { return x < 0 || x >= small_model_.vocabulary; }))
      return;
    Tokens prefix;
    begins_[prefix].add(probability);
    for (const Token x : tokens) {
      if (std::ssize(prefix) == small_model_.length) break;
      prefix.push_back(x);
      begins_[prefix].add(probability);
    }
    ends_[prefix].add(probability);
  }

  /// Returns 1/2 sum over strings of `length` tokens of |C - p|, and the token at which an emitted string departs most.
  /// Mass that emits nothing counts in full: it is missing among the strings and is one further outcome.
  double distance(std::optional<WorstToken>& worst) {
    NeumaierSum total;
    total.add(std::abs(1 - at(begins_, {})));
    compare({}, 1.0, 0.0, total, worst);
    return total.value() / 2;
  }

 private:
  double at(const std::map<Tokens, NeumaierSum, ShorterFirst>& sums, const Tokens& prefix) const {
    const auto found = sums.find(prefix);
    return found == sums.end() ? 0.0 : found->second.value();
  }

  /// `wanted` is p(prefix); `completed` is the mass of strings that ended earlier and that the target completed up to
  /// the prefix.
  void compare(const Tokens& prefix, double wanted, double completed, NeumaierSum& total,
               std::optional<WorstToken>& worst) {
    const double begins = at(begins_, prefix), ended = at(ends_, prefix);
    if (std::ssize(prefix) == small_model_.length) {
      total.add(std::abs(begins + completed - wanted));
      return;
    }
    const auto& row = small_model_.target(prefix);
    const double beyond = begins - ended;
    for (Token x = 0; x < small_model_.vocabulary; ++x) {
      const double share = row[static_cast<std::size_t>(x)];
      Tokens next = prefix;
      next.push_back(x);
      const double found = at(begins_, next), asked = beyond * share;
      if (!worst || std::abs(found - asked) > std::abs(worst->found - worst->wanted))
        worst = WorstToken{prefix, x, found, asked};
      compare(next, wanted * share, (completed + ended) * share, total, worst);
    }
  }

  const SmallModel& small_model_;
  std::map<Tokens, NeumaierSum, ShorterFirst> begins_, ends_;
};

/// Describes the first emitted token with p = 0 given `prefix` and the tokens before it, or says why the string is
/// invalid. Sets `prefix` to the tokens before the fault.
std::string fault_of(const SmallModel& small_model, Tokens& prefix, const Tokens& tokens,
                     const std::vector<std::int32_t>& ends) {
  if (tokens.empty()) return "emits nothing";
  if (std::ssize(tokens) > small_model.length)
    return fmt::format("emits {} tokens, at most {} are possible", tokens.size(), small_model.length);
  for (const Token x : tokens) {
    if (x < 0 || x >= small_model.vocabulary) return fmt::format("emits {}, which is not in the vocabulary", x);
    if (!(small_model.target(prefix)[static_cast<std::size_t>(x)] > 0))
      return fmt::format("emits token {} after {}, which {}", x, prefix_text(prefix),
                         small_model.greedy ? "is not the likeliest" : "has p = 0");
    prefix.push_back(x);
  }
  const auto end = std::find_first_of(tokens.begin(), tokens.end() - 1, ends.begin(), ends.end());
  if (end != tokens.end() - 1)
    return fmt::format("emits ({}) after the end token {}", fmt::join(end + 1, tokens.end(), " "), *end);
  return {};
}

/// Returns how many emitted tokens are drafts. At one position: 1 if the token is among the drafts, else 0; on paths
/// all tokens but the last.
double accepted(const SmallModel& small_model, const Input& input, const Tokens& tokens) {
  if (small_model.length == 1)
    return tokens.empty() || std::find(input.drafts.begin(), input.drafts.end(), tokens.front()) == input.drafts.end()
               ? 0
               : 1;
  return std::max(0.0, static_cast<double>(tokens.size()) - 1);
}

double limit_of(const SmallModel& small_model, const Input& input, const ProgramDistribution& distribution,
                const Declaration& declaration) {
  return distribution.limit + declaration.tolerance +
         rounding_limit(declaration.dtypes.front(), static_cast<int>(input.drafts.size()), small_model.vocabulary) +
         (declaration.takes(Setting::temperature)
              ? settings_limit(declaration.dtypes.front(), static_cast<int>(input.drafts.size()))
              : 0);
}

/// Adds a finding if no exact verifier could have this outcome.
void add_edge(const SmallModel& small_model, const Tokens& prefix, const Input& input, std::size_t number,
              const ProgramDistribution& distribution, const OutcomeMass& mass, const Declaration& declaration,
              Judgement& result) {
  const auto& [outcome, probability] = mass;
  const bool emits = outcome.status == RowStatus::ok;
  Tokens before = prefix;
  const std::string fault = emits ? fault_of(small_model, before, outcome.tokens, declaration.end_tokens)
                                  : failure_text(outcome.status, outcome.message);
  before.erase(before.begin(),
               before.begin() + std::ssize(prefix));  // rows of an input follow the tokens of its call
  const std::string settings =
      input.settings.changes_nothing() ? "" : "; " + settings_text(small_model, input, before, prefix);
  if (!fault.empty())
    result.edges.push_back({fmt::format("on drafts ({}): {}{}", fmt::join(input.drafts, " "), fault, settings),
                            way_text(distribution, outcome), probability, number, emits});
}

void finish(Strings& strings, const NeumaierSum& mass, Judgement& result) {
  std::stable_sort(result.edges.begin(), result.edges.end(),
                   [](const EdgeOutcome& a, const EdgeOutcome& b) { return a.probability > b.probability; });
  result.mass = mass.value();
  result.distance = strings.distance(result.worst);
}

}  // namespace

Judgement judge(const SmallModel& small_model, std::span<const ProgramDistribution> distributions,
                const Declaration& declaration) {
  Judgement result;
  Strings strings(small_model);
  NeumaierSum mass, failed, acceptance;
  for (std::size_t i = 0; i < small_model.inputs.size(); ++i) {
    const Input& input = small_model.inputs[i];
    result.limit = std::max(result.limit, limit_of(small_model, input, distributions[i], declaration));
    for (const OutcomeMass& each : distributions[i].outcomes) {
      add_edge(small_model, {}, input, i, distributions[i], each, declaration, result);
      const double weight = small_model.drawn[i] * each.probability;
      if (each.outcome.status == RowStatus::failed) failed.add(weight);
      if (each.outcome.status != RowStatus::ok) continue;
      mass.add(weight);
      strings.emit(each.outcome.tokens, weight);
      acceptance.add(weight * accepted(small_model, input, each.outcome.tokens));
    }
  }
  result.acceptance = acceptance.value();
  result.failed = failed.value();
  finish(strings, mass, result);
  return result;
}

Judgement judge_calls(const SmallModel& small_model, const Declaration& declaration, const ExploreCalls& explore) {
  Judgement result;
  Strings strings(small_model);
  NeumaierSum mass, failed, acceptance;
  using Start = std::pair<Tokens, std::vector<double>>;  // the tokens so far and the state, which a call depends on
  const auto earlier = [](const Start& a, const Start& b) {
    return a.first.size() != b.first.size() ? a.first.size() < b.first.size() : a < b;
  };
  std::map<Start, double, decltype(earlier)> open(earlier);
  open[{{}, {}}] = 1;
  double slack = 0;
  for (int round = 0; round < small_model.length; ++round) {
    // Explores all starts with the smallest number of tokens at once, because every later call begins after more
    // tokens.
    std::vector<Input> inputs;
    std::vector<double> drawn;
    std::vector<std::size_t> start_of;
    std::vector<Tokens> prefixes;
    for (; !open.empty() && std::ssize(open.begin()->first.first) == round; open.erase(open.begin())) {
      const auto& [start, reached] = *open.begin();
      std::vector<Input> here;
      std::vector<double> shares;
      small_model.drafted(start.first, here, shares);
      for (std::size_t i = 0; i < here.size(); ++i) {
        here[i].state = start.second;
        inputs.push_back(std::move(here[i]));
        drawn.push_back(reached * shares[i]);
      }
      start_of.resize(inputs.size(), prefixes.size());
      prefixes.push_back(start.first);
    }
    if (inputs.empty()) continue;
    const std::vector<ProgramDistribution> distributions = explore(inputs, drawn);
    if (distributions.empty()) break;
    double farthest = 0;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const Tokens& prefix = prefixes[start_of[i]];
      farthest = std::max(farthest, limit_of(small_model, inputs[i], distributions[i], declaration));
      for (const OutcomeMass& each : distributions[i].outcomes) {
        add_edge(small_model, prefix, inputs[i], i, distributions[i], each, declaration, result);
        const double weight = drawn[i] * each.probability;
        if (each.outcome.status == RowStatus::failed) failed.add(weight);
        if (each.outcome.status != RowStatus::ok) continue;
        if (round == 0) acceptance.add(weight * accepted(small_model, inputs[i], each.outcome.tokens));
        Tokens tokens = prefix;
        tokens.insert(tokens.end(), each.outcome.tokens.begin(), each.outcome.tokens.end());
        if (std::ssize(tokens) < small_model.length && !each.outcome.tokens.empty()) {
          open[{std::move(tokens), each.outcome.state}] += weight;
        } else {
          mass.add(weight);
          strings.emit(tokens, weight);
        }
      }
    }
    slack += 2 * farthest;
  }
  result.limit = slack;
  result.acceptance = acceptance.value();
  result.failed = failed.value();
  finish(strings, mass, result);
  return result;
}

std::string probability_text(double probability) {
  const bool high = probability > 0.5;
  const double small = high ? 1 - probability : probability;  // exact: Sterbenz' lemma
  if (small < 0x1p-12)
    for (const int bits : {24, 32, 53}) {
      if (high && bits == 53) break;  // rounding of sums of doubles exceeds 2^-53
      double cells = std::ldexp(small, bits);
      if (!(cells >= 1 && cells == std::floor(cells))) continue;
      int power = bits;
      for (; std::fmod(cells, 2) == 0; cells /= 2) --power;
      return fmt::format("{}{}2^-{}", high ? "1 - " : "", cells == 1 ? "" : fmt::format("{} * ", cells), power);
    }
  return fraction_text(probability, 0x1p-40);
}

std::string fraction_text(double value, double tolerance) {
  constexpr int most = 1000;
  for (int denominator = 1; denominator <= most; ++denominator) {
    const double numerator = std::round(value * denominator);
    if (std::abs(value - numerator / denominator) <= tolerance)
      return denominator == 1 ? fmt::format("{}", numerator) : fmt::format("{}/{}", numerator, denominator);
  }
  return fmt::format("{:.6g}", value);
}

}  // namespace draftproof::adapters
