// Fresh rows of every format that differ from p = q by a unit in the last place: no residual is left, or a unit of one,
// and every decision ends with a token the target has.
#include <gtest/gtest.h>

#include <draftproof/captures/stored_format.hpp>
#include <draftproof/properties/scripted/addressed_words.hpp>
#include <draftproof/properties/subjects/path_erased.hpp>
#include <draftproof/sim/distributions/streamed_rows.hpp>
#include <draftproof/sim/random/tape.hpp>
#include <draftproof/tests/support/example_rows.hpp>
#include <draftproof/verifiers/k_seq.hpp>
#include <draftproof/verifiers/ladder.hpp>
#include <draftproof/verifiers/ladder_wor.hpp>
#include <draftproof/verifiers/lossy/cactus.hpp>
#include <draftproof/verifiers/lossy/lenience.hpp>
#include <draftproof/verifiers/lossy/mentored_decoding.hpp>
#include <draftproof/verifiers/naive_tree.hpp>
#include <draftproof/verifiers/paths/block.hpp>
#include <draftproof/verifiers/paths/branch_reentry.hpp>
#include <draftproof/verifiers/paths/greedy_block.hpp>
#include <draftproof/verifiers/paths/greedy_multipath_block.hpp>
#include <draftproof/verifiers/paths/ladder_block.hpp>
#include <draftproof/verifiers/paths/layerwise_rejection.hpp>
#include <draftproof/verifiers/paths/token_path.hpp>
#include <draftproof/verifiers/paths/traversal.hpp>
#include <draftproof/verifiers/recursive_rejection.hpp>
#include <draftproof/verifiers/recursive_rejection_wor.hpp>
#include <draftproof/verifiers/single_draft.hpp>

namespace draftproof {
namespace {

template <class Entry>
constexpr StoredFormat format_of = std::same_as<Entry, float>    ? float32
                                   : std::same_as<Entry, double> ? float64
                                   : std::same_as<Entry, Half>   ? float16
                                                                 : bfloat16;

/// Rows of `size` tokens; of p's entries every `every`-th is a unit below q's, and the first one `first` units above.
template <class Entry>
struct NearRows {
  std::vector<Entry> p, q;
  NearRows(std::uint64_t seed, std::size_t size, std::size_t every, int first) {
    for (const double value : examples::random_row(seed, size, 2, 0.2)) {
      const StoredFormat& format = format_of<Entry>;
      const double entry = format.round(value);
      const int units = p.empty() ? first : p.size() % every == 0 ? -1 : 0;
      q.push_back(static_cast<Entry>(entry));
      p.push_back(static_cast<Entry>(entry > 0 ? entry + units * format.unit(entry) : entry));
    }
  }
  FreshRows<Entry> rows() const { return {std::span<const Entry>(p), std::span<const Entry>(q)}; }
};

template <class Entry>
class NearEqualRows : public testing::Test {
 protected:
  template <class Decide>
  void every_decision(Decide decide) {
    for (const auto& [seed, size, every, first] : {std::array{1, 2, 1, -1},
                                                   {2, 2, 2, -1},
                                                   {3, 3, 1, 1},
                                                   {4, 5, 2, -1},
                                                   {5, 40, 1, -1},
                                                   {6, 1500, 3, -1},
                                                   {7, 1500, 1, 1}}) {
      const NearRows<Entry> near(static_cast<std::uint64_t>(seed), static_cast<std::size_t>(size),
                                 static_cast<std::size_t>(every), first);
      const FreshRows<Entry> rows = near.rows();
      for (Token x = 0; x < size; x += 1 + size / 8)
        for (const std::uint64_t inner : {edge::zero, edge::largest})
          for (const std::uint64_t last : {edge::zero, edge::largest}) {
            if (!(rows.proposal(x) > 0)) continue;
            BoundaryWords words(inner, last);
            Scripted random{WordsFrom(words)};
            const Token token = decide(rows, x, random);
            ASSERT_TRUE(token >= 0 && token < size)
                << token << " of rows " << seed << ", draft " << x << ", coins " << inner;
            ASSERT_GT(static_cast<double>(rows.target(token)), 0) << "rows " << seed << ", draft " << x;
          }
    }
  }
  /// A scheme of one position, on the same draft `drafts` times or on tokens in a row.
  template <class V>
  void position(int drafts, bool distinct = false) {
    SCOPED_TRACE(V::info.name);
    every_decision([&](const FreshRows<Entry>& rows, Token x, auto& random) {
      const int count = distinct ? std::min(drafts, rows.vocabulary()) : drafts;
      Token tuple[max_drafts];
      for (int k = 0; k < count; ++k) tuple[k] = distinct ? (x + k) % rows.vocabulary() : x;
      const V verifier{};
      const auto plan = prepare(verifier, rows, drafts);
      return verify(verifier, DraftedPosition<FreshRows<Entry>>(rows, tuple, count), plan, random).token;
    });
  }
  /// A scheme of paths on the path x, x, and on two such paths.
  template <class V>
  void paths() {
    SCOPED_TRACE(V::info.name);
    every_decision([&](const FreshRows<Entry>& rows, Token x, auto& random) {
      const PrefixTable<FreshRows<Entry>> conditionals({rows});
      DraftTree tree(0);
      const int copies = V::info.most_drafts == 1 ? 1 : 2;
      for (int k = 0; k < copies; ++k) tree.draw(tree.draw(DraftTree::root, x, 0), x, 0);
      PathDeciderOf<V, FreshRows<Entry>, Scripted> decider({}, conditionals, {.drafts = copies, .length = 2});
      return decider.decide(tree, {}, random).extra.token;
    });
  }
};
using Entries = testing::Types<float, Half, Bfloat16, double>;
TYPED_TEST_SUITE(NearEqualRows, Entries);

TYPED_TEST(NearEqualRows, OfOnePosition) {
  using namespace verifiers;
  this->template position<SingleDraft>(1);
  this->template position<lossy::Lenience>(1);
  this->template position<lossy::Cactus>(1);
  this->template position<lossy::MentoredDecoding>(1);
  for (const int drafts : {1, 2, 3}) {
    this->template position<NaiveTree>(drafts);
    this->template position<RecursiveRejection>(drafts);
    this->template position<KSeq>(drafts);
    this->template position<Ladder>(drafts);
    this->template position<RecursiveRejectionWor>(drafts, true);
    this->template position<LadderWor>(drafts, true);
  }
}

TYPED_TEST(NearEqualRows, OfPaths) {
  using namespace verifiers::paths;
  this->template paths<TokenPath>();
  this->template paths<Block>();
  this->template paths<GreedyBlock>();
  this->template paths<Traversal>();
  this->template paths<LayerwiseRejection>();
  this->template paths<GreedyMultipathBlock>();
  this->template paths<BranchReentry>();
  this->template paths<LadderBlock>();
}

}  // namespace
}  // namespace draftproof
