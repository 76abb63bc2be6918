#include <draftproof/properties/components/batch/batch_case.hpp>
#include <draftproof/properties/instances/generator.hpp>

#include <algorithm>
#include <numeric>
#include <set>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <draftproof/properties/instances/instance_text.hpp>

namespace draftproof {

namespace {

bool right_rows(const std::vector<std::vector<int>>& rows, std::size_t count, std::size_t vocabulary) {
  return rows.size() == count && std::all_of(rows.begin(), rows.end(), [vocabulary](const auto& row) {
           return valid_weights(row, vocabulary);
         });
}

bool right_masks(const BatchCaseRequest& request, std::size_t vocabulary) {
  if (request.masks.empty()) return true;
  if (!right_rows(request.masks, request.target.size(), vocabulary)) return false;
  for (std::size_t i = 0; i < request.masks.size(); ++i) {
    if (*std::max_element(request.masks[i].begin(), request.masks[i].end()) > 1) return false;
    if (std::inner_product(request.masks[i].begin(), request.masks[i].end(), request.target[i].begin(), 0) == 0)
      return false;
  }
  return true;
}

BatchCaseRequest read_request(InstanceReader& reader) {
  BatchCaseRequest request;
  reader.expect("[");
  reader.expect("p=");
  request.target = reader.rows();
  if (reader.accept("q=")) request.proposal = reader.rows();
  if (reader.accept("mask=")) request.masks = reader.rows();
  if (reader.starts_with("seed=")) request.seed = reader.named_number("seed", 0, InstanceReader::most_weight);
  if (reader.starts_with("stop=")) request.stop = reader.named_number("stop", 0, InstanceReader::most_weight);
  if (reader.starts_with("limit=")) request.limit = reader.named_number("limit", 1, InstanceReader::most_weight);
  reader.expect("]");
  return request;
}

}  // namespace

int BatchCase::longest() const {
  int longest = 0;
  for (const BatchCaseRequest& request : requests) longest = std::max(longest, request.drafts());
  return longest;
}

bool BatchCase::masked() const {
  return std::any_of(requests.begin(), requests.end(), [](const auto& request) { return !request.masks.empty(); });
}

BatchCase BatchCase::uncut() const {
  BatchCase one = *this;
  for (BatchCaseRequest& request : one.requests) {
    request.stop = no_token;
    request.limit = 0;
  }
  return one;
}

bool BatchCase::valid() const {
  if (requests.empty() || requests.front().target.empty() || vocabulary() < 1) return false;
  std::vector<int> slots = order;
  std::sort(slots.begin(), slots.end());
  for (std::size_t s = 0; s < slots.size(); ++s)
    if (slots[s] != static_cast<int>(s)) return false;
  if (slots.size() != requests.size()) return false;
  const auto size = static_cast<std::size_t>(vocabulary());
  std::set<int> seeds;
  for (const BatchCaseRequest& request : requests) {
    if (!right_rows(request.target, request.proposal.size() + 1, size) ||
        !right_rows(request.proposal, request.proposal.size(), size) || !right_masks(request, size))
      return false;
    if (request.stop >= vocabulary() || (request.seed >= 0 && !seeds.insert(request.seed).second)) return false;
  }
  return true;
}

std::string BatchCase::text() const {
  std::string text = fmt::format("order=({})", fmt::join(order, " "));
  for (const BatchCaseRequest& request : requests) {
    text += " [p=" + rows_text(request.target);
    if (!request.proposal.empty()) text += " q=" + rows_text(request.proposal);
    if (!request.masks.empty()) text += " mask=" + rows_text(request.masks);
    if (request.seed >= 0) text += fmt::format(" seed={}", request.seed);
    if (request.stop >= 0) text += fmt::format(" stop={}", request.stop);
    if (request.limit > 0) text += fmt::format(" limit={}", request.limit);
    text += "]";
  }
  return text;
}

BatchCase BatchCase::parse(std::string_view text) {
  InstanceReader reader(text);
  BatchCase one;
  reader.expect("order=");
  one.order = reader.numbers("(", ")");
  while (reader.starts_with("[")) one.requests.push_back(read_request(reader));
  reader.end();
  if (!one.valid())
    throw std::invalid_argument(fmt::format("instance: got \"{}\", expected a batch such as \"{}\"", text, example));
  return one;
}

namespace {

struct BatchSizes {
  int requests, vocabulary, most_drafts;
};

BatchCase case_of(InstanceRng& dice, const BatchSizes& sizes) {
  const bool masked = dice.chance(1, 3), spread = dice.chance(1, 2);
  const auto row = [&](bool sparse) {
    std::vector<int> weights;
    for (int x = 0; x < sizes.vocabulary; ++x)
      weights.push_back(sparse && dice.chance(1, 2) ? 0 : dice.between(1, 9));
    repair_weights(weights, 1, dice);
    return weights;
  };
  BatchCase one;
  for (int r = 0; r < sizes.requests; ++r) {
    BatchCaseRequest request;
    const int drafts = dice.between(0, sizes.most_drafts);
    for (int i = 0; i <= drafts; ++i) request.target.push_back(row(!spread));
    for (int i = 0; i < drafts; ++i) request.proposal.push_back(row(!spread));
    for (int i = 0; masked && i <= drafts; ++i) {
      request.masks.push_back(row(true));
      for (int& allowed : request.masks.back()) allowed = std::min(allowed, 1);
      const std::size_t x = static_cast<std::size_t>(dice.between(0, sizes.vocabulary - 1));
      request.masks.back()[x] = 1;
      auto& target = request.target[static_cast<std::size_t>(i)];
      target[x] = std::max(target[x], 1);
    }
    if (dice.chance(1, 2)) request.seed = 10 * r + dice.between(0, 9);
    if (dice.chance(1, 2)) request.stop = dice.between(0, sizes.vocabulary - 1);
    if (dice.chance(1, 3)) request.limit = dice.between(1, 3);
    one.requests.push_back(std::move(request));
    one.order.insert(one.order.begin() + dice.between(0, r), r);
  }
  return one;
}

}  // namespace

BatchCase generate_batch_case(std::uint64_t seed, int n) {
  InstanceRng dice(seed, static_cast<std::uint64_t>(n));
  if (n % 2 == 0) {
    const int requests = dice.between(2, 4), vocabulary = dice.between(2, 5);
    return case_of(dice, {requests, vocabulary, 3});
  }
  if (n % 4 == 1) return case_of(dice, {1 + n / 4 % 9, dice.between(2, 3), 1});
  constexpr int beside[]{3, 4, 5, 7, 8, 9, 15, 16, 17};
  const int vocabulary = beside[n / 4 % 9];
  return case_of(dice, {dice.between(1, 2), vocabulary, vocabulary > 9 ? 1 : dice.between(1, 2)});
}

BatchCase batch_case_of_size(std::uint64_t seed, int requests, int vocabulary) {
  InstanceRng dice(seed, static_cast<std::uint64_t>(1000 * requests + vocabulary));
  return case_of(dice, {requests, vocabulary, 1});
}

}  // namespace draftproof
