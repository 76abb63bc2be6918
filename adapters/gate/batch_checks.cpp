#include <draftproof/adapters/gate/batch_checks.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include <draftproof/adapters/explorer/suggested_points.hpp>
#include <draftproof/adapters/gate/distribution_checks.hpp>
#include <draftproof/adapters/gate/distribution_text.hpp>
#include <draftproof/adapters/gate/judgement.hpp>
#include <draftproof/adapters/gate/small_model.hpp>
#include <draftproof/properties/proof/finding.hpp>
#include <draftproof/sim/random/philox4x32.hpp>

namespace draftproof::adapters {

namespace {

bool alike(const Outcome& a, const Outcome& b, double rounding) {
  return a.status == b.status && a.tokens == b.tokens && a.state.size() == b.state.size() &&
         std::equal(a.state.begin(), a.state.end(), b.state.begin(),
                    [&](double x, double y) { return std::abs(x - y) <= rounding * std::max(1.0, std::abs(x)); });
}

/// Returns the sum over outcomes of the smaller of the two probabilities. Sets `text` to the outcome whose probability
/// falls most from the row alone to the row among other rows.
double overlap_of(const ProgramDistribution& alone, const ProgramDistribution& among, double rounding,
                  std::string& text) {
  std::vector<OutcomeMass> left = among.outcomes;
  double common = 0, most = 0;
  for (const auto& [outcome, probability] : alone.outcomes) {
    double missing = probability;
    for (OutcomeMass& other : left) {
      if (!alike(outcome, other.outcome, rounding)) continue;
      const double share = std::min(missing, other.probability);
      missing -= share, other.probability -= share, common += share;
    }
    if (!(missing > most)) continue;
    most = missing;
    text = fmt::format("{} has probability {}, alone {}", outcome_text(outcome),
                       fraction_text(probability - missing, 0x1p-40), fraction_text(probability, 0x1p-40));
  }
  return common;
}

}  // namespace

Shift shift_among(Program& program, const Declaration& declaration, const std::vector<Input>& inputs,
                  const std::vector<Call>& calls, std::size_t slot, std::uint64_t seed) {
  const Input& input = inputs[calls[slot].input];
  std::vector<Call> others = calls;
  others.erase(others.begin() + static_cast<std::ptrdiff_t>(slot));
  AmongRows by_itself(program), between(program, inputs, std::move(others), slot);
  const bool exact = declaration.batch_invariant;
  const double rounding =
      2 * rounding_limit(declaration.dtypes.front(), static_cast<int>(input.drafts.size()), input.vocabulary());
  // Few predictions suffice at first, because a difference is examined again. The tree of draws found for one program
  // may lack a stretch (a range of numbers with equal results) that the other tree has, so both programs are then
  // tested on either side of the ends of all stretches that were found, with more predictions.
  constexpr int confirming = 512;
  ExploreOptions explore = exploration_of(declaration, {.predictions = fewest_predictions,
                                                        .even_points = 2,
                                                        .most_calls = 4000,
                                                        .keep_stretches = true,
                                                        .seed = seed});
  Shift shift;
  for (;;) {
    const ProgramDistribution alone = explore_program(by_itself, std::span(&input, 1), explore).front();
    const ProgramDistribution among = explore_program(between, std::span(&input, 1), explore).front();
    shift.rows += alone.calls + among.calls * calls.size();
    for (const ProgramDistribution* distribution : {&alone, &among}) {
      if (distribution->state != DistributionState::not_a_function &&
          distribution->state != DistributionState::unsettled)
        continue;
      const bool open = distribution->state == DistributionState::unsettled;
      shift.kind = open ? Shift::Kind::open : Shift::Kind::beyond;
      shift.text = fmt::format(
          "{}{} on the tape ({:.9g})", distribution == &alone ? "alone, " : "",
          open ? "calls still contradict the computed distribution" : "equal calls have different results",
          fmt::join(distribution->tape, " "));
      return shift;
    }
    const double apart = 1 - overlap_of(alone, among, exact ? 0 : rounding, shift.text);
    const double unexplored = alone.unexplored + among.unexplored;
    const double limit =
        exact ? std::ldexp(alone.most_places + among.most_places + 2, -53) : alone.limit + among.limit + rounding;
    if (apart - unexplored > limit) {
      if (explore.predictions < confirming) {
        explore.predictions = confirming;
        ++explore.seed;
        for (const ProgramDistribution* distribution : {&alone, &among})
          for (const Stretch& stretch : distribution->stretches)
            if (stretch.first > 1)
              explore.thresholds.push_back(std::ldexp(static_cast<double>(stretch.first - 1), -stretch.bits));
        continue;
      }
      shift.kind = Shift::Kind::beyond;
      shift.text += fmt::format(", TV {}, rounding explains {:.1g}", fraction_text(apart, limit), limit);
    } else if (apart > limit) {
      shift.kind = Shift::Kind::open;
      shift.text = fmt::format("{:.3g} of the probability was not explored", unexplored);
    }
    return shift;
  }
}

namespace {

constexpr int coarsest_bits = 23;
constexpr int most_short_rows = 2;  // rows judged although no difference was seen, by some 1,300 calls

/// Rows of one vocabulary, a tape for each row, and the program's answers.
struct BatchRows {
  std::vector<Input> inputs;
  std::vector<Call> calls;
  std::vector<Run> runs{};

  const Input& input(std::size_t slot) const { return inputs[calls[slot].input]; }
};

/// How two runs of one row differ; the strongest evidence first.
enum class Difference { same_draws, answer, draws, none };

bool same_answer(const Run& a, const Run& b) {
  return a.tokens == b.tokens && a.status == b.status && a.state == b.state;
}

/// Whether two draws are equal, or differ in their weights only.
bool same_but_weights(const Draw& a, const Draw& b) {
  return std::tie(a.kind, a.size, a.bits, a.stream) == std::tie(b.kind, b.size, b.bits, b.stream);
}
/// Whether two draws are equal; NaN equals NaN.
bool same_draw(const Draw& a, const Draw& b) {
  return same_but_weights(a, b) &&
         std::equal(a.weights.begin(), a.weights.end(), b.weights.begin(), b.weights.end(),
                    [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); });
}

Difference difference(const Run& a, const Run& b) {
  const auto draws_are = [&](const auto& related) { return std::ranges::equal(a.draws, b.draws, related); };
  if (same_answer(a, b) && draws_are(same_draw)) return Difference::none;
  if (draws_are(same_but_weights)) return Difference::same_draws;
  return same_answer(a, b) ? Difference::draws : Difference::answer;
}

class Batches {
 public:
  Batches(Program& program, const Declaration& declaration, const BatchCheckOptions& options)
      : program_{program}, declaration_{declaration}, options_{options} {}

  void examine(int round) {
    const int vocabulary = 2 + round % 3;
    BatchRows whole = draw(vocabulary, round);
    const BatchRows others = draw(vocabulary, round + 1000);
    whole.runs = run(whole.inputs, whole.calls);
    const std::size_t count = whole.calls.size();

    std::vector<Run> alone;
    for (const Call& call : whole.calls) alone.push_back(run(whole.inputs, {call}).front());
    for (std::size_t i = 0; i < count; ++i)
      compare("row_alone", whole, i, alone[i], "in a batch of one row", {&whole, i, &alone[i]});

    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (std::size_t i = count; i > 1; --i) std::swap(order[i - 1], order[word(round, i, 3) % i]);
    BatchRows permuted{.inputs = whole.inputs, .calls = {}};
    for (const std::size_t i : order) permuted.calls.push_back(whole.calls[i]);
    permuted.runs = run(permuted.inputs, permuted.calls);
    // A row that differs between two batches differs from its run alone in at least one of the two.
    const auto place = [&](const BatchRows& there, std::size_t slot, std::size_t i) {
      const bool here = difference(there.runs[slot], alone[i]) != Difference::none;
      return here ? Place{&there, slot, &alone[i]} : Place{&whole, i, &alone[i]};
    };
    for (std::size_t i = 0; i < count; ++i)
      compare("slots_permuted", whole, order[i], permuted.runs[i], fmt::format("in slot {}", i),
              place(permuted, i, order[i]));

    // Replaces every second row by a row of the other batch, with its input and tape.
    BatchRows mixed{.inputs = whole.inputs, .calls = whole.calls};
    mixed.inputs.insert(mixed.inputs.end(), others.inputs.begin(), others.inputs.end());
    for (std::size_t i = 1; i < std::min(count, others.calls.size()); i += 2)
      mixed.calls[i] = {whole.inputs.size() + others.calls[i].input, others.calls[i].tape};
    mixed.runs = run(mixed.inputs, mixed.calls);
    for (std::size_t i = 0; i < count; i += 2)
      compare("neighbours", whole, i, mixed.runs[i], "among other rows", place(mixed, i, i));

    const std::vector<Run> again = run(whole.inputs, whole.calls);
    for (std::size_t i = 0; i < count; ++i) compare("repetition", whole, i, again[i], "the second time", {});

    for (std::size_t i = 0; i < count; ++i) {
      const Run& row = whole.runs[i];
      answered_ = answered_ || row.status == RowStatus::ok;
      if (row.status != RowStatus::ok && row.status != RowStatus::tape_short)
        fail("answers",
             fmt::format("row {} of {}, drafts ({}): {}{}{}", i, count, fmt::join(whole.input(i).drafts, " "),
                         status_text(row.status), row.message.empty() ? "" : ": ", row.message));
      for (const Draw& draw : row.draws)
        if (draw.kind == DrawKind::coin && draw.bits < coarsest_bits)
          fail("number_grid", fmt::format("{} is a multiple of 2^-{}, expected 2^-{} or finer",
                                          draw.stream.empty() ? "a uniform" : "the uniform " + draw.stream, draw.bits,
                                          coarsest_bits));
    }
    judge_differences(round);
    judge_short_row(whole, round);
    judge_one_number(whole);
    judge_small_batches(whole, alone, round);
  }

  std::vector<Finding> findings() const {
    std::vector<Finding> result;
    for (const char* check : {"row_alone", "slots_permuted", "neighbours", "repetition", "number_grid", "answers"}) {
      Answer answer = Answer::passed();
      std::string replay;
      if (const auto failed = failed_.find(check); failed != failed_.end()) {
        answer = Answer::failed(failed->second);
        replay = replay_line(
            "check", "", {{"adapter", options_.adapter}, {"tier", "edge"}, {"seed", std::to_string(options_.seed)}});
      } else if (check == std::string_view("answers") && !answered_ && runs_ > 0) {
        answer = Answer::undecided("no row was answered: every one read all numbers of its tape");
      } else if (const auto open = open_.find(check); open != open_.end()) {
        answer = Answer::undecided(open->second);
      } else if (const auto note = notes_.find(check); note != notes_.end()) {
        answer.evidence = note->second;
      }
      result.push_back(finding_of(check, Tier::edge, std::move(answer), runs_, {}, std::move(replay)));
    }
    return result;
  }

 private:
  /// A row in a batch, and the run of this row in a batch of its own.
  struct Place {
    const BatchRows* batch = nullptr;
    std::size_t slot = 0;
    const Run* alone = nullptr;
  };
  /// A row whose run in another batch differs.
  struct Suspect {
    std::string check, text;
    Place place;
    Difference kind;
  };

  std::uint64_t word(int round, std::size_t slot, std::uint32_t purpose) const {
    return philox_pair(options_.seed, static_cast<std::uint64_t>(round), static_cast<std::uint32_t>(slot), purpose)
        .first;
  }

  /// Returns inputs of generated instances with this vocabulary. All have the same number of drafts, unless the program
  /// takes ragged rows.
  BatchRows draw(int vocabulary, int round) const {
    constexpr int places = 64;
    BatchRows rows;
    std::optional<std::size_t> drafts;
    for (int n = 0; std::ssize(rows.calls) < options_.rows && n < 4096; ++n) {
      const std::uint64_t seed = options_.seed + static_cast<std::uint64_t>(round);
      const SmallModel small_model =
          declaration_.level == Level::position
              ? small_model_of(external_instance(declaration_, seed, n), declaration_)
              : small_model_of(external_path_instance(declaration_, seed, n), declaration_);
      if (small_model.vocabulary != vocabulary) continue;
      Input input = small_model.inputs[word(round, static_cast<std::size_t>(n), 1) % small_model.inputs.size()];
      if (takes_no_drafts() && n % rows_with_one_without == 0) remove_drafts(input);
      if (!declaration_.ragged && drafts.value_or(input.drafts.size()) != input.drafts.size()) continue;
      drafts = input.drafts.size();
      Call call{.input = rows.inputs.size(), .tape = {}};
      for (int place = 0; place < places; ++place) {
        const auto slot = static_cast<std::size_t>(n * places + place);
        call.tape.push_back(static_cast<double>(word(round, slot, 2) >> 40) * 0x1p-24);
      }
      rows.inputs.push_back(std::move(input));
      rows.calls.push_back(std::move(call));
    }
    return rows;
  }

  /// One of so many rows has no drafts if the program declares that it takes such rows among others.
  static constexpr int rows_with_one_without = 4;
  bool takes_no_drafts() const {
    return declaration_.level == Level::chain && declaration_.ragged && declaration_.fewest_drafts == 0 &&
           declaration_.state_size == 0;
  }
  /// Leaves the row of p after the context, from which a step without drafts draws its token.
  static void remove_drafts(Input& input) {
    input.p.resize(1);
    input.q.clear();
    input.drafts.clear();
    if (!input.legal.empty()) input.legal.resize(1);
  }

  std::vector<Run> run(std::span<const Input> inputs, const std::vector<Call>& calls) {
    std::vector<Run> runs(calls.size());
    program_.run_together(inputs, calls, runs);
    runs_ += calls.size();
    return runs;
  }

  void compare(const char* check, const BatchRows& whole, std::size_t i, const Run& other, const std::string& how,
               const Place& place) {
    const Run& run = whole.runs[i];
    const Difference kind = difference(run, other);
    if (kind == Difference::none) return;
    const auto said = [](const Run& one) {
      return one.status == RowStatus::ok ? fmt::format("({})", fmt::join(one.tokens, " "))
                                         : fmt::format("status {} {}", static_cast<int>(one.status), one.message);
    };
    std::string text = fmt::format("row {} of {}, drafts ({}): emits {}, but {} {}", i, whole.calls.size(),
                                   fmt::join(whole.input(i).drafts, " "), said(run), how,
                                   run.tokens != other.tokens || run.status != other.status ? said(other)
                                   : run.state != other.state                               ? "another state"
                                   : kind == Difference::draws                              ? "other draws"
                                                                                            : "other weights");
    if (!place.batch) return fail(check, std::move(text));
    suspects_.push_back({check, std::move(text), place, difference(place.batch->runs[place.slot], *place.alone)});
  }

  /// Judges the distribution of one differing row per check, in the first round that has such a row. Prefers rows that
  /// emit other tokens, because rows whose weights differ only in scale have the same distribution.
  void judge_differences(int round) {
    std::vector<Suspect> suspects = std::exchange(suspects_, {});
    const auto order = [](const Suspect& one) {
      return std::pair(one.kind, one.place.batch->runs[one.place.slot].tokens == one.place.alone->tokens);
    };
    std::stable_sort(suspects.begin(), suspects.end(),
                     [&order](const Suspect& a, const Suspect& b) { return order(a) < order(b); });
    for (const auto& [check, text, place, kind] : suspects) {
      if (kind == Difference::draws) {  // the answers are equal, and draws may come in any order
        notes_.emplace(check, "draws depend on the batch: " + text);
        continue;
      }
      if (!judged_.insert(check).second) continue;
      const auto& [batch, slot, alone] = place;
      const Run again = run(batch->inputs, batch->calls)[slot];
      if (difference(again, batch->runs[slot]) != Difference::none ||
          (declaration_.batch_invariant && kind == Difference::same_draws)) {
        fail(check, text);
        continue;
      }
      const auto [few, at] = with_few(*batch, slot, *alone, kind);
      judge(check, text, few, at, kind, round);
    }
  }

  /// Returns a batch of few rows in which the row differs in the same way, else its original batch; and the row's
  /// index.
  std::pair<BatchRows, std::size_t> with_few(const BatchRows& batch, std::size_t slot, const Run& alone,
                                             Difference kind) {
    for (const std::size_t at : std::array<std::size_t, 7>{1, 0, 2, 3, 4, 5, 6}) {
      BatchRows rows = few(batch, slot, at);
      if (difference(run(rows.inputs, rows.calls)[at], alone) == kind) return {std::move(rows), at};
    }
    return {{batch.inputs, batch.calls}, slot};
  }

  /// Returns a batch with the row at index `at`, the longest row, and the rows after that. Its number of rows is a
  /// prime above the other dimensions: a program that guesses the batch dimension by its size would split other batches
  /// wrongly.
  static BatchRows few(const BatchRows& batch, std::size_t slot, std::size_t at) {
    const std::size_t count = batch.calls.size(), longest = shortest_and_longest(batch).second;
    const std::size_t others =
        std::max<std::size_t>(batch.input(slot).p.front().size(), batch.input(longest).drafts.size() + 1);
    const std::array<std::size_t, 6> primes{7, 11, 13, 17, 19, 23};
    const auto size = std::upper_bound(primes.begin(), std::prev(primes.end()), others);
    BatchRows rows{.inputs = batch.inputs, .calls = {batch.calls[longest]}};
    for (std::size_t next = slot + 1; rows.calls.size() + 1 < *size; ++next)
      rows.calls.push_back(batch.calls[next % count]);
    rows.calls.insert(rows.calls.begin() + static_cast<std::ptrdiff_t>(at), batch.calls[slot]);
    return rows;
  }

  /// Judges a row with few drafts after one with many even if no difference was seen, because a neighbour's padding
  /// moves thresholds so little that random numbers rarely reveal it.
  void judge_short_row(const BatchRows& whole, int round) {
    if (whole.calls.empty() || declaration_.most_rows == 1 || !failed_.empty()) return;
    if (short_rows_++ >= most_short_rows) return;
    const std::size_t slot = shortest_and_longest(whole).first;
    judge("neighbours", fmt::format("row with drafts ({})", fmt::join(whole.input(slot).drafts, " ")),
          few(whole, slot, 1), 1, Difference::none, round);
  }

  /// Compares rows in batches of two and three with their runs in batches of one. In small batches it often happens
  /// that all rows reject or end together, and programs have shortcuts for that case. Cost: runs as many rows as two
  /// batches have, and finds the two distributions of one row at most once.
  void judge_small_batches(const BatchRows& whole, const std::vector<Run>& alone, int round) {
    const std::size_t count = whole.calls.size();
    for (const std::size_t size : {2u, 3u})
      for (std::size_t first = 0; first + size <= count && failed_.empty() && !small_batch_; first += size) {
        const auto rows = whole.calls.begin() + static_cast<std::ptrdiff_t>(first);
        BatchRows batch{.inputs = whole.inputs, .calls = {rows, rows + static_cast<std::ptrdiff_t>(size)}};
        batch.runs = run(batch.inputs, batch.calls);
        for (std::size_t i = 0; i < size && !small_batch_; ++i) {
          const Difference kind = difference(batch.runs[i], alone[first + i]);
          if (same_answer(batch.runs[i], alone[first + i]) || kind == Difference::none) continue;
          small_batch_ = true;
          judge("neighbours",
                fmt::format("row {} of {}, drafts ({}): emits ({}), but in a batch of one row ({})", i, size,
                            fmt::join(batch.input(i).drafts, " "), fmt::join(batch.runs[i].tokens, " "),
                            fmt::join(alone[first + i].tokens, " ")),
                batch, i, kind, round);
        }
      }
  }

  /// Runs the row alone and among other rows with one number v as every random number of all rows. The tokens then do
  /// not depend on which row a number was drawn for, so this also judges programs whose draws in a batch do not name
  /// their row. The values of v are 2^-8 below and above the thresholds that the row has alone.
  ///
  /// Correctness: a correct program uses the numbers in the same way alone and in a batch, and emits the same tokens
  /// unless rounding moves a threshold across v. In that case the row alone emits other tokens at v (1 - 2^-14) or v (1
  /// + 2^-14), since the rounding of rows of V <= 8 entries is below 2^-14 in float32 and double; such values v are
  /// skipped. Races are skipped too, because at every v rounding decides between equal clocks of equal weights.
  void judge_one_number(const BatchRows& whole) {
    constexpr std::uint64_t grid = 1 << 24;
    constexpr std::size_t places = 64;
    const bool fine = significant_bits(declaration_.dtypes.front()) >= 24;
    if (!fine || whole.calls.empty() || declaration_.most_rows == 1 || !failed_.empty()) return;
    if (one_numbers_++ >= most_short_rows) return;
    BatchRows rows = few(whole, shortest_and_longest(whole).first, 1);
    const auto answer = [&](double v, bool among) {
      for (Call& call : rows.calls) call.tape.assign(places, v);
      return among ? run(rows.inputs, rows.calls)[1] : run(rows.inputs, {rows.calls[1]}).front();
    };
    std::vector<std::uint64_t> thresholds = SuggestedPoints(rows.input(1), {}).floors(grid);
    thresholds.insert(thresholds.end(), {0, grid});
    for (const std::uint64_t threshold : thresholds)
      for (const int side : {-1, 1}) {
        const double v = static_cast<double>(threshold) / grid + side * 0x1p-8;
        if (!(v > 0 && v < 1 - 0x1p-12)) continue;
        const Run among = answer(v, true);
        if (!among.draws.empty()) return;  // examine() compares draws that name their rows
        const Run alone = answer(v, false);
        const bool races = std::ranges::any_of(alone.draws, [](const Draw& d) { return d.kind == DrawKind::clock; });
        const auto near = [&](double at) { return !same_answer(answer(at, false), alone); };
        if (same_answer(among, alone) || races || among.status == RowStatus::tape_short ||
            alone.status == RowStatus::tape_short || near(v * (1 - 0x1p-14)) || near(v * (1 + 0x1p-14)))
          continue;
        return fail("neighbours",
                    fmt::format("row with drafts ({}), where every number drawn is {:.6g}: emits ({}) among {} rows "
                                "of up to {} drafts, alone ({})",
                                fmt::join(rows.input(1).drafts, " "), v, fmt::join(among.tokens, " "),
                                rows.calls.size(), rows.input(0).drafts.size(), fmt::join(alone.tokens, " ")));
      }
  }

  static std::pair<std::size_t, std::size_t> shortest_and_longest(const BatchRows& batch) {
    const auto [least, most] =
        std::minmax_element(batch.calls.begin(), batch.calls.end(), [&](const Call& a, const Call& b) {
          return batch.inputs[a.input].drafts.size() < batch.inputs[b.input].drafts.size();
        });
    return {least - batch.calls.begin(), most - batch.calls.begin()};
  }

  void judge(const std::string& check, const std::string& row, const BatchRows& batch, std::size_t slot,
             Difference kind, int round) {
    const Shift shift = shift_among(program_, declaration_, batch.inputs, batch.calls, slot,
                                    options_.seed + static_cast<std::uint64_t>(round));
    runs_ += shift.rows;
    const std::string place =
        fmt::format("among {} rows of up to {} drafts", batch.calls.size(),
                    batch.inputs[batch.calls[shortest_and_longest(batch).second].input].drafts.size());
    if (shift.kind == Shift::Kind::beyond) return fail(check, fmt::format("{}; {} {}", row, place, shift.text));
    if (kind == Difference::none) return;  // no difference was seen, so no note is needed
    if (shift.kind == Shift::Kind::open) open_.emplace(check, fmt::format("{}; {} {}", row, place, shift.text));
    notes_.emplace(
        check, fmt::format("{}: {}; the distribution {} equals the distribution alone",
                           kind == Difference::same_draws ? "not batch invariant" : "draws depend on the batch", row,
                           place));
  }

  void fail(const std::string& check, std::string evidence) { failed_.emplace(check, std::move(evidence)); }

  Program& program_;
  const Declaration& declaration_;
  const BatchCheckOptions& options_;
  std::map<std::string, std::string> failed_, open_, notes_;  // evidence by check
  std::set<std::string> judged_;                              // checks that have judged the distribution of a row
  std::vector<Suspect> suspects_;                             // the suspects of the current round
  int short_rows_ = 0, one_numbers_ = 0;
  bool small_batch_ = false;  // whether a row of a small batch differed; later rows are then not compared
  std::uint64_t runs_ = 0;
  bool answered_ = false;  ///< whether some row had tokens
};

}  // namespace

std::vector<Finding> check_batches(Program& program, const Declaration& declaration,
                                   const BatchCheckOptions& options) {
  Batches batches(program, declaration, options);
  for (int round = 0; round < options.rounds; ++round) batches.examine(round);
  return batches.findings();
}

}  // namespace draftproof::adapters
