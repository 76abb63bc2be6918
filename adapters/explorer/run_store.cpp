#include <draftproof/adapters/explorer/run_store.hpp>

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>

#include <draftproof/adapters/declaration.hpp>

namespace draftproof::adapters {

namespace {

std::uint64_t mixed(std::uint64_t hash, std::uint64_t word) {
  hash = (hash ^ word) * 0xD6E8FEB86659FD93u;
  return hash ^ (hash >> 29);
}

/// Returns the bits of a weight; zeros of both signs have equal bits, and so have all NaNs.
std::uint64_t bits_of(double weight) {
  if (std::isnan(weight)) weight = std::numeric_limits<double>::quiet_NaN();
  return std::bit_cast<std::uint64_t>(weight + 0.0);
}

bool alike(const Draw& a, const Draw& b) {
  return a.kind == b.kind && a.size == b.size && a.bits == b.bits && a.stream == b.stream &&
         std::equal(a.weights.begin(), a.weights.end(), b.weights.begin(), b.weights.end(),
                    [](double x, double y) { return bits_of(x) == bits_of(y); });
}

std::uint64_t hash_of(const Draw& draw) {
  std::uint64_t hash = mixed(static_cast<std::uint64_t>(draw.kind), static_cast<std::uint64_t>(draw.size));
  hash = mixed(hash, static_cast<std::uint64_t>(draw.bits));
  if (!draw.stream.empty()) hash = mixed(hash, std::hash<std::string>{}(draw.stream));
  for (const double weight : draw.weights) hash = mixed(hash, bits_of(weight));
  return hash;
}

std::uint64_t hash_of(const Run& run) {
  std::uint64_t hash = mixed(0, static_cast<std::uint64_t>(run.status));
  for (const Token token : run.tokens) hash = mixed(hash, static_cast<std::uint64_t>(token));
  for (const double number : run.state) hash = mixed(hash, bits_of(number));
  return hash;
}

void check(const Draw& draw, std::size_t place) {
  const auto refuse = [&](const std::string& found, const char* wanted) {
    throw AdapterError(fmt::format("log of a run, draw {}: got {}, expected {}", place, found, wanted));
  };
  switch (draw.kind) {
    case DrawKind::coin:
      if (draw.bits < 1 || draw.bits > 53) refuse(fmt::format("a coin of {} bits", draw.bits), "1 to 53");
      return;
    case DrawKind::pick:
      if (draw.size < 1 || draw.weights.size() != static_cast<std::size_t>(draw.size))
        refuse(fmt::format("a pick of {} cells with {} weights", draw.size, draw.weights.size()),
               "at least one cell and a weight for each");
      return;
    case DrawKind::clock:
      if (draw.size < 0) refuse(fmt::format("a race of {} clocks", draw.size), "0 or more");
      return;
    case DrawKind::integer:
      if (draw.size < 1) refuse(fmt::format("an integer below {}", draw.size), "1 or more");
      return;
  }
  refuse(fmt::format("kind {}", static_cast<int>(draw.kind)), "coin, pick, clock or integer");
}

}  // namespace

void HashIndex::grow() {
  slots_.assign(std::max<std::size_t>(64, slots_.size() * 2), empty);
  for (std::size_t id = 0; id < hashes_.size(); ++id) {
    std::size_t at = hashes_[id] & (slots_.size() - 1);
    while (slots_[at] != empty) at = (at + 1) & (slots_.size() - 1);
    slots_[at] = static_cast<std::uint32_t>(id);
  }
}

RunStore::Chain RunStore::link(std::uint32_t draw, std::uint32_t next) {
  return link_index_.find_or_add(
      mixed(mixed(7, draw), next), [&](Chain id) { return links_[id].draw == draw && links_[id].next == next; },
      [&] {
        links_.push_back({draw, next});
      });
}

RunStore::Chain RunStore::add(const Run& run, std::size_t tape) {
  if (run.draws.size() > tape)
    throw AdapterError(
        fmt::format("log of a run: got {} draws, expected at most the {} of its tape", run.draws.size(), tape));
  const auto outcome = outcome_index_.find_or_add(
      hash_of(run),
      [&](std::uint32_t id) {
        return outcomes_[id] == Outcome{.status = run.status, .tokens = run.tokens, .state = run.state};
      },
      [&] {
        outcomes_.push_back({run.status, run.tokens, run.state, run.message});
      });
  Chain chain = link(no_draw, outcome);
  for (std::size_t place = run.draws.size(); place-- > 0;) {
    const Draw& draw = run.draws[place];
    check(draw, place);
    const auto id = draw_index_.find_or_add(
        hash_of(draw), [&](std::uint32_t other) { return alike(draws_[other], draw); },
        [&] { draws_.push_back(draw); });
    chain = link(id, chain);
  }
  return chain;
}

}  // namespace draftproof::adapters
