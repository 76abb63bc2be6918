#include <draftproof/properties/components/target/target_group.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace draftproof {

namespace {

class WantedRow {
  using Row = std::vector<Rational>;
  using Set = std::vector<bool>;

  static auto rank_below(int rank) {
    return [rank](const Row& seen, const Set& from, std::size_t x) {
      int ahead = 0;
      for (std::size_t y = 0; y < seen.size(); ++y) ahead += from[y] && heavier(seen, y, x);
      return ahead < rank;
    };
  }

 public:
  WantedRow(const std::vector<int>& weights, const TargetRequest& request, const std::vector<Token>& prefix,
            bool joint)
      : request_{request},
        place_{prefix.size()},
        joint_{joint},
        exponent_{request.grain},
        before_{request.committed} {
    before_.insert(before_.end(), prefix.begin(), prefix.end());
    for (const int weight : weights) {
      roots_.emplace_back(weight);
      kept_.push_back(weight > 0);
    }
    factors_.assign(roots_.size(), Rational(1));
  }

  void apply(Setting one) {
    switch (one) {
      case Setting::bias:
        return scale([this](std::size_t x) { return Rational(request_.bias.empty() ? 1 : request_.bias[x]); });
      case Setting::penalty:
        return scale([this](std::size_t x) {
          Rational factor = 1;
          for (const Token y : before_)
            if (y == static_cast<Token>(x)) factor /= request_.penalty;
          return factor;
        });
      case Setting::temperature:
        if (request_.coldness == 0) narrow(kept_, rank_below(1));
        exponent_ = std::max(request_.coldness, 1);
        return;
      case Setting::min_p:
        return filter(request_.min_p_over, [this](const Row& seen, const Set& from, std::size_t x) {
          for (std::size_t y = 0; y < seen.size(); ++y)
            if (from[y] && seen[x] * request_.min_p_over < seen[y]) return false;
          return true;
        });
      case Setting::top_k:
        return filter(request_.top_k, rank_below(request_.top_k));
      case Setting::top_p:
        return filter(request_.top_p, [this](const Row& seen, const Set& from, std::size_t x) {
          return reaches(seen, from, request_.top_p, [&](std::size_t y) { return heavier(seen, y, x); });
        });
      case Setting::typical_p:
        return filter(request_.typical_p, [this](const Row& seen, const Set& from, std::size_t x) {
          return typical(seen, from, request_.typical_p, x);
        });
      case Setting::mask:
        for (std::size_t x = 0; x < roots_.size() && !request_.masks.empty(); ++x)
          if (request_.masks[place_][x] == 0) kept_[x] = false;
        return;
    }
  }

  std::optional<Row> row() const {
    Row row = weights();
    Rational total = 0;
    for (std::size_t x = 0; x < row.size(); ++x) {
      if (!kept_[x]) row[x] = 0;
      total += row[x];
    }
    if (total == 0) return std::nullopt;
    for (Rational& mass : row) mass /= total;
    return row;
  }

 private:
  /// Returns the weights up to a common factor, which is enough because settings depend on ratios alone. A weight is
  /// (root / largest root) to the current exponent, times the factors applied after the temperature.
  Row weights() const {
    const Rational largest = *std::max_element(roots_.begin(), roots_.end());
    Row row;
    for (std::size_t x = 0; x < roots_.size(); ++x) {
      const Rational base = largest > 0 ? Rational(roots_[x] / largest) : Rational(0);
      row.push_back(factors_[x]);
      for (int n = 0; n < exponent_; ++n) row.back() *= base;
    }
    return row;
  }
  static bool heavier(const Row& row, std::size_t y, std::size_t x) {
    return row[y] > row[x] || (row[y] == row[x] && y < x);
  }

  /// Multiplies the weight of each x by a factor: the root before the temperature is applied, the power after it.
  template <class Factor>
  void scale(const Factor& factor) {
    for (std::size_t x = 0; x < roots_.size(); ++x) {
      const Rational one = factor(x);
      if (one == 0) kept_[x] = false;
      if (exponent_ == request_.grain)
        roots_[x] *= one;
      else
        for (int n = 0; n < request_.grain; ++n) factors_[x] *= one;
    }
  }
  /// Keeps the tokens of `from` for which `stays(seen, from, x)` holds, where `seen` are the current weights.
  template <class Stays>
  void narrow(const Set& from, const Stays& stays) {
    const Row seen = weights();
    Set kept = kept_;
    for (std::size_t x = 0; x < roots_.size(); ++x) kept[x] = kept[x] && from[x] && stays(seen, from, x);
    kept_ = std::move(kept);
  }
  /// Applies one filter; `setting` is 0 if the filter is off.
  template <class Stays>
  void filter(int setting, const Stays& stays) {
    if (setting == 0) return;
    if (before_filters_.empty()) before_filters_ = kept_;
    narrow(joint_ ? before_filters_ : kept_, stays);
  }

  static bool typical(const Row& seen, const Set& from, int percent, std::size_t x) {
    std::vector<long double> weights;  // in descending order, the order of summation in the component
    std::vector<std::size_t> order;
    for (std::size_t y = 0; y < seen.size(); ++y)
      if (from[y]) order.push_back(y);
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return heavier(seen, a, b); });
    const auto share = [&](std::size_t y) { return static_cast<double>(Rational(seen[y] / seen[order.front()])); };
    for (const std::size_t y : order) weights.push_back(share(y));
    const TypicalDistance distance(weights);
    const auto at = [&](std::size_t y) { return distance.of(share(y)); };
    return reaches(seen, from, percent, [&](std::size_t y) {
      return seen[y] == seen[x] ? y < x : at(y) < at(x) || (at(y) == at(x) && heavier(seen, y, x));
    });
  }
  /// Whether the mass ahead of a token is less than `percent` of the total.
  template <class Ahead>
  static bool reaches(const Row& seen, const Set& from, int percent, const Ahead& is_ahead) {
    Rational total = 0, ahead = 0;
    for (std::size_t y = 0; y < seen.size(); ++y)
      if (from[y]) {
        total += seen[y];
        if (is_ahead(y)) ahead += seen[y];
      }
    return ahead * 100 < total * percent;
  }

  const TargetRequest& request_;
  std::size_t place_;
  bool joint_;
  int exponent_;
  std::vector<Token> before_;
  Row roots_{}, factors_{};
  Set kept_{}, before_filters_{};
};

}  // namespace

void switch_off(TargetRequest& request, Setting one) {
  switch (one) {
    case Setting::bias:
      return request.bias.clear();
    case Setting::penalty:
      request.penalty = 1;
      return;
    case Setting::temperature:
      request.coldness = request.grain = 1;
      return;
    case Setting::min_p:
      request.min_p_over = 0;
      return;
    case Setting::top_k:
      request.top_k = 0;
      return;
    case Setting::top_p:
      request.top_p = 0;
      return;
    case Setting::typical_p:
      request.typical_p = 0;
      return;
    case Setting::mask:
      return request.masks.clear();
  }
}

Reading reading_of(const TargetRequest& request) {
  Reading reading{.joint = request.joint};
  if (request.cold_last)  // the temperature moves from before min-p to after typical-p
    std::rotate(reading.order.begin() + 2, reading.order.begin() + 3, reading.order.end() - 1);
  return reading;
}

std::optional<std::vector<Rational>> wanted_row(const std::vector<int>& weights, const TargetRequest& request,
                                                const std::vector<Token>& prefix, const Reading& reading) {
  WantedRow row(weights, request, prefix, reading.joint);
  for (const Setting one : reading.order) row.apply(one);
  return row.row();
}

}  // namespace draftproof
