#include <draftproof/tests/support/gpu/table_parity.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <limits>
#include <string>
#include <utility>

#include <draftproof/tests/support/gpu/parity_rows.hpp>

namespace draftproof::parity {
namespace {

constexpr std::uint64_t seed = 20250613;

std::vector<TableScheme>& schemes() {
  static std::vector<TableScheme> all;
  return all;
}
std::vector<TableDistribution>& distributions() {
  static std::vector<TableDistribution> all;
  return all;
}

struct Counted {
  long long compared = 0, mismatches = 0;

  void expect(bool same, const char* what, const std::string& where) {
    ++compared;
    if (same) return;
    if (++mismatches <= 20) std::printf("mismatch: %s, %s\n", what, where.c_str());
  }
};

RatioTable table_of(int vocabulary, int proposals, std::uint64_t trial) {
  const ParityRows rows(vocabulary, proposals, 1, trial);
  const auto view = rows.batch().rows(0);
  std::vector<double> p;
  std::vector<std::vector<double>> q(static_cast<std::size_t>(proposals));
  for (Token x = 0; x < vocabulary; ++x) {
    p.push_back(view.p(x));
    for (int k = 0; k < proposals; ++k) q[static_cast<std::size_t>(k)].push_back(view.q(x, k));
  }
  return {p, q};
}

bool same(double a, double b) { return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b); }

/// Compares every function of the distributions, at ratios where the order of tokens changes and between them.
void compare_distributions(const RatioTable& table, const TableView& view, const std::string& where,
                           Counted& counted) {
  const auto expect = [&](bool equal, const char* what) { counted.expect(equal, what, where); };
  expect(table.vocabulary() == view.vocabulary(), "vocabulary");
  for (Token x = 0; x < table.vocabulary(); ++x) {
    expect(same(table.target(x), view.target(x)), "target");
    for (int k = 0; k < table.proposals(); ++k) expect(same(table.proposal(x, k), view.proposal(x, k)), "proposal");
  }
  const int most = std::min(table.vocabulary(), max_drafts);
  Token top[max_drafts];
  for (int j = 0; j < most; ++j) expect((top[j] = table.kth_most_probable(j)) == view.kth_most_probable(j), "top");
  Philox random(seed, 0, Philox::Role::verify);
  constexpr int points = 200;
  for (int i = 0; i < points; ++i) {
    const auto x = static_cast<Token>(scale(random.next(Purpose::pick), static_cast<std::uint64_t>(view.size)));
    const double q = table.proposal(x), at = q > 0 ? table.target(x) / q : std::numeric_limits<double>::max();
    const double u = unit_interval(random.next(Purpose::pick));
    const std::array<double, 5> bs{i == 0 ? 0.0 : at, u, 4 * u, 1, 1 / (u + 0x1p-60)};
    for (const double b : bs) {
      // Some random bits are all 0 or all 1, which give the first or the last token.
      const std::uint64_t drawn_word = random.next(Purpose::pick);
      const std::uint64_t word = i % 40 == 0 ? 0 : i % 40 == 20 ? ~std::uint64_t{0} : drawn_word;
      expect(same(table.residual_mass(b), view.residual_mass(b)), "residual_mass");
      const auto wanted = table.mass_and_slope(b), found = view.mass_and_slope(b);
      expect(same(wanted.mass, found.mass) && same(wanted.slope, found.slope), "mass_and_slope");
      expect(table.residual(b).draw(word) == view.residual(b).draw(word), "residual draw");
      for (const double clip_ratio : {b, 2 * b, std::numeric_limits<double>::infinity()})
        if (b > 0) {
          const auto clipped = table.clipped(b, clip_ratio);
          const auto mirrored = view.clipped(b, clip_ratio);
          expect(same(clipped.total(), mirrored.total()) && same(clipped.weight(x), mirrored.weight(x)), "clipped");
          expect(clipped.draw(word) == mirrored.draw(word), "clipped draw");
        }
      for (int k = 0; k < table.proposals(); ++k) {
        expect(table.row(k).draw(word) == view.row(k).draw(word), "row draw");
        const int n = i % (most + 1);
        std::rotate(top, top + most / 2, top + most);  // puts the tokens out of the order of their ids
        expect(same(table.mass_without(k, top, n), view.mass_without(k, top, n)), "mass_without");
        expect(table.row_without(k, top, n).draw(word) == view.row_without(k, top, n).draw(word), "draw without");
      }
      const auto above = [](const auto& of, double factor) {
        return [&of, factor](Token y) { return std::max(of.target(y) - factor * of.proposal(y), 0.0); };
      };
      if (i % 20 != 0) continue;
      expect(same(table.sum(above(table, b)), view.sum(above(view, b))), "sum");
      const Token drawn = view.weights(above(view, b)).draw(word);
      expect(
          table.weights(above(table, b)).draw(word) == drawn && table.tabulated(above(table, b)).draw(word) == drawn,
          "weights draw");
    }
  }
}

/// Returns drafts drawn on the host, after comparing them with drafts drawn from the view.
TableTrials drafted(const TableDistribution& distribution, const RatioTable& table, int drafts, std::uint64_t first,
                    int count, const std::string& where, Counted& counted) {
  TableTrials trials{.seed = seed, .first = first, .drafts = drafts};
  trials.tuples.resize(static_cast<std::size_t>(count) * max_drafts, no_token);
  const TableView view = table.view();
  for (int i = 0; i < count; ++i) {
    const Philox random(seed, first + static_cast<std::uint64_t>(i), Philox::Role::draft);
    Token* const out = trials.tuples.data() + i * max_drafts;
    trials.lengths.push_back(distribution.host(table, drafts, random, out));
    if (!distribution.view) continue;
    Token found[max_drafts];
    const int length = distribution.view(view, drafts, random, found);
    counted.expect(length == trials.lengths.back() && std::equal(found, found + length, out), "drafts", where);
  }
  return trials;
}

bool same(const Tally& a, const Tally& b) {
  return a.trials == b.trials && a.draft_accepted == b.draft_accepted && a.draft_emitted == b.draft_emitted &&
         a.impossible == b.impossible && a.by_draft == b.by_draft && a.histogram == b.histogram;
}

void compare(const TableScheme& scheme, const TableDistribution& distribution, const RatioTable& table,
             const TableTrials& trials, const std::string& where, Counted& counted) {
  const std::vector<Verdict> wanted = scheme.host(table, trials);
  if (scheme.view) {
    const std::vector<Verdict> found = scheme.view(table.view(), trials);
    for (std::size_t i = 0; i < wanted.size(); ++i)
      counted.expect(wanted[i].token == found[i].token && wanted[i].accepted == found[i].accepted, "verdict",
                     where + ", trial " + std::to_string(trials.first + i));
  }
  if (scheme.device && (scheme.info.drafts.lists(distribution.info.name) || distribution.info.name == "iid")) {
    Tally tally;
    tally.histogram.resize(static_cast<std::size_t>(table.vocabulary()));
    for (std::size_t i = 0; i < wanted.size(); ++i)
      tally.add(wanted[i], trials.tuples.data() + i * max_drafts, trials.lengths[i]);
    const gpu::TrialRange range{trials.seed, trials.first, wanted.size(), trials.drafts};
    counted.expect(same(tally, scheme.device(distribution.info.name, table, range)), "tally", where);
  }
}

}  // namespace

void add(TableScheme scheme) { schemes().push_back(std::move(scheme)); }
void add(TableDistribution distribution) { distributions().push_back(std::move(distribution)); }

int run(const TableSizes& sizes) {
  constexpr std::uint64_t shapes = 6;
  Counted counted;
  std::uint64_t first = (std::uint64_t{1} << 33) - 1000;  // trial numbers above 32 bits
  for (const int vocabulary : sizes.vocabularies)
    for (std::uint64_t shape = 0; shape < shapes; ++shape)
      for (const bool several : {false, true}) {
        const int most = *std::ranges::max_element(sizes.drafts);
        const RatioTable table = table_of(vocabulary, several ? most : 1, shapes * 100 + shape);
        const std::string where = "V = " + std::to_string(vocabulary) + ", shape " + std::to_string(shape);
        compare_distributions(table, table.view(), where, counted);
        for (const TableDistribution& distribution : distributions())
          for (const int drafts : sizes.drafts) {
            if (distribution.info.several_proposals != several ||
                (distribution.info.needs_k_tokens && drafts > vocabulary))
              continue;
            if (drafts < distribution.info.fewest_drafts ||
                (distribution.info.most_drafts > 0 && drafts > distribution.info.most_drafts))
              continue;
            const std::string with =
                where + ", " + std::to_string(drafts) + " drafts of " + std::string{distribution.info.name};
            const TableTrials trials = drafted(distribution, table, drafts, first, sizes.trials, with, counted);
            first += static_cast<std::uint64_t>(sizes.trials);
            for (const TableScheme& scheme : schemes()) {
              if (!scheme.info.drafts.includes(distribution.info.name) || drafts < scheme.info.fewest_drafts)
                continue;
              if (scheme.info.most_drafts > 0 && drafts > scheme.info.most_drafts) continue;
              compare(scheme, distribution, table, trials, std::string{scheme.info.name} + ", " + with, counted);
            }
          }
      }
  std::printf("table parity: %zu schemes, %zu draft samplings, %lld comparisons, %lld mismatches\n", schemes().size(),
              distributions().size(), counted.compared, counted.mismatches);
  return static_cast<int>(std::min<long long>(counted.mismatches + (counted.compared == 0), 1'000'000));
}

}  // namespace draftproof::parity
