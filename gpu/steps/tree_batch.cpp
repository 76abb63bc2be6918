#include <draftproof/gpu/tree_batch.hpp>

#include <algorithm>
#include <stdexcept>

#include <draftproof/sim/random_source.hpp>

namespace draftproof::gpu {

void TreeBatch::refuse(const std::string& where, std::int64_t place, const std::string& what, std::int64_t found,
                       const std::string& wanted) const {
  throw std::invalid_argument("trees: request " + std::to_string(requests()) + ": " + where + " " +
                              std::to_string(place) + ": " + what + ": got " + std::to_string(found) + ", expected " +
                              wanted);
}

void TreeBatch::check(const DraftTree& tree, std::int64_t first_row) const {
  if (first_row < 0) refuse("node", 0, "the first row", first_row, "0 or more");
  for (int u = 0; u < tree.size(); ++u) {
    if (const Token x = tree.token(u); u != DraftTree::root && (x < 0 || x >= vocabulary_))
      refuse("node", u, "the token", x, "a token below " + std::to_string(vocabulary_));
    if (tree.context(u) < 0) refuse("node", u, "the context", tree.context(u), "a row, 0 or more");
    if (tree.depth(u) > max_path_length)
      refuse("node", u, "the depth", tree.depth(u), "at most " + std::to_string(max_path_length));
    if (tree.draw_count(u) > max_drafts)
      refuse("node", u, "the number of drafts", tree.draw_count(u), "at most " + std::to_string(max_drafts));
    const auto draws = tree.draws(u);
    for (auto draw = draws.begin(); !(draw == draws.end()); ++draw)
      if (draw.stream() >= stream_numbers)
        refuse("node", *draw, "the stream", draw.stream(), "below " + std::to_string(stream_numbers));
  }
}

int TreeBatch::add(const DraftTree& tree, std::int64_t first_row) {
  check(tree, first_row);
  spans_.push_back({static_cast<std::int64_t>(nodes_.size()), static_cast<std::int64_t>(draws_.size()), first_row,
                    tree.size(), tree.length()});
  nodes_.insert(nodes_.end(), tree.nodes().begin(), tree.nodes().end());
  draws_.insert(draws_.end(), tree.all_draws().begin(), tree.all_draws().end());
  for (const TreeNode& node : tree.nodes()) rows_ = std::max(rows_, first_row + node.context + 1);
  return requests() - 1;
}

int TreeBatch::add(std::span<const Token> tokens, std::span<const std::int32_t> parents, std::int64_t first_row,
                   std::span<const std::uint32_t> streams) {
  const auto count = static_cast<std::int64_t>(tokens.size());
  if (parents.size() != tokens.size())
    refuse("entry", count, "the number of parents", static_cast<std::int64_t>(parents.size()),
           std::to_string(count) + ", one a token");
  if (!streams.empty() && streams.size() != tokens.size())
    refuse("entry", count, "the number of streams", static_cast<std::int64_t>(streams.size()),
           std::to_string(count) + ", one a token, or none");
  DraftTree tree(0);
  std::vector<int> nodes;
  for (std::size_t e = 0; e < tokens.size(); ++e) {
    const auto entry = static_cast<std::int64_t>(e);
    if (parents[e] < -1 || parents[e] >= entry)
      refuse("entry", entry, "the parent", parents[e], "-1 .. " + std::to_string(entry - 1));
    if (tokens[e] < 0 || tokens[e] >= vocabulary_)
      refuse("entry", entry, "the token", tokens[e], "a token below " + std::to_string(vocabulary_));
    const int parent = parents[e] < 0 ? DraftTree::root : nodes[static_cast<std::size_t>(parents[e])];
    nodes.push_back(tree.draw(parent, tokens[e], static_cast<int>(e) + 1, streams.empty() ? 0 : streams[e]));
  }
  return add(tree, first_row);
}

}  // namespace draftproof::gpu
