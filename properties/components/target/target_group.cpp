#include <draftproof/properties/components/target/target_group.hpp>
#include <draftproof/properties/instances/generator.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <stdexcept>

#include <draftproof/properties/instances/instance_text.hpp>
#include <draftproof/properties/instances/shrink_rows.hpp>

namespace draftproof {

namespace {

/// Limits; larger values test nothing more in rows of fractions.
constexpr int coldest = 12, finest = 4, most_penalty = 1000;

}  // namespace

bool TargetCase::valid() const {
  if (request.weights.empty() || request.weights.front().empty()) return false;
  const auto size = static_cast<std::size_t>(request.vocabulary());
  for (const auto& row : request.weights)
    if (!valid_weights(row, size)) return false;
  if (!valid_weights(proposal, size)) return false;
  if (!request.bias.empty() && !valid_weights(request.bias, size)) return false;
  if (!request.masks.empty() && request.masks.size() != request.weights.size()) return false;
  for (const auto& mask : request.masks)
    if (!valid_weights(mask, size) || *std::max_element(mask.begin(), mask.end()) > 1) return false;
  return std::all_of(request.committed.begin(), request.committed.end(),
                     [&](Token x) { return x >= 0 && x < request.vocabulary(); });
}

std::string TargetCase::text() const {
  std::string text = "w=" + rows_text(request.weights) + " q=" + weights_text(proposal);
  if (!request.committed.empty()) text += fmt::format(" text=({})", fmt::join(request.committed, " "));
  if (request.coldness != 1) text += fmt::format(" cold={}", request.coldness);
  if (request.grain != 1) text += fmt::format(" grain={}", request.grain);
  if (request.top_k > 0) text += fmt::format(" top_k={}", request.top_k);
  if (request.min_p_over > 0) text += fmt::format(" min_p={}", request.min_p_over);
  if (request.top_p > 0) text += fmt::format(" top_p={}", request.top_p);
  if (request.typical_p > 0) text += fmt::format(" typical_p={}", request.typical_p);
  if (request.joint) text += " joint";
  if (request.cold_last) text += " cold_last";
  if (!request.bias.empty()) text += " bias=" + weights_text(request.bias);
  if (request.penalty != 1) text += fmt::format(" penalty={}", request.penalty);
  if (!request.masks.empty()) text += " mask=" + rows_text(request.masks);
  if (request.backend == TargetBackend::generic) text += " generic";
  return text;
}

TargetCase TargetCase::parse(std::string_view text) {
  InstanceReader reader(text);
  TargetCase one;
  TargetRequest& request = one.request;
  reader.expect("w=");
  request.weights = reader.rows();
  reader.expect("q=");
  one.proposal = reader.weights();
  if (reader.accept("text=")) request.committed = reader.numbers("(", ")");
  if (reader.starts_with("cold=")) request.coldness = reader.named_number("cold", 0, coldest);
  if (reader.starts_with("grain=")) request.grain = reader.named_number("grain", 1, finest);
  if (reader.starts_with("top_k=")) request.top_k = reader.named_number("top_k", 1, InstanceReader::most_weight);
  if (reader.starts_with("min_p=")) request.min_p_over = reader.named_number("min_p", 1, InstanceReader::most_weight);
  if (reader.starts_with("top_p=")) request.top_p = reader.named_number("top_p", 1, 99);
  if (reader.starts_with("typical_p=")) request.typical_p = reader.named_number("typical_p", 1, 99);
  request.joint = reader.accept("joint");
  request.cold_last = reader.accept("cold_last");
  if (reader.accept("bias=")) request.bias = reader.weights();
  if (reader.starts_with("penalty=")) request.penalty = reader.named_number("penalty", 1, most_penalty);
  if (reader.accept("mask=")) request.masks = reader.rows();
  if (reader.accept("generic")) request.backend = TargetBackend::generic;
  reader.end();
  if (!one.valid())
    throw std::invalid_argument(
        fmt::format("instance: found \"{}\", wanted a request such as \"{}\"", text, example));
  return one;
}

std::vector<std::vector<int>*> rows_of(TargetCase& one) {
  std::vector<std::vector<int>*> rows{&one.proposal};
  for (auto& row : one.request.weights) rows.push_back(&row);
  if (!one.request.bias.empty()) rows.push_back(&one.request.bias);
  return rows;
}

std::vector<TargetCase> shrinks(const TargetCase& one) {
  Candidates candidates(one);
  const auto size = static_cast<std::size_t>(one.request.vocabulary());
  const auto edit = [&](auto change) { candidates.add([&](TargetCase& candidate) { change(candidate.request); }); };
  for (std::size_t i = 0; i + 1 < one.request.weights.size(); ++i)
    edit([i](TargetRequest& request) {
      request.weights.erase(request.weights.begin() + static_cast<std::ptrdiff_t>(i));
      if (!request.masks.empty()) request.masks.erase(request.masks.begin() + static_cast<std::ptrdiff_t>(i));
    });
  for (std::size_t x = 0; x < size && size > 2; ++x)  // with one token there is no decision
    candidates.add([x](TargetCase& candidate) {
      for (std::vector<int>* row : rows_of(candidate)) drop_token(*row, x);
      for (auto& mask : candidate.request.masks) drop_token(mask, x);
      std::erase(candidate.request.committed, static_cast<Token>(x));
      for (Token& token : candidate.request.committed) token -= token > static_cast<Token>(x);
    });
  edit([](TargetRequest& request) { request.masks.clear(); });
  edit([](TargetRequest& request) { request.bias.clear(); });
  edit([](TargetRequest& request) { request.penalty = 1; });
  edit([](TargetRequest& request) { request.coldness = request.grain = 1; });
  edit([](TargetRequest& request) { request.top_p = 0; });
  edit([](TargetRequest& request) { request.typical_p = 0; });
  edit([](TargetRequest& request) { request.joint = false; });
  edit([](TargetRequest& request) { request.cold_last = false; });
  edit([](TargetRequest& request) { request.top_k = 0; });
  edit([](TargetRequest& request) { request.min_p_over = 0; });
  edit([](TargetRequest& request) { request.backend = TargetBackend::specialised; });
  edit([](TargetRequest& request) {
    if (!request.committed.empty()) request.committed.erase(request.committed.begin());
  });
  edit([](TargetRequest& request) { request.penalty = std::min(request.penalty, 2); });
  edit([](TargetRequest& request) { request.coldness = std::min(request.coldness, 2); });
  candidates.add_smaller_weights(size);
  return candidates.take();
}

TargetCase generate_target_case(std::uint64_t seed, int n) {
  InstanceRng dice(seed, static_cast<std::uint64_t>(n));
  // A third each: anything; two filters in a chain; a temperature that moves what a filter sees. The last two have
  // tokens enough for a filter to remove some and leave some.
  enum { anything, filters, temperature };
  const int kind = n % 3;
  const int vocabulary = dice.between(kind == anything ? 2 : 3, 4), drafts = dice.between(0, vocabulary == 4 ? 2 : 3);
  const auto row = [&](int zeros_of_four, int most) {
    std::vector<int> weights;
    for (int x = 0; x < vocabulary; ++x) weights.push_back(dice.chance(zeros_of_four, 4) ? 0 : dice.between(1, most));
    repair_weights(weights, 1, dice);
    return weights;
  };
  TargetCase one;
  TargetRequest& request = one.request;
  for (int i = 0; i <= drafts; ++i) request.weights.push_back(row(kind == anything ? i % 2 : 0, 9));
  one.proposal = row(1, 5);
  for (int i = dice.between(0, 3); i > 0; --i) request.committed.push_back(dice.between(0, vocabulary - 1));
  // Temperature 0, 1, beside both, and others. The largest exponent that is not 0 stands beside 0.
  if (dice.chance(1, 2)) {
    request.grain = 4;
    constexpr int beside[]{0, 3, 4, 5, 8, coldest};
    request.coldness = beside[dice.between(0, 5)];
  } else if (dice.chance(1, 2)) {
    request.coldness = dice.between(0, 3);
  }
  if (dice.chance(1, 2)) request.top_p = 5 * dice.between(6, 18);
  if (dice.chance(1, 3)) request.typical_p = 5 * dice.between(6, 18);
  request.joint = dice.chance(1, 2);
  request.cold_last = dice.chance(1, 3);
  if (dice.chance(1, 3)) request.top_k = dice.between(1, vocabulary);
  if (dice.chance(1, 4)) request.min_p_over = dice.between(1, 4);
  if (dice.chance(1, 4)) request.bias = row(1, 3);
  if (dice.chance(1, 2)) request.penalty = dice.between(2, 3);
  if (dice.chance(1, 2)) request.backend = TargetBackend::generic;
  if (dice.chance(1, 4))
    for (int i = 0; i <= drafts; ++i) request.masks.push_back(row(2, 1));
  if (kind == filters) {
    request.joint = request.cold_last = false;
    request.top_k = vocabulary - 1;
    request.top_p = 5 * dice.between(8, 14);
    request.typical_p = request.min_p_over = 0;
    request.grain = request.coldness = 1;
    request.masks.clear();
  } else if (kind == temperature) {
    constexpr int near[]{3, 5, 5, 8, 8, coldest, coldest};
    request.grain = 4;
    request.coldness = near[dice.between(0, 6)];
    request.top_k = request.min_p_over = request.typical_p = 0;
    // What is cold has few tokens in its top-p, and a third of such rows keep all.
    const bool cold = request.coldness >= 2 * request.grain;
    request.top_p = cold && dice.chance(1, 3) ? 0 : 5 * (cold ? dice.between(9, 15) : dice.between(12, 19));
    request.cold_last = dice.chance(1, 8);
    request.masks.clear();
  }
  return one;
}

}  // namespace draftproof
