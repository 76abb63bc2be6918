#include <draftproof/doors/gate/tree_batch.hpp>

#include <algorithm>

namespace draftproof::doors {

namespace {

constexpr std::size_t most_kept = 64;  ///< contexts whose rows stay: a live model never comes back to one

}  // namespace

void TreeBatch::keep(int context, const ConditionalModel<RatioTable>& conditionals) {
  const auto [found, added] = kept_.try_emplace(context);
  if (!added) return;
  // No laws follow a leaf beyond the model: the root's stand in, and no rule reads them.
  const RatioTable& laws = conditionals.laws(context < 0 ? 0 : context);
  vocabulary_ = laws.vocabulary();
  std::vector<double> p, q;
  for (Token x = 0; x < vocabulary_; ++x) {
    p.push_back(laws.target(x));
    q.push_back(laws.proposal(x));
  }
  const std::size_t size = p.size() * width(form_.dtype);
  found->second.p.resize(size);
  found->second.q.resize(size);
  store_row(p, form_, found->second.p.data());
  store_row(q, form_, found->second.q.data());
}

void TreeBatch::add(const DraftTree& tree, const ConditionalModel<RatioTable>& conditionals, std::int64_t seed,
                    std::span<const double> state) {
  starts_.push_back(entries_.size());
  roots_.push_back(tree.context(DraftTree::root));
  seeds_.push_back(seed);
  packed_.state.resize(seeds_.size() * static_cast<std::size_t>(form_.state_size), 0.0);
  std::copy(state.begin(), state.end(), packed_.state.end() - static_cast<std::ptrdiff_t>(state.size()));
  keep(roots_.back(), conditionals);
  entry_of_.assign(static_cast<std::size_t>(tree.size()), -2);
  entry_of_[DraftTree::root] = -1;
  for (const TreeDraw& draw : tree.all_draws()) {
    const int child = draw.child, parent = tree.parent(child);
    int& entry = entry_of_[static_cast<std::size_t>(child)];
    if (entry == -2) entry = static_cast<int>(entries_.size() - starts_.back());
    entries_.push_back({.token = tree.token(child),
                        .parent = entry_of_[static_cast<std::size_t>(parent)],
                        .from = tree.context(parent),
                        .to = tree.context(child)});
    keep(tree.context(child), conditionals);
  }
  longest_ = std::max(longest_, entries_.size() - starts_.back());
}

void TreeBatch::clear() {
  entries_.clear();
  starts_.clear();
  roots_.clear();
  seeds_.clear();
  packed_.state.clear();
  longest_ = 0;
  if (kept_.size() > most_kept) kept_.clear();
}

std::size_t TreeBatch::bytes_with(int entries, int vocabulary) const {
  const std::size_t n = std::max(longest_, static_cast<std::size_t>(entries));
  return (seeds_.size() + 1) * (2 * n + 1) * static_cast<std::size_t>(vocabulary) * width(form_.dtype);
}

const ServedBatch& TreeBatch::packed() {
  const std::size_t rows = seeds_.size(), n = longest_,
                    law = static_cast<std::size_t>(vocabulary_) * width(form_.dtype);
  packed_.p.assign(rows * (n + 1) * law, std::byte{0});
  packed_.q.assign(rows * n * law, std::byte{0});
  packed_.drafts.assign(rows * n, -1);
  packed_.parents.assign(form_.level == Level::tree ? rows * n : 0, -1);
  packed_.lengths.clear();
  for (std::size_t row = 0; row < rows; ++row) {
    std::byte* p = packed_.p.data() + row * (n + 1) * law;
    std::byte* q = packed_.q.data() + row * n * law;
    const std::size_t end = row + 1 < rows ? starts_[row + 1] : entries_.size();
    p = std::copy_n(kept_.at(roots_[row]).p.data(), law, p);
    for (std::size_t i = starts_[row]; i < end; ++i) {
      const Entry& entry = entries_[i];
      const std::size_t at = row * n + (i - starts_[row]);
      p = std::copy_n(kept_.at(entry.to).p.data(), law, p);
      q = std::copy_n(kept_.at(entry.from).q.data(), law, q);
      packed_.drafts[at] = entry.token;
      if (!packed_.parents.empty()) packed_.parents[at] = entry.parent;
    }
    packed_.lengths.push_back(static_cast<std::int32_t>(end - starts_[row]));
  }
  const bool seeded = declaration_.can(Randomness::seeded);
  packed_.batch = {.rows = static_cast<int>(rows),
                   .vocabulary = vocabulary_,
                   .drafts_a_row = static_cast<int>(n),
                   .target_rows = static_cast<int>(n) + 1,
                   .proposal_rows = static_cast<int>(n),
                   .state_size = form_.state_size,
                   .dtype = form_.dtype,
                   .kind = form_.kind,
                   .randomness = seeded ? Randomness::seeded : Randomness::opaque,
                   .p = packed_.p,
                   .q = packed_.q,
                   .drafts = packed_.drafts,
                   .lengths = packed_.lengths,
                   .parents = packed_.parents};
  if (seeded) packed_.batch.seeds = seeds_;
  packed_.batch.state = packed_.state;
  return packed_.batch;
}

}  // namespace draftproof::doors
