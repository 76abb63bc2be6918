// The shrinking steps of instances for one position.
#include <draftproof/properties/instances/shrink_rows.hpp>

#include <draftproof/properties/instances/instance.hpp>

namespace draftproof {

std::vector<std::vector<int>*> rows_of(Instance& instance) {
  std::vector<std::vector<int>*> rows{&instance.target};
  for (auto& row : instance.proposals) rows.push_back(&row);
  return rows;
}

std::vector<Instance> shrinks(const Instance& instance) {
  Candidates candidates(instance);
  const std::size_t size = instance.target.size();
  candidates.add([](Instance& candidate) {
    candidate.drafts -= 1;
    if (candidate.proposals.size() > 1) candidate.proposals.pop_back();
  });
  for (std::size_t x = 0; x < size && size > 1; ++x)
    candidates.add_to_all_rows([x](auto& row) { drop_token(row, x); });
  for (std::size_t x = 0; x + 1 < size; ++x) candidates.add_to_all_rows([x](auto& row) { merge_tokens(row, x); });
  candidates.add_smaller_weights(size);
  return candidates.take();
}

}  // namespace draftproof
