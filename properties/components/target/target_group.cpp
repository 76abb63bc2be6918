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

/// Largest coldness and grain of a temperature (sim/components/target_filters.hpp), and largest penalty. Larger values
/// would not make fractions test more.
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
        fmt::format("instance: got \"{}\", expected a request such as \"{}\"", text, example));
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
  for (std::size_t x = 0; x < size && size > 2; ++x)  // keeps two tokens
    candidates.add([x](TargetCase& candidate) {
      for (std::vector<int>* row : rows_of(candidate)) drop_token(*row, x);
      for (auto& mask : candidate.request.masks) drop_token(mask, x);
      std::erase(candidate.request.committed, static_cast<Token>(x));
      for (Token& token : candidate.request.committed) token -= token > static_cast<Token>(x);
    });
  for (const Setting setting : all_settings)
    edit([setting](TargetRequest& request) { switch_off(request, setting); });
  edit([](TargetRequest& request) { request.joint = false; });
  edit([](TargetRequest& request) { request.cold_last = false; });
  edit([](TargetRequest& request) { request.backend = TargetBackend::specialised; });
  edit([](TargetRequest& request) {
    if (!request.committed.empty()) request.committed.erase(request.committed.begin());
  });
  edit([](TargetRequest& request) { request.penalty = std::min(request.penalty, 2); });
  edit([](TargetRequest& request) { request.coldness = std::min(request.coldness, 2); });
  candidates.add_smaller_weights(size);
  return candidates.take();
}

namespace {

/// Sets a temperature that is 0, 1, near 0, near 1, or another value. `coldest` is the largest exponent, the positive
/// temperature next to 0.
void set_temperature(TargetRequest& request, InstanceRng& dice) {
  constexpr int beside[]{0, 3, 5, 8, coldest, 4};
  request.grain = dice.chance(3, 4) ? 4 : 1;
  request.coldness = request.grain == 4 ? beside[dice.between(0, 5)] : dice.between(0, 3);
}

std::vector<int> row_of(InstanceRng& dice, int vocabulary, int zeros_of_four, int most) {
  std::vector<int> weights;
  for (int x = 0; x < vocabulary; ++x) weights.push_back(dice.chance(zeros_of_four, 4) ? 0 : dice.between(1, most));
  repair_weights(weights, 1, dice);
  return weights;
}

void switch_on(TargetRequest& request, Setting one, InstanceRng& dice) {
  const int vocabulary = request.vocabulary();
  switch (one) {
    case Setting::bias:
      request.bias = row_of(dice, vocabulary, 1, 3);
      return;
    case Setting::penalty:
      request.penalty = dice.between(2, 3);
      return;
    case Setting::temperature:
      return set_temperature(request, dice);
    case Setting::min_p:
      request.min_p_over = dice.between(1, 4);
      return;
    case Setting::top_k:
      request.top_k = dice.between(1, vocabulary);
      return;
    case Setting::top_p:
      request.top_p = 5 * dice.between(6, 18);
      return;
    case Setting::typical_p:
      request.typical_p = 5 * dice.between(6, 18);
      return;
    case Setting::mask:
      for (std::size_t i = 0; i < request.weights.size(); ++i)
        request.masks.push_back(row_of(dice, vocabulary, 2, 1));
      return;
  }
}

/// Returns weights, a proposal and text, with every setting off.
TargetCase plain_case(InstanceRng& dice, int vocabulary, int drafts, bool sparse) {
  TargetCase one;
  for (int i = 0; i <= drafts; ++i) one.request.weights.push_back(row_of(dice, vocabulary, sparse ? i % 2 : 0, 9));
  one.proposal = row_of(dice, vocabulary, 1, 5);
  for (int i = dice.between(0, 3); i > 0; --i) one.request.committed.push_back(dice.between(0, vocabulary - 1));
  return one;
}

/// Returns wrong interpretations of a request with two settings, which may be equal: without the first, without the
/// second, in the other order, and with `joint` negated.
std::vector<Reading> wrong_readings(const TargetRequest& request, Setting first, Setting second) {
  const Reading right = reading_of(request);
  std::vector<Reading> wrong(4, right);
  std::erase(wrong[0].order, first);
  std::erase(wrong[1].order, second);
  const auto place = [&](Setting one) { return std::find(wrong[2].order.begin(), wrong[2].order.end(), one); };
  std::iter_swap(place(first), place(second));
  wrong[3].joint = !right.joint;
  return wrong;
}

}  // namespace

std::vector<TargetCase> cases_of_two_settings(std::uint64_t seed) {
  // Tries V = 3 before V = 4, because three is the least V at which a filter can remove a token and leave two.
  constexpr int tries = 120, wanted = 2;
  std::vector<TargetCase> cases;
  InstanceRng dice(seed, std::uint64_t{1} << 32);
  for (const Setting first : all_settings)
    for (const Setting second : all_settings)
      for (int way = 0; way < 4 && first <= second; ++way) {
        const bool joint = way % 2 != 0, cold_last = way / 2 != 0;
        // Only two filters can be joint or chained, and only a temperature and a filter can change their order.
        if (joint && !(is_filter(first) && is_filter(second) && first != second)) continue;
        if (cold_last && !(first == Setting::temperature && is_filter(second))) continue;
        std::array<int, 4> shown{};
        for (int n = 0; n < tries && *std::min_element(shown.begin(), shown.end()) < wanted; ++n) {
          TargetCase one = plain_case(dice, n < tries / 2 ? 3 : 4, dice.between(0, 1), false);
          TargetRequest& request = one.request;
          switch_on(request, first, dice);
          if (second != first) switch_on(request, second, dice);
          request.joint = joint;
          request.cold_last = cold_last;
          const auto row = wanted_row(request.weights.front(), request, {}, reading_of(request));
          if (!row) continue;
          const std::vector<Reading> wrong = wrong_readings(request, first, second);
          bool shows = false;
          for (std::size_t i = 0; i < wrong.size(); ++i)
            if (shown[i] < wanted && wanted_row(request.weights.front(), request, {}, wrong[i]) != row) {
              ++shown[i];
              shows = true;
            }
          if (shows) cases.push_back(std::move(one));
        }
      }
  return cases;
}

TargetCase generate_target_case(std::uint64_t seed, int n) {
  InstanceRng dice(seed, static_cast<std::uint64_t>(n));
  const int vocabulary = dice.between(2, 4);
  TargetCase one = plain_case(dice, vocabulary, dice.between(0, vocabulary == 4 ? 2 : 3), true);
  TargetRequest& request = one.request;
  for (const Setting setting : all_settings)
    if (dice.chance(setting == Setting::temperature || setting == Setting::penalty ? 2 : 1, 3))
      switch_on(request, setting, dice);
  request.joint = dice.chance(1, 2);
  request.cold_last = dice.chance(1, 3);
  if (dice.chance(1, 2)) request.backend = TargetBackend::generic;
  return one;
}

}  // namespace draftproof
