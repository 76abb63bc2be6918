#include <draftproof/adapters/gate/small_model.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <draftproof/adapters/gate/edge_rows.hpp>
#include <draftproof/captures/input_error.hpp>
#include <draftproof/captures/nearest_names.hpp>
#include <draftproof/optimum/set_distribution.hpp>
#include <draftproof/properties/paths/step_distribution.hpp>
#include <draftproof/properties/prover/path_prover.hpp>
#include <draftproof/properties/prover/prover.hpp>
#include <draftproof/properties/subjects/path_erased.hpp>
#include <draftproof/sim/numeric/short_float.hpp>
#include <draftproof/sim/random/philox4x32.hpp>

namespace draftproof::adapters {

namespace {

using Row = std::vector<double>;

Row as_row(const std::vector<int>& weights) {
  Row row;
  for (const Rational& value : normalised(weights)) row.push_back(static_cast<double>(value));
  return row;
}

const AnyDrafter& position_draft_sampling(std::string_view sampling) {
  if (const AnyDrafter* drafter = registry().drafter(sampling)) return *drafter;
  throw AdapterError(
      fmt::format("draft_sampling: got \"{}\", expected a draft sampling of `draftproof list`", sampling));
}

/// The rows of a path instance by prefix; a prefix that is not listed has the row of the longest listed prefix of it.
struct PrefixRows {
  std::map<Tokens, std::pair<Row, Row>, ShorterFirst> rows;

  explicit PrefixRows(const PathInstance& instance) {
    for (const auto& [prefix, weights] : instance.rows)
      rows.emplace(prefix, std::pair{as_row(weights.target), as_row(weights.proposal)});
  }
  const std::pair<Row, Row>& after(Tokens prefix) const {
    for (;; prefix.pop_back())
      if (const auto found = rows.find(prefix); found != rows.end()) return found->second;
  }
};

/// The input of a tree that was drafted after `start`.
Input input_of(const DraftTree& tree, const PrefixRows& rows, const Tokens& start, Level level) {
  const auto after = [&](int node) -> const std::pair<Row, Row>& {
    Tokens prefix = start;
    for (const Token x : path_to(tree, node)) prefix.push_back(x);
    return rows.after(std::move(prefix));
  };
  Input input;
  input.p.push_back(after(DraftTree::root).first);
  std::vector<int> entry_of(static_cast<std::size_t>(tree.size()), -2);
  entry_of[DraftTree::root] = -1;
  for (const TreeDraw& draw : tree.all_draws()) {
    const int child = draw.child, parent = tree.parent(child);
    const int entry = static_cast<int>(input.drafts.size());
    if (entry_of[static_cast<std::size_t>(child)] == -2) entry_of[static_cast<std::size_t>(child)] = entry;
    input.drafts.push_back(tree.token(child));
    input.q.push_back(after(parent).second);
    input.p.push_back(after(child).first);
    if (level == Level::tree) input.parents.push_back(entry_of[static_cast<std::size_t>(parent)]);
  }
  return input;
}

/// The number of each input, by its drafts and parents, which determine its rows after one prefix.
using NumberOf = std::map<std::pair<std::vector<Token>, std::vector<int>>, std::size_t>;

/// Adds an input with its probability; the probabilities of equal inputs are added up.
void add(NumberOf& number_of, std::vector<Input>& inputs, std::vector<double>& drawn, Input input,
         double probability) {
  const auto [found, fresh] = number_of.try_emplace({input.drafts, input.parents}, inputs.size());
  if (fresh) {
    inputs.push_back(std::move(input));
    drawn.push_back(0);
  }
  drawn[found->second] += probability;
}

/// Gives an input its masks, and replaces its rows of p by rows that have mass on forbidden tokens.
void take_mask_from_target(Input& input) {
  for (Row& row : input.p) {
    auto& legal = input.legal.emplace_back();
    for (const double share : row) legal.push_back(share > 0);
    const auto forbidden = std::count(legal.begin(), legal.end(), 0);
    for (std::size_t x = 0; x < row.size() && forbidden > 0; ++x)
      row[x] = legal[x] != 0 ? row[x] / 2 : 0.5 / static_cast<double>(forbidden);
  }
}

/// Returns the smallest positive entry of a row.
double smallest_positive(const Row& row) {
  double smallest = 1;
  for (const double share : row)
    if (share > 0) smallest = std::min(smallest, share);
  return smallest;
}

/// Whether min-p keeps every token with p > 0, by a margin: each entry exceeds the limit, `min_p` times the largest
/// entry, by more than a fifth of the limit.
bool can_keep_by(double min_p, const std::vector<Row>& rows) {
  return std::all_of(rows.begin(), rows.end(), [min_p](const Row& row) {
    return smallest_positive(row) > 1.2 * min_p * *std::max_element(row.begin(), row.end());
  });
}

/// The values of min-p, largest first; the largest one that can keep all tokens with p > 0 is used.
constexpr std::array<double, 6> min_p_values{0.75, 0.5, 0.375, 0.25, 0.125, 0.0625};

/// Whether this setting can truncate rows without zeros to the rows of the input. The setting's limits must be at least
/// 3 % away from all entries, so that neither rounding nor the order of equal tokens decides.
bool can_truncate(const std::vector<Row>& rows, Setting setting) {
  const auto kept = [](const Row& row) {
    return std::count_if(row.begin(), row.end(), [](double x) { return x > 0; });
  };
  if (std::all_of(rows.begin(), rows.end(), [&](const Row& row) { return kept(row) == std::ssize(row); }))
    return false;
  if (setting == Setting::min_p) return can_keep_by(min_p_values.back(), rows);
  return std::all_of(rows.begin(), rows.end(), [&](const Row& row) {
    if (setting == Setting::top_k) return kept(row) == kept(rows.front());
    return setting == Setting::top_p && smallest_positive(row) > 0.15;
  });
}

/// Gives an input settings, and replaces its rows of p by rows that these settings turn into the replaced rows. The
/// settings depend on the drafts, so inputs of one model may differ in them.
void take_settings_from_target(Input& input, const Declaration& declaration) {
  constexpr double removed = 1.0 / 16;  // mass of the tokens that a truncation removes
  Filter& settings = input.settings;
  auto drafts = static_cast<std::uint32_t>(input.drafts.size());
  for (const Token x : input.drafts) drafts = 31 * drafts + static_cast<std::uint32_t>(x) + 1;
  std::uint64_t row_hash = 0;
  for (const double share : input.p.front()) row_hash = 3 * row_hash + static_cast<std::uint64_t>(1024 * share);
  std::uint64_t choice = philox_pair(0x73657474u, row_hash, drafts, 0).first;
  std::vector<Setting> possible;
  for (const Setting setting : {Setting::top_k, Setting::top_p, Setting::min_p})
    if (declaration.takes(setting) && can_truncate(input.p, setting)) possible.push_back(setting);
  // One in four of the drawn settings truncates nothing.
  const bool truncates = choice % 4 > 0 && !possible.empty();
  choice /= 4;
  if (truncates) {
    const Setting setting = possible[choice % possible.size()];
    choice /= possible.size();
    if (setting == Setting::top_k)
      settings.top_k = static_cast<std::size_t>(
          std::count_if(input.p.front().begin(), input.p.front().end(), [](double x) { return x > 0; }));
    if (setting == Setting::top_p) settings.top_p = 0.875;
    // With a large min-p limit, which is relative to the largest p, tokens with p below the limit itself are kept. A
    // program that compares p with the limit itself removes them.
    if (setting == Setting::min_p)
      settings.min_p = *std::ranges::find_if(min_p_values, [&](double value) { return can_keep_by(value, input.p); });
    for (Row& row : input.p) {
      const auto zeros = static_cast<double>(std::count(row.begin(), row.end(), 0.0));
      const double least = smallest_positive(row), most = *std::max_element(row.begin(), row.end());
      const double each = setting == Setting::min_p ? 0.9 * most * settings.min_p
                                                    : std::min(removed / std::max(zeros, 1.0), least / 2);
      for (double& share : row) share = (share > 0 ? share : each) / (1 + zeros * each);
    }
  }
  const bool no_tiny_entry =
      std::all_of(input.p.begin(), input.p.end(), [](const Row& row) { return smallest_positive(row) > 1e-6; });
  if (!declaration.takes(Setting::temperature) || !no_tiny_entry) return;
  settings.temperature = std::array{1.0, 0.5, 2.0}[choice % 3];
  for (Row& row : input.p) {
    for (double& share : row) share = std::pow(share, settings.temperature);
    const double mass = std::accumulate(row.begin(), row.end(), 0.0);
    for (double& share : row) share /= mass;
  }
}

/// Gives an input the mask or the settings that the program applies, and replaces its rows of p by rows that the mask
/// or the settings turn into the replaced rows.
void take_from_target(Input& input, const Declaration& declaration) {
  if (declaration.grammar) take_mask_from_target(input);
  if (!declaration.settings.empty()) take_settings_from_target(input, declaration);
}

/// Whether all requests of a model with this text and first row have temperature 0 (requests_at_zero()).
bool at_zero(const std::string& text, const Row& row, const Declaration& declaration) {
  if (!declaration.greedy_at_zero()) return false;
  constexpr std::uint64_t key = 0x7a65726fu;
  std::uint64_t sum = 0;
  for (const char letter : text) sum = 31 * sum + static_cast<unsigned char>(letter);
  const double most = std::ranges::max(row);
  const auto equal = std::ranges::count(row, most);
  // Entries of tied rows differ by a factor of 1 - 2^-16 (edge_rows.hpp). Rows next to p = q may have near ties by other
  // factors, and such rows are also for requests that draw.
  const auto tied = [most](double share) { return share > most * (1 - 0x1p-15) && share < most * (1 - 0x1p-17); };
  if (std::ranges::any_of(row, tied)) return true;
  return (philox_pair(key, sum, 0, 0).first % 3 == 0) != (equal > 1);
}

SmallModel for_program(SmallModel model, const Declaration& declaration, std::optional<bool> wanted) {
  if (!declaration.grammar && declaration.settings.empty()) return model;
  const bool zero =
      wanted ? *wanted && declaration.greedy_at_zero() : at_zero(model.text, model.target({}), declaration);
  if (zero) make_greedy(model, declaration);
  const auto change = [zero, declaration](Input& input) {
    if (zero)
      input.settings.temperature = 0;
    else
      take_from_target(input, declaration);
  };
  for (Input& input : model.inputs) change(input);
  if (model.drafted)
    model.drafted = [drafted = model.drafted, change](const Tokens& prefix, std::vector<Input>& inputs,
                                                      std::vector<double>& drawn) {
      const std::size_t first = inputs.size();
      drafted(prefix, inputs, drawn);
      for (std::size_t i = first; i < inputs.size(); ++i) change(inputs[i]);
    };
  return model;
}

/// Whether every input has as many drafts as the program requires. Drafts without replacement are fewer if the
/// support of q is small.
bool has_fewest(const Declaration& declaration, const SmallModel& small_model) {
  return std::all_of(small_model.inputs.begin(), small_model.inputs.end(),
                     [&](const Input& input) { return std::ssize(input.drafts) >= declaration.fewest_drafts; });
}

bool takes_vocabulary(const Declaration& declaration, int vocabulary) {
  return declaration.most_vocabulary == 0 || vocabulary <= declaration.most_vocabulary;
}

/// Limit on calls_of() for a stateful program. Its successive calls are explored together: each string that a call may
/// emit is the input of another call.
constexpr double most_stateful_calls = 100;
double calls_of(const PathInstance& instance) {
  return std::pow(instance.vocabulary(), instance.shape.length * (instance.shape.drafts + 1));
}

/// If an instance is unsuitable, the instance `next_instance` numbers later is tried, within a range of `attempts`
/// numbers; with a prime step the sequences of different first numbers are disjoint.
constexpr int next_instance = 1009, attempts = 4096 * next_instance;

NoSmallModel no_models(const Declaration& declaration) {
  std::string limits = declaration.most_drafts == 0
                           ? fmt::format("at least {} drafts", declaration.fewest_drafts)
                           : fmt::format("{} to {} drafts", declaration.fewest_drafts, declaration.most_drafts);
  if (declaration.most_vocabulary > 0) limits += fmt::format(", at most {} tokens", declaration.most_vocabulary);
  return NoSmallModel(fmt::format("no small model is within its declaration: draft sampling {}, {}",
                                  declaration.draft_sampling, limits));
}

/// Whether no weight is above 1000. A stretch of 1/1000 of a uniform is missed by 2^14 predictions, half of them
/// random, with probability (1 - 1/1000)^(2^13) = 3e-4; stretches of the family `last_place` are 1000 times shorter.
bool coarse(const std::vector<int>& weights) {
  return std::ranges::all_of(weights, [](int weight) { return weight <= 1000; });
}

// Draws the tree of every_prefix. It is not a registered drafter, because nothing is drawn: every prefix is a node.
struct EveryPrefix {
  static constexpr TreeDrafterInfo info{.name = every_prefix,
                                        .summary = "every prefix of at most L tokens: the rows of two models"};

  template <class L, class R>
  void draw(const ConditionalModel<L>& conditionals, const TreeShape& shape, R&, DraftTree& out) const {
    for (int u = 0; u < out.size() && out.depth(u) < shape.length; ++u)  // nodes are appended level by level
      for (Token x = 0; x < conditionals.distributions(0).vocabulary(); ++x)
        out.draw(u, x, conditionals.next(out.context(u), x));
  }
};

}  // namespace

void make_greedy(SmallModel& model, const Declaration& declaration) {
  const auto read = [declaration](double share) -> double {
    if (declaration.rows.front() == RowKind::logits) share = std::log(share);
    switch (declaration.dtypes.front()) {
      case Dtype::float64:
        return share;
      case Dtype::float32:
        return static_cast<float>(share);
      case Dtype::float16:
        return static_cast<float>(Half(share));
      case Dtype::bfloat16:
        break;
    }
    return static_cast<float>(Bfloat16(share));
  };
  const auto likeliest = [read, ties = declaration.greedy](const Row& row) {
    std::vector<std::size_t> best{0};
    for (std::size_t x = 1; x < row.size(); ++x) {
      const double share = read(row[x]), most = read(row[best.front()]);
      if (share > most || (ties == Greedy::last && share == most)) best.clear();
      if (best.empty() || (ties == Greedy::any && share == most)) best.push_back(x);
    }
    return best;
  };
  model.greedy = true;
  model.optimum.reset();
  model.target =
      [of_rows = model.target, likeliest,
       rows = std::make_shared<std::map<std::vector<std::size_t>, Row>>()](const Tokens& prefix) -> const Row& {
    const Row& row = of_rows(prefix);
    const std::vector<std::size_t> best = likeliest(row);
    Row& shares = (*rows)[best];
    shares.assign(row.size(), 0.0);
    for (const std::size_t x : best) shares[x] = 1.0 / static_cast<double>(best.size());
    return shares;
  };
}

std::string_view path_sampling(const Declaration& declaration) {
  if (declaration.level != Level::chain) return declaration.draft_sampling;
  const AnyTreeDrafter* declared = path_registry().drafter(declaration.draft_sampling);
  return declared != nullptr && declared->info().shared_noise() ? declared->info().name : chain_sampling;
}

const AnyTreeDrafter& tree_sampling(std::string_view sampling) {
  static const TreeDrafterOf<EveryPrefix> models;
  if (sampling == every_prefix) return models;
  if (const AnyTreeDrafter* drafter = path_registry().drafter(sampling)) return *drafter;
  throw AdapterError(
      fmt::format("draft_sampling: got \"{}\", expected a tree sampling of `draftproof list`", sampling));
}

namespace {

bool needs_fixed_count(const DrafterInfo&) { return false; }
bool needs_fixed_count(const TreeDrafterInfo& trees) { return trees.has_fixed_children; }

}  // namespace

void check_draft_sampling(const Declaration& declaration) {
  if (!declaration.has("verify") && !declaration.has("draft")) return;
  const bool position = declaration.level == Level::position, chain = declaration.level == Level::chain;
  const auto* trees = position ? nullptr : path_registry().drafter(declaration.draft_sampling);
  if (trees && needs_fixed_count(trees->info()))
    throw AdapterError(
        fmt::format("{}: hello: draft_sampling: got {}, whose number of fixed children a request does "
                    "not contain, expected another tree sampling of `draftproof list`",
                    declaration.name, in_quotes(declaration.draft_sampling)));
  if (chain && declaration.draft_sampling == "iid") return;
  if (!position && !chain && declaration.draft_sampling == every_prefix) return;
  if (position ? registry().drafter(declaration.draft_sampling) != nullptr : trees != nullptr) return;
  std::vector<std::string> known;
  if (chain) known.emplace_back("iid");
  const auto add = [&known](const auto& drafters) {
    for (const auto& drafter : drafters)
      if (!needs_fixed_count(drafter->info())) known.emplace_back(drafter->info().name);
  };
  position ? add(registry().drafters()) : add(path_registry().drafters());
  throw AdapterError(fmt::format("{}: hello: draft_sampling: got {}, expected {} of `draftproof list`{}",
                                 declaration.name, in_quotes(declaration.draft_sampling),
                                 position ? "a draft sampling"
                                 : chain  ? "iid or a tree sampling"
                                          : "a tree sampling",
                                 did_you_mean(known, declaration.draft_sampling)));
}

int most_entries(const TreeShape& shape, int vocabulary, const TreeDrafterInfo& sampling) {
  if (sampling.fixed) return shape.drafts;  // K counts nodes
  const bool all = sampling.name == every_prefix;
  if (!sampling.branches && !all) return shape.stem + shape.drafts * (shape.length - shape.stem);
  constexpr int many = 1 << 20;
  int total = 0, level = 1;
  for (int depth = 0; depth < shape.length && total < many; ++depth) {
    level *= all ? vocabulary : std::min({shape.children_at(depth), max_drafts, vocabulary});
    total += level;
  }
  return total;
}

double most_trees_of(const Declaration& declaration, const PathInstance& instance) {
  const TreeDrafterInfo& sampling = tree_sampling(path_sampling(declaration)).info();
  return std::pow(instance.vocabulary(), most_entries(instance.shape, instance.vocabulary(), sampling));
}

SmallModel small_model_of(const Instance& instance, std::string_view sampling, ExplorerLimits limits) {
  const AnyDrafter& drafter = position_draft_sampling(sampling);
  if (!drafter.defined(instance.vocabulary(), instance.drafts, static_cast<int>(instance.proposals.size())))
    throw AdapterError(fmt::format("draft sampling {}: has no drafts on {}", sampling, instance.text()));
  SmallModel small_model{.text = instance.text(), .length = 1, .vocabulary = instance.vocabulary()};
  const auto target = std::make_shared<const Row>(as_row(instance.target));
  std::vector<Row> proposals;
  for (const auto& weights : instance.proposals) proposals.push_back(as_row(weights));
  const Rows<Rational> rows = instance.rows();
  const auto draw = [&](Explorer<Rational>& random, Token* out) {
    return drafter.draw(rows, instance.drafts, random, out);
  };
  Explorer<Rational> explorer(limits);
  NumberOf number_of;
  const bool whole =
      each_drafted_tuple(explorer, draw, [&](std::span<const Token> tuple, const Rational& probability) {
        add(number_of, small_model.inputs, small_model.drawn,
            {.p = {*target}, .q = proposals, .drafts = {tuple.begin(), tuple.end()}},
            static_cast<double>(probability));
      });
  if (!whole) throw AdapterError(fmt::format("draft sampling {}: too many tuples on {}", sampling, instance.text()));
  small_model.optimum =
      static_cast<double>(cut_optimum<Rational>(normalised(instance.target), set_distribution<Rational>(draw)));
  small_model.target = [target](const Tokens&) -> const Row& { return *target; };
  return small_model;
}

SmallModel small_model_of(const PathInstance& instance, std::string_view sampling, Level level) {
  const AnyTreeDrafter& drafter = tree_sampling(level == Level::chain ? chain_sampling : sampling);
  SmallModel small_model{
      .text = instance.text(), .length = instance.shape.length + 1, .vocabulary = instance.vocabulary()};
  const auto rows = std::make_shared<const PrefixRows>(instance);
  const auto conditionals = std::make_shared<const PrefixTable<Rows<Rational>>>(instance.conditionals());
  small_model.drafted = [rows, conditionals, &drafter, shape = instance.shape, text = instance.text(),
                         sampling = std::string(sampling),
                         level](const Tokens& prefix, std::vector<Input>& inputs, std::vector<double>& drawn) {
    int context = 0;
    for (const Token x : prefix) context = conditionals->next(context, x);
    NumberOf number_of;
    const auto branches = explore_trees<Rows<Rational>, Rational>(
        drafter, *conditionals, shape, context, {}, [&](const DraftTree& tree, const Rational& probability) {
          add(number_of, inputs, drawn, input_of(tree, *rows, prefix, level), static_cast<double>(probability));
        });
    if (branches == 0) throw AdapterError(fmt::format("draft sampling {}: too many trees on {}", sampling, text));
  };
  small_model.drafted({}, small_model.inputs, small_model.drawn);
  small_model.target = [rows](const Tokens& prefix) -> const Row& { return rows->after(prefix).first; };
  return small_model;
}

SmallModel small_model_of(const Instance& instance, const Declaration& declaration, std::optional<bool> zero) {
  return for_program(small_model_of(instance, declaration.draft_sampling), declaration, zero);
}
SmallModel small_model_of(const PathInstance& instance, const Declaration& declaration, std::optional<bool> zero) {
  return for_program(small_model_of(instance, declaration.draft_sampling, declaration.level), declaration, zero);
}

bool requests_at_zero(const Instance& instance, const Declaration& declaration) {
  return at_zero(instance.text(), as_row(instance.target), declaration);
}
bool requests_at_zero(const PathInstance& instance, const Declaration& declaration) {
  return at_zero(instance.text(), as_row(instance.rows.at({}).target), declaration);
}

std::optional<std::size_t> row_after(const Input& input, const Tokens& prefix) {
  const bool tree = !input.parents.empty();
  int node = -1;
  for (const Token x : prefix) {
    std::size_t next = tree ? 0 : static_cast<std::size_t>(node + 1);
    while (tree && next < input.drafts.size() && (input.parents[next] != node || input.drafts[next] != x)) ++next;
    if (next >= input.drafts.size() || input.drafts[next] != x) return std::nullopt;
    node = static_cast<int>(next);
  }
  const auto row = static_cast<std::size_t>(node + 1);
  return row < input.p.size() ? std::optional(row) : std::nullopt;
}

std::string settings_text(const SmallModel& model, const Input& input, const Tokens& prefix, Tokens start) {
  const auto row = row_after(input, prefix);
  if (row) start.insert(start.end(), prefix.begin(), prefix.end());
  const Row& after = model.target(start);
  return fmt::format("p before the settings ({:.6g}), {}, p after them ({:.6g})",
                     fmt::join(input.p[row.value_or(0)], " "), to_text(input.settings), fmt::join(after, " "));
}

bool takes(const Declaration& declaration, const Instance& instance) {
  const AnyDrafter& drafter = position_draft_sampling(declaration.draft_sampling);
  return instance.valid() && takes_vocabulary(declaration, instance.vocabulary()) &&
         instance.drafts >= declaration.fewest_drafts &&
         (declaration.most_drafts == 0 || instance.drafts <= declaration.most_drafts) &&
         drafter.defined(instance.vocabulary(), instance.drafts, static_cast<int>(instance.proposals.size())) &&
         (declaration.fewest_drafts <= 1 || has_fewest(declaration, small_model_of(instance, declaration)));
}

bool takes(const Declaration& declaration, const PathInstance& instance) {
  if (!instance.valid() || !takes_vocabulary(declaration, instance.vocabulary())) return false;
  const TreeShape& shape = instance.shape;
  const auto at_most = [&](int drafts) { return declaration.most_drafts == 0 || drafts <= declaration.most_drafts; };
  if (declaration.level == Level::chain)
    return shape.drafts == 1 && shape.length >= declaration.fewest_drafts && at_most(shape.length);
  return at_most(most_entries(shape, instance.vocabulary(), tree_sampling(declaration.draft_sampling).info())) &&
         (declaration.fewest_drafts <= 1 || has_fewest(declaration, small_model_of(instance, declaration)));
}

Instance external_instance(const Declaration& declaration, std::uint64_t seed, int n, int most_drafts) {
  const AnyDrafter& drafter = position_draft_sampling(declaration.draft_sampling);
  const DrafterInfo& sampling = drafter.info();
  constexpr int drafts_of_tuples = 3, drafts_of_instances = 4;
  const int fewest = std::max(sampling.fewest_drafts, declaration.fewest_drafts);
  int most = std::clamp(fewest, std::min(drafts_of_tuples, most_drafts), drafts_of_instances);
  for (const int limit : {declaration.most_drafts, sampling.most_drafts})
    if (limit > 0) most = std::min(most, limit);
  if (fewest > most) throw no_models(declaration);
  if (const auto edge = edge_rows(declaration, seed, n)) {
    const auto& [target, proposal] = edge->rows;
    for (const int drafts : {edge->most_drafts ? most : fewest, fewest}) {
      Instance instance{.target = target, .proposals = {proposal}, .drafts = drafts};
      if (sampling.several_proposals) instance.proposals.resize(static_cast<std::size_t>(drafts), proposal);
      if (takes(declaration, instance)) return instance;
    }
  }
  // Chooses instances of proofs that calls can explore: they have few tokens, and weights so coarse that predictions
  // detect a difference of one weight.
  const int first = number_without_edges(n);
  for (int m = first; m < first + attempts; m += next_instance) {
    const Instance instance = generate_instance(seed, m, most, sampling.several_proposals, fewest);
    if (instance.vocabulary() <= 4 && coarse(instance.target) && takes(declaration, instance)) return instance;
  }
  throw no_models(declaration);
}

namespace {

/// Returns a chain of `length` drafts of two tokens, with other rows after each draft of token 0: a bug from the fifth
/// draft on shows on no shorter chain.
PathInstance long_chain(int length) {
  constexpr int cycle = 7;
  constexpr int p[cycle][2] = {{2, 1}, {1, 1}, {3, 1}, {1, 2}, {3, 2}, {2, 3}, {1, 3}},
                q[cycle][2] = {{1, 1}, {2, 1}, {1, 1}, {2, 1}, {1, 2}, {1, 1}, {2, 1}};
  PathInstance instance{.shape = {.drafts = 1, .length = length}, .rows = {}};
  for (int i = 0; i <= length; ++i) {
    const auto& [a, b] = p[i % cycle];
    const auto& [c, d] = q[i % cycle];
    instance.rows.emplace(Tokens(static_cast<std::size_t>(i), 0), PrefixWeights{{a, b}, {c, d}});
  }
  return instance;
}

}  // namespace

PathInstance external_path_instance(const Declaration& declaration, std::uint64_t seed, int n, int most) {
  constexpr int long_at = 31, long_length = 6;
  if (n == long_at && most == usual_drafts && declaration.level == Level::chain && !declaration.stateful()) {
    const int length = declaration.most_drafts > 0 ? std::min(declaration.most_drafts, long_length) : long_length;
    if (PathInstance instance = long_chain(length); length > usual_drafts && takes(declaration, instance))
      return instance;
  }
  PathSizes sizes;
  const int longest = declaration.level == Level::chain ? 4 : 3;
  const int most_length = std::clamp(most, std::min(std::max(1, declaration.fewest_drafts), longest), longest);
  if (declaration.level == Level::tree) sizes = sizes_of(tree_sampling(declaration.draft_sampling).info());
  const bool drafts_inside = declaration.draft_sampling == every_prefix;  // one tree, whatever K is
  sizes.most_drafts = declaration.level == Level::chain || drafts_inside ? 1 : std::clamp(most, 2, 3);
  // 3^4 is the number of trees of two paths with two drafts each at V = 3. At V = 2 a wrong test of a second sibling
  // changes nothing, because only one token is left after the first was refused.
  sizes.most_trees = 81;
  const auto affordable = [&](const PathInstance& instance) {
    return (drafts_inside || most_trees_of(declaration, instance) <= sizes.most_trees) &&
           (!declaration.stateful() || calls_of(instance) <= most_stateful_calls);
  };
  if (const auto edge = edge_rows(declaration, seed, n)) {
    const std::vector<int> equal(edge->rows.target.size(), 1);
    const PrefixWeights rows{edge->rows.target, edge->rows.proposal};
    const int shortest = std::max(1, declaration.fewest_drafts);
    // Returns the first instance that the program takes. Rows for nodes below the root are tried below the root first,
    // then at the root; larger numbers of drafts are tried first.
    for (const bool below : {edge->below_root, false})
      for (int drafts = edge->most_drafts ? sizes.most_drafts : 1; drafts > 0; --drafts) {
        PathInstance instance{.shape = {.drafts = drafts, .length = std::max(shortest, below ? 2 : 1)}, .rows = {}};
        if (sizes.fixed) instance.shape.drafts = instance.shape.length;  // K counts nodes
        instance.rows.emplace(Tokens{}, below ? PrefixWeights{equal, equal} : rows);
        if (below) instance.rows.emplace(Tokens{0}, rows);
        const bool larger = below || drafts > 1;
        if (instance.shape.length > most_length || (larger && !affordable(instance))) continue;
        if (takes(declaration, instance)) return instance;
      }
  }
  const int first = number_without_edges(n);
  for (int m = first; m < first + attempts; m += next_instance) {
    const PathInstance instance = generate_path_instance(seed, m, sizes);
    if (declaration.stateful() && calls_of(instance) > most_stateful_calls) continue;
    if (!std::ranges::all_of(instance.rows, [](const auto& row) { return coarse(row.second.target); })) continue;
    if (instance.shape.length <= most_length && takes(declaration, instance)) return instance;
  }
  throw no_models(declaration);
}

std::string why_no_small_model(const Declaration& declaration) {
  try {
    if (declaration.level == Level::position)
      external_instance(declaration, 0, 0);
    else
      external_path_instance(declaration, 0, 0);
  } catch (const NoSmallModel& none) {
    return none.what();
  } catch (const AdapterError&) {  // of another kind; the tier reports it as a finding
  }
  return "";
}

}  // namespace draftproof::adapters
