#include <draftproof/adapters/gate/text_models.hpp>

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>

#include <draftproof/sim/components/inverse_cdf.hpp>
#include <draftproof/sim/random/philox.hpp>

namespace draftproof::adapters {

namespace {

constexpr std::uint32_t purpose = 0x202;

/// Returns a weight 1 .. 9 by counter-based random numbers.
double weight_at(std::uint64_t seed, std::uint32_t which, std::size_t cell) {
  return static_cast<double>(1 + philox_pair(seed, which, static_cast<std::uint32_t>(cell), purpose).first % 9);
}

/// Gives the first and the last possible token of a row equal weights, 1/16 above the largest one, and increases one of
/// them by 2^-15 of it: the last one, or the first one. The other weights are so far below that a top-k of 2 is clear.
void put_near_tie(std::vector<double>& row, bool last) {
  const auto possible = [](double weight) { return weight > 0; };
  const auto a = std::find_if(row.begin(), row.end(), possible);
  const auto b = std::find_if(row.rbegin(), row.rend(), possible);
  if (a == row.end() || a == std::prev(b.base())) return;
  *a = *b = *std::max_element(row.begin(), row.end()) * (1 + 1.0 / 16);
  *(last ? std::prev(b.base()) : a) *= 1 + 0x1p-15;
}

/// Returns a model of weights(cell, state, x) with normalised rows. End tokens have total probability 1/128 if penalties
/// are declared, because faults of penalties show in longer texts; else 1/8 if `min_tokens` is declared, because a
/// fault of it shows only in texts that could end soon after; else 1/32. In a proposal their probability is four times
/// as large in every second state, and half as large in the others, so that both happen: an end token is drafted and
/// rejected, and an end token replaces a rejected draft. `states` is the number of states of a model whose state is a
/// function of the whole prefix; 0 if the state is the last tokens. The target of a greedy program has near ties, but
/// not in sparse tables if truncations are declared: their rows have only these two tokens besides the end tokens, so a
/// truncation could separate only these two, and rounding would decide which one it keeps.
template <class Weight>
TextTable table_of(int vocabulary, const Declaration& declaration, bool proposal, int states, const Weight& weight) {
  TextTable table{.vocabulary = vocabulary, .memory = declaration.memory, .ends = declaration.end_tokens};
  const auto size = static_cast<std::size_t>(vocabulary);
  auto count = static_cast<std::size_t>(states);
  if (states == 0) {
    count = 1;
    for (int i = 0; i < table.memory; ++i) count *= size;
  }
  const bool penalties = declaration.takes(Setting::presence_penalty) ||
                         declaration.takes(Setting::frequency_penalty) ||
                         declaration.takes(Setting::repetition_penalty);
  // If entries were equal, engines could order their tokens differently and so truncate different tokens.
  const bool truncates =
      declaration.requests &&
      (declaration.takes(Setting::top_k) || declaration.takes(Setting::top_p) || declaration.takes(Setting::min_p));
  const Dtype dtype = declaration.dtypes.front();
  const bool near_ties = declaration.greedy != Greedy::no && !proposal && (!truncates || states == dense_states) &&
                         (dtype == Dtype::float32 || dtype == Dtype::float64);
  const double usual = penalties ? 1.0 / 128 : declaration.takes(Setting::min_tokens) ? 1.0 / 8 : 1.0 / 32;
  for (std::size_t t = 0; t < count; ++t) {
    std::vector<double> row(size);
    const double of_ends = !proposal ? usual : t % 2 == 0 ? 4 * usual : usual / 2;
    const double rest = table.ends.empty() ? 1 : 1 - of_ends;
    for (std::size_t x = 0; x < size; ++x) {
      const bool end = table.is_end(static_cast<std::int32_t>(x));
      const double spread = truncates ? 1 + 0.01 * static_cast<double>(x) : 1;
      row[x] = end ? 0 : spread * weight(t * size + x, t, static_cast<int>(x));
      // The tables map different states to different states for each token, because doubling is invertible modulo an
      // odd number: an engine in a wrong state stays in a wrong state.
      if (states > 0) table.next.push_back(static_cast<std::int32_t>((2 * t + x + 1) % count));
    }
    if (near_ties && t % 2 == 1) put_near_tie(row, t % 4 == 1);
    const double total = std::accumulate(row.begin(), row.end(), 0.0);
    for (double& share : row) share *= rest / total;
    for (const std::int32_t end : table.ends)
      row[static_cast<std::size_t>(end)] = (1 - rest) / static_cast<double>(table.ends.size());
    table.rows.insert(table.rows.end(), row.begin(), row.end());
  }
  return table;
}

}  // namespace

void put_under_grammar(TablePair& pair) {
  TextGrammar& grammar = pair.grammar;
  const TextTable& target = pair.target;
  for (int g = 0; g < grammar_states; ++g)
    for (int x = 0, number = 0; x < target.vocabulary; ++x) {
      const bool end = target.is_end(x);
      grammar.legal.push_back((end ? g < 2 : g == 0 || number % 2 == g % 2) ? 1 : 0);
      grammar.next.push_back((2 * g + x + 1) % grammar_states);
      if (!end) ++number;
    }
  TextTable& judged = pair.judged;
  judged = {.vocabulary = target.vocabulary,
            .memory = target.memory,
            .rows = {},
            .ends = target.ends,
            .next = {},
            .grammar_states = grammar_states};
  const auto size = static_cast<std::size_t>(target.vocabulary);
  for (std::uint64_t s = 0; s < target.states(); ++s)
    for (std::size_t g = 0; g < grammar_states; ++g) {
      double allowed = 0;
      for (std::size_t x = 0; x < size; ++x) allowed += grammar.legal[g * size + x] != 0 ? target.row(s)[x] : 0;
      for (std::size_t x = 0; x < size; ++x) {
        judged.rows.push_back(grammar.legal[g * size + x] != 0 ? target.row(s)[x] / allowed : 0);
        judged.next.push_back(target.next[s * size + x] * grammar_states + grammar.next[g * size + x]);
      }
    }
}

TablePair all_transitions(const Declaration& declaration, std::uint64_t seed, int vocabulary) {
  const auto table = [&](std::uint32_t which) {
    return table_of(vocabulary, declaration, which == 1, declaration.requests ? dense_states : 0,
                    [&](std::size_t cell, std::size_t, int) { return weight_at(seed, which, cell); });
  };
  return {table(0), table(1)};
}

TablePair two_successors(const Declaration& declaration, std::uint64_t seed, int vocabulary) {
  const int groups = declaration.requests ? sparse_states : text_layers;
  std::vector<int> group_of(static_cast<std::size_t>(vocabulary), -1);
  int number = 0;
  for (int x = 0; x < vocabulary; ++x)
    if (number < groups * tokens_of_a_layer &&
        std::find(declaration.end_tokens.begin(), declaration.end_tokens.end(), x) == declaration.end_tokens.end())
      group_of[static_cast<std::size_t>(x)] = number++ / tokens_of_a_layer;
  const auto follows = [&](std::size_t state, int x) {
    if (declaration.requests) return group_of[static_cast<std::size_t>(x)] == static_cast<int>(state);
    int from = 0;  // depends on all tokens of the state, so that a wrong older token is detected, too
    for (int i = 0; i < declaration.memory; ++i, state /= static_cast<std::size_t>(vocabulary))
      from += std::max(group_of[state % static_cast<std::size_t>(vocabulary)], 0);
    return group_of[static_cast<std::size_t>(x)] == (from + 1) % text_layers;
  };
  const auto table = [&](std::uint32_t which, double elsewhere) {
    return table_of(vocabulary, declaration, which == 3, declaration.requests ? sparse_states : 0,
                    [&, which, elsewhere](std::size_t cell, std::size_t state, int x) {
                      return follows(state, x) ? weight_at(seed, which, cell) : elsewhere;
                    });
  };
  return {table(2, 0), table(3, 0.25)};
}

namespace {

/// Returns the share of request r in the tokens of a call, of 1024.
std::int64_t share_of(std::size_t r, std::uint64_t number) {
  constexpr std::array<std::int64_t, requests_at_once> shares{16, 288, 32, 64, 256, 48, 128, 192};
  return shares[(r + number) % shares.size()];
}

}  // namespace

std::pair<std::size_t, std::size_t> equal_prompts(std::uint64_t number) {
  constexpr std::uint64_t distances = requests_at_once - 1;
  const std::uint64_t call = number / 2, turn = call > 0 ? call - 1 : 0;  // the second call repeats the first
  const std::size_t distance = 1 + turn % distances, first = turn / distances % (requests_at_once - distance);
  return {first, first + distance};
}

Requests draw_requests(const TextTable& target, std::uint64_t seed, std::uint64_t number, std::int64_t tokens) {
  Requests requests;
  const auto [first, second] = equal_prompts(number);
  for (std::size_t r = 0; r < requests_at_once; ++r) {
    // Texts of fewer tokens could be equal by accident.
    const std::int64_t least = r == first || r == second ? 64 : 0;
    const std::int64_t wanted = tokens * std::max(least, share_of(r, number)) / 1024;
    requests.lengths.push_back(static_cast<int>(std::max<std::int64_t>(1, wanted)));
    Philox random(seed, number * requests_at_once + r, Philox::Role::verify);
    std::vector<std::int32_t> prompt;
    std::uint64_t state = 0;
    const auto read = [&](std::int32_t token) {
      prompt.push_back(token);
      state = target.after(state, token);
    };
    const auto draw_until = [&](std::size_t length) {
      while (prompt.size() < length) {
        std::vector<double> row(target.row(state).begin(), target.row(state).end());
        for (const std::int32_t end : target.ends) row[static_cast<std::size_t>(end)] = 0;
        read(InverseCdfTable<InverseCdfSteps>(row).draw(random.next(Purpose::flip)));
      }
    };
    // Of four prompts, the second and the fourth begin as the prompt before them does, and the third differs from the
    // second only in its first four tokens. A cache of blocks of tokens then has both right and wrong blocks to choose
    // from. Two prompts are equal, so that equal texts show equal random numbers.
    if (r == second) {
      for (const std::int32_t token : requests.prompts[first]) read(token);
    } else {
      const std::vector<std::int32_t> before = r > 0 ? requests.prompts.back() : std::vector<std::int32_t>();
      const std::size_t length = 1 + random.next(Purpose::flip) % (r % 4 == 0 ? longest_prompt : 12);
      if (r % 4 == 2) draw_until(4);
      const std::size_t taken = r % 4 == 2 ? before.size() : r % 2 == 1 ? before.size() / 2 : 0;
      for (std::size_t i = prompt.size(); i < taken; ++i) read(before[i]);
      draw_until(r % 4 == 1 ? 32 : length);
    }
    requests.prompts.push_back(prompt);
    requests.starts.push_back({state, prompt});
  }
  return requests;
}

}  // namespace draftproof::adapters
