// The shrinking steps: what counts as a simpler instance.
#include <algorithm>

#include <draftproof/properties/instance.hpp>

namespace draftproof {

namespace {

/// Calls visit(row) on the target and every proposal of a copy and keeps the copy if it is valid and changed.
class Candidates {
 public:
  explicit Candidates(const Instance& origin) : origin_{origin} {}

  template <class Edit>
  void add(Edit edit) {
    Instance candidate = origin_;
    edit(candidate);
    if (candidate.valid() && candidate != origin_) found_.push_back(std::move(candidate));
  }
  template <class Edit>
  void add_to_all_rows(Edit edit) {
    add([&](Instance& candidate) {
      edit(candidate.target);
      for (auto& row : candidate.proposals) edit(row);
    });
  }
  /// The same edit on one row at a time.
  template <class Edit>
  void add_to_each_row(Edit edit) {
    add([&](Instance& candidate) { edit(candidate.target); });
    for (std::size_t k = 0; k < origin_.proposals.size(); ++k)
      add([&](Instance& candidate) { edit(candidate.proposals[k]); });
  }
  std::vector<Instance> take() { return std::move(found_); }

 private:
  const Instance& origin_;
  std::vector<Instance> found_;
};

}  // namespace

std::vector<Instance> simpler(const Instance& instance) {
  Candidates candidates(instance);
  const std::size_t size = instance.target.size();
  candidates.add([](Instance& candidate) {
    candidate.drafts -= 1;
    if (candidate.proposals.size() > 1) candidate.proposals.pop_back();
  });
  for (std::size_t x = 0; x < size && size > 1; ++x)
    candidates.add_to_all_rows([x](auto& row) { row.erase(row.begin() + static_cast<std::ptrdiff_t>(x)); });
  for (std::size_t x = 0; x + 1 < size; ++x)
    candidates.add_to_all_rows([x](auto& row) {
      row[x] += row[x + 1];
      row.erase(row.begin() + static_cast<std::ptrdiff_t>(x) + 1);
    });
  candidates.add_to_all_rows([](auto& row) {
    for (int& weight : row) weight = (weight + 1) / 2;
  });
  candidates.add_to_each_row([](auto& row) {
    for (int& weight : row) weight = (weight + 1) / 2;
  });
  candidates.add_to_each_row([](auto& row) {
    for (int& weight : row) weight = weight > 0;
  });
  for (std::size_t x = 0; x < size; ++x)
    for (const auto& lower :
         {+[](int) { return 0; }, +[](int) { return 1; }, +[](int w) { return w / 2; }, +[](int w) { return w - 1; }})
      candidates.add_to_each_row([x, lower](auto& row) {
        if (row[x] > lower(row[x])) row[x] = lower(row[x]);
      });
  return candidates.take();
}

}  // namespace draftproof
