// The shrinking steps of instances for paths.
#include <algorithm>

#include <draftproof/properties/instances/path_instance.hpp>
#include <draftproof/properties/instances/shrink_rows.hpp>

namespace draftproof {

namespace {

using RowsByPrefix = decltype(PathInstance::rows);

void keep_prefixes_up_to(PathInstance& instance, int length) {
  std::erase_if(instance.rows, [length](const auto& entry) { return std::ssize(entry.first) > length; });
}

void shorten(PathInstance& instance, int length) {
  instance.shape.length = length;
  instance.shape.stem = std::min(instance.shape.stem, length);
  if (!instance.shape.branching.empty()) instance.shape.branching.resize(static_cast<std::size_t>(length));
  keep_prefixes_up_to(instance, length);
}

/// Replaces the instance by the model after prefix [x], with paths one token shorter.
void start_later(PathInstance& instance, Token x) {
  if (instance.shape.length == 1) return;
  const int length = instance.shape.length - 1;
  PathInstance later{.shape = instance.shape, .rows = {{{}, instance.after({x})}}};
  for (const auto& [prefix, weights] : instance.rows)
    if (prefix.size() > 1 && prefix.front() == x)
      later.rows.emplace(Tokens(prefix.begin() + 1, prefix.end()), weights);
  later.shape.stem = std::max(instance.shape.stem - 1, 0);
  if (!later.shape.branching.empty()) later.shape.branching.erase(later.shape.branching.begin());
  later.shape.length = length;
  instance = std::move(later);
}

/// Returns `rows` with tokens renamed in the prefixes and without prefixes that contain `gone`. If two prefixes become
/// equal, the rows of the first are kept.
template <class Rename>
RowsByPrefix renamed(const RowsByPrefix& rows, Token gone, Rename rename) {
  RowsByPrefix kept;
  for (const auto& [prefix, weights] : rows) {
    if (std::find(prefix.begin(), prefix.end(), gone) != prefix.end()) continue;
    Tokens tokens = prefix;
    for (Token& x : tokens) x = rename(x);
    kept.emplace(std::move(tokens), weights);
  }
  return kept;
}

void add_smaller_shapes(Candidates<PathInstance>& candidates, const PathInstance& origin) {
  candidates.add([](PathInstance& candidate) { candidate.shape.drafts -= 1; });
  for (int length = 1; length < origin.shape.length; ++length)
    candidates.add([length](PathInstance& candidate) { shorten(candidate, length); });
  for (Token x = 0; x < origin.vocabulary(); ++x)
    candidates.add([x](PathInstance& candidate) { start_later(candidate, x); });
  candidates.add([](PathInstance& candidate) {
    TreeShape& shape = candidate.shape;
    if (!shape.branching.empty()) shape.drafts = *std::max_element(shape.branching.begin(), shape.branching.end());
    shape.branching.clear();
  });
  for (std::size_t i = 0; i < origin.shape.branching.size(); ++i)
    candidates.add([i](PathInstance& candidate) { candidate.shape.branching[i] -= 1; });
  candidates.add([](PathInstance& candidate) { candidate.shape.stem = 0; });
  candidates.add([](PathInstance& candidate) { candidate.shape.stem -= 1; });
  candidates.add([](PathInstance& candidate) { candidate.shape.fixed -= 1; });
  if (origin.shape.nodes > 1) candidates.add([](PathInstance& candidate) { candidate.shape.nodes -= 1; });
}

void add_fewer_prefixes(Candidates<PathInstance>& candidates, const PathInstance& origin) {
  for (int length = 0; length < origin.listed_length(); ++length)
    candidates.add([length](PathInstance& candidate) { keep_prefixes_up_to(candidate, length); });
  for (auto entry = origin.rows.rbegin(); entry != origin.rows.rend(); ++entry)
    if (!entry->first.empty()) candidates.add([&](PathInstance& candidate) { candidate.rows.erase(entry->first); });
}

}  // namespace

std::vector<std::vector<int>*> rows_of(PathInstance& instance) {
  std::vector<std::vector<int>*> rows;
  for (auto& [prefix, weights] : instance.rows) {
    rows.push_back(&weights.target);
    rows.push_back(&weights.proposal);
  }
  return rows;
}

std::vector<PathInstance> shrinks(const PathInstance& instance) {
  Candidates candidates(instance);
  add_smaller_shapes(candidates, instance);
  add_fewer_prefixes(candidates, instance);
  const auto size = static_cast<std::size_t>(instance.vocabulary());
  const auto edit = [&](Token gone, auto rename, auto change) {
    candidates.add([&](PathInstance& candidate) {
      candidate.rows = renamed(candidate.rows, gone, rename);
      for (auto* row : rows_of(candidate)) change(*row);
    });
  };
  for (std::size_t x = 0; x < size && size > 1; ++x) {
    const auto gone = static_cast<Token>(x);
    edit(
        gone, [gone](Token y) { return y > gone ? y - 1 : y; }, [x](auto& row) { drop_token(row, x); });
  }
  for (std::size_t x = 0; x + 1 < size; ++x) {
    const auto kept = static_cast<Token>(x);
    edit(
        no_token, [kept](Token y) { return y > kept ? y - 1 : y; }, [x](auto& row) { merge_tokens(row, x); });
  }
  candidates.add_smaller_weights(size);
  return candidates.take();
}

}  // namespace draftproof
