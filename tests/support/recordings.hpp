// Recordings of simulated engines as bytes of trace files: chains of drafts verified by rejection sampling, with or
// without bugs.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <draftproof/captures/safetensors.hpp>
#include <draftproof/captures/trace.hpp>
#include <draftproof/sim/numeric/short_float.hpp>

namespace draftproof::recordings {

using Distribution = std::vector<double>;

/// Collects raw arrays by name, and returns them as a trace file, in which arrays with larger elements come first.
class TraceFile {
 public:
  template <class T>
  void put(const std::string& name, DType type, std::vector<std::uint64_t> shape, const std::vector<T>& values) {
    std::vector<std::byte> bytes(values.size() * sizeof(T));
    if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
    arrays_[name] = {{.name = name, .type = {}, .dtype = type, .shape = std::move(shape)}, std::move(bytes)};
  }
  void remove(const std::string& name) { arrays_.erase(name); }
  std::map<std::string, std::string> metadata{};

  std::vector<std::byte> bytes() const {
    std::vector<SafetensorsEntry> entries;
    for (const auto& [name, array] : arrays_) entries.push_back(array.first);
    std::stable_sort(entries.begin(), entries.end(),
                     [](const auto& a, const auto& b) { return width(*a.dtype) > width(*b.dtype); });
    const std::string head = safetensors_head(entries, nlohmann::json(metadata));
    std::vector<std::byte> all(head.size());
    std::memcpy(all.data(), head.data(), head.size());
    for (const SafetensorsEntry& entry : entries) {
      const auto& data = arrays_.at(entry.name).second;
      all.insert(all.end(), data.begin(), data.end());
    }
    return all;
  }

 private:
  std::map<std::string, std::pair<SafetensorsEntry, std::vector<std::byte>>> arrays_;
};

/// The bugs of an engine: each function receives the correct row or probability and may return another.
struct Bugs {
  std::function<Distribution(const Distribution& p, const Distribution& q)>
      target{};  ///< the row that the verifier uses as target
  std::function<Distribution(const Distribution& p, const Distribution& q)>
      residual{};                                                 ///< the distribution of the token after a rejection
  std::function<Distribution(const Distribution& q)> proposal{};  ///< the distribution that drafts are drawn from
  std::function<double(double ratio)> accept{};  ///< probability of accepting a draft whose p / q is `ratio`
  bool shifted_row = false;                      ///< whether the target is the row of the previous position
};

struct Form {
  std::size_t vocabulary = 64, records = 2000;
  int length = 4;       ///< drafts per block
  double noise = 0.8;   ///< standard deviation of log q - log p
  bool half = false;    ///< whether rows are stored as float16
  std::size_t top = 0;  ///< number of leading tokens that a row stores; 0: whole rows
  std::string draft_sampling = "iid";
  double zeros = 0;  ///< share of tokens with p = 0
};

inline Distribution softmax(Distribution logits) {
  const double greatest = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (double& x : logits) sum += x = std::exp(x - greatest);
  for (double& x : logits) x /= sum;
  return logits;
}

inline Distribution tempered(const Distribution& distribution, double temperature) {
  Distribution out;
  for (const double p : distribution) out.push_back(p > 0 ? std::log(p) / temperature : -INFINITY);
  return softmax(out);
}

inline Distribution usual_residual(const Distribution& p, const Distribution& q) {
  Distribution rest;
  double sum = 0;
  for (std::size_t x = 0; x < p.size(); ++x) {
    rest.push_back(std::max(p[x] - q[x], 0.0));
    sum += rest.back();
  }
  for (double& r : rest) r /= sum;
  return sum > 0 ? rest : p;
}

/// Runs a simulated engine block by block and stores its rows, drafts and verdicts.
class Recording {
 public:
  Recording(Form form, std::uint64_t seed) : form_{std::move(form)}, random_{seed} {}

  /// Runs blocks until there are at least `records` records.
  void run(const Bugs& bugs) {
    while (emitted_.size() < form_.records) block(bugs);
  }

  void step(const Bugs& bugs) { block(bugs); }

  /// Returns the file of the first `blocks` blocks, by default of all blocks.
  TraceFile file(std::size_t blocks = ~std::size_t{0}) const;
  Trace trace(std::size_t blocks = ~std::size_t{0}) const {
    return Trace::of_bytes(file(blocks).bytes(), "recording");
  }
  std::size_t blocks() const { return accepted_.size(); }

 private:
  Distribution target() {
    std::normal_distribution<double> normal;
    Distribution logits(form_.vocabulary);
    // A Zipf distribution, (rank + 2.7)^-1.1, in a rotated order and with noise, so that rows have different orders.
    const std::size_t turn = random_() % form_.vocabulary;
    for (std::size_t x = 0; x < logits.size(); ++x)
      logits[x] = -1.1 * std::log(static_cast<double>((x + turn) % logits.size()) + 2.7) + 0.5 * normal(random_);
    std::uniform_real_distribution<double> uniform;
    for (double& logit : logits)
      if (uniform(random_) < form_.zeros) logit = -INFINITY;
    logits[turn % logits.size()] = std::max(logits[turn % logits.size()], -8.0);
    return softmax(logits);
  }
  Distribution near(const Distribution& p) {
    std::normal_distribution<double> normal;
    Distribution logits;
    for (const double x : p) logits.push_back((x > 0 ? std::log(x) : -3.0) + form_.noise * normal(random_));
    return softmax(logits);
  }
  std::int32_t draw(const Distribution& distribution) {
    double u = std::uniform_real_distribution<double>()(random_);
    std::size_t last = 0;
    for (std::size_t x = 0; x < distribution.size(); ++x) {
      if (distribution[x] <= 0) continue;
      last = x;
      if ((u -= distribution[x]) < 0) break;
    }
    return static_cast<std::int32_t>(last);
  }
  void block(const Bugs& bugs) {
    std::uniform_real_distribution<double> uniform;
    std::int32_t taken = 0;
    bool open = true;
    const auto first_q = static_cast<std::int64_t>(q_.size());
    for (int i = 0; i < form_.length; ++i) {
      const Distribution p = target(), q = near(p);
      const std::int32_t draft = draw(bugs.proposal ? bugs.proposal(q) : q);
      drafts_.push_back(draft);
      parents_.push_back(i - 1);
      draft_q_.push_back(first_q + i);
      q_.push_back(q);
      if (!open) continue;
      const Distribution used = bugs.shifted_row && !p_.empty() ? p_.back() : bugs.target ? bugs.target(p, q) : p;
      const auto x = static_cast<std::size_t>(draft);
      const double ratio = q[x] > 0 ? used[x] / q[x] : 1;
      open = uniform(random_) < (bugs.accept ? bugs.accept(ratio) : ratio);
      taken += open;
      emitted_.push_back(open ? draft : draw(bugs.residual ? bugs.residual(used, q) : usual_residual(used, q)));
      p_.push_back(p);
      emitted_q_.push_back(first_q + i);
    }
    if (open) {
      const Distribution p = target();
      emitted_.push_back(draw(bugs.target ? bugs.target(p, p) : p));
      p_.push_back(p);
      emitted_q_.push_back(-1);
    }
    accepted_.push_back(taken);
    block_start_.push_back(static_cast<std::int64_t>(emitted_.size()));
    draft_start_.push_back(static_cast<std::int64_t>(drafts_.size()));
    q_start_.push_back(static_cast<std::int64_t>(q_.size()));
  }

  Form form_;
  std::mt19937_64 random_;
  std::vector<Distribution> p_, q_;
  std::vector<std::int32_t> emitted_, drafts_, parents_, accepted_;
  std::vector<std::int64_t> emitted_q_, draft_q_, block_start_{0}, draft_start_{0}, q_start_{0};
};

/// Returns the stored numbers of rows: logarithms as float or Half.
template <class T>
std::vector<T> stored(const std::vector<Distribution>& rows, std::size_t count) {
  std::vector<T> out;
  for (std::size_t r = 0; r < count; ++r)
    for (const double p : rows[r]) out.push_back(static_cast<T>(std::log(p)));
  return out;
}

inline TraceFile Recording::file(std::size_t blocks) const {
  blocks = std::min(blocks, accepted_.size());
  const auto records = static_cast<std::size_t>(block_start_[blocks]),
             drafts = static_cast<std::size_t>(draft_start_[blocks]);
  const auto rows = static_cast<std::size_t>(q_start_[blocks]);
  const auto first = [](const auto& values, std::size_t count) {
    return std::remove_cvref_t<decltype(values)>(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(count));
  };
  TraceFile file;
  file.put("emitted", DType::I32, {records}, first(emitted_, records));
  file.put("emitted_q", DType::I64, {records}, first(emitted_q_, records));
  file.put("drafts", DType::I32, {drafts}, first(drafts_, drafts));
  file.put("draft_parent", DType::I32, {drafts}, first(parents_, drafts));
  file.put("draft_q", DType::I64, {drafts}, first(draft_q_, drafts));
  file.put("accepted", DType::I32, {blocks}, first(accepted_, blocks));
  file.put("request", DType::I64, {blocks}, std::vector<std::int64_t>(blocks, 0));
  file.put("block_start", DType::I64, {blocks + 1}, first(block_start_, blocks + 1));
  file.put("draft_start", DType::I64, {blocks + 1}, first(draft_start_, blocks + 1));
  file.put("q_start", DType::I64, {blocks + 1}, first(q_start_, blocks + 1));
  file.metadata = {{"schema", "draftproof.trace/1"},
                   {"vocabulary", std::to_string(form_.vocabulary)},
                   {"draft_sampling", form_.draft_sampling},
                   {"values", form_.top > 0 ? "probability"
                              : form_.half  ? "logit"
                                            : "log_probability"}};
  if (form_.top == 0) {
    for (const auto& [name, distributions, count] : {std::tuple{"p_rows", &p_, records}, {"q_rows", &q_, rows}}) {
      if (form_.half)
        file.put(name, DType::F16, {count, form_.vocabulary}, stored<Half>(*distributions, count));
      else
        file.put(name, DType::F32, {count, form_.vocabulary}, stored<float>(*distributions, count));
    }
    return file;
  }
  // A row of p at a position that has a proposal stores the entries of the leading tokens of q. Any other row stores
  // the entries of its leading tokens.
  const auto leading = [this](const Distribution& distribution) {
    std::vector<std::int32_t> order(distribution.size());
    for (std::size_t x = 0; x < order.size(); ++x) order[x] = static_cast<std::int32_t>(x);
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) {
      return distribution[static_cast<std::size_t>(a)] > distribution[static_cast<std::size_t>(b)];
    });
    order.resize(form_.top);
    std::sort(order.begin(), order.end());
    return order;
  };
  for (const bool target : {true, false}) {
    std::vector<std::int32_t> ids;
    std::vector<float> top, rest;
    for (std::size_t r = 0; r < (target ? records : rows); ++r) {
      const Distribution& distribution = target ? p_[r] : q_[r];
      const bool alone = target && emitted_q_[r] < 0;
      double left = 1;
      for (const std::int32_t x :
           leading(target && !alone ? q_[static_cast<std::size_t>(emitted_q_[r])] : distribution)) {
        ids.push_back(x);
        top.push_back(static_cast<float>(distribution[static_cast<std::size_t>(x)]));
        left -= distribution[static_cast<std::size_t>(x)];
      }
      rest.push_back(static_cast<float>(std::max(left, 0.0)));
    }
    const std::string letter = target ? "p" : "q";
    file.put(letter + "_top_ids", DType::I32, {rest.size(), form_.top}, ids);
    file.put(letter + "_top", DType::F32, {rest.size(), form_.top}, top);
    file.put(letter + "_rest", DType::F32, {rest.size()}, rest);
  }
  return file;
}

}  // namespace draftproof::recordings
