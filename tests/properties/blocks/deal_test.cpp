// Blocks are dealt by their times, each to one part, and parts of a deal give the whole.
#include <draftproof/properties/blocks/deal.hpp>

#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>

#include <draftproof/captures/input_error.hpp>
#include <draftproof/properties/blocks/ledger.hpp>

namespace draftproof {
namespace {

const nlohmann::json plan{{"groups",
                           {{{"group", "short"}, {"blocks", 50}, {"seconds", 0.25}},
                            {{"group", "long"}, {"blocks", 3}, {"seconds", 4.0}},
                            {{"group", "none"}, {"blocks", 0}, {"seconds", 1.0}}}}};

TEST(BlockDeal, GivesTheLongestFirstAndTheLeastWorkNext) {
  constexpr std::uint64_t parts = 5;
  const BlockDeal deal(plan, parts);
  std::vector<double> load(parts, 0);
  for (std::uint64_t b = 0; b < 3; ++b) {
    ASSERT_EQ(deal.owner("long", b), b);
    load[b] += 4;
  }
  for (std::uint64_t b = 0; b < 50; ++b) load.at(*deal.owner("short", b)) += 0.25;
  // 24.5 s over 5 parts: no part is further from the mean than the shortest block.
  const auto [least, most] = std::minmax_element(load.begin(), load.end());
  EXPECT_LE(*most - *least, 0.25);
  EXPECT_EQ(std::accumulate(load.begin(), load.end(), 0.0), 24.5);
  EXPECT_FALSE(deal.owner("long", 3));
  EXPECT_FALSE(deal.owner("unplanned", 0));
  EXPECT_EQ(deal.identity(), BlockDeal(plan, parts).identity());
  EXPECT_NE(deal.identity(), BlockDeal(plan, 4).identity());
}

void deal_blocks(BlockLedger& ledger) {
  for (const std::string group : {"long", "unplanned", "short"})
    ledger.run(group, group == "short" ? 50 : 3, 1, 1,
               [&](std::uint64_t b, std::uint64_t) { return BlockResult{.sums = {b + 1, 1}}; });
  ledger.finish();
}

TEST(BlockDeal, ItsPartsAreTheWhole) {
  BlockLedger whole(nlohmann::json{{"command", "count"}});
  deal_blocks(whole);
  for (const std::uint64_t count : {1u, 4u, 70u}) {
    BlockLedger all(nullptr);
    for (std::uint64_t i = 0; i < count; ++i) {
      BlockLedger part(whole.request(), {i, count}, BlockLedger::Kind::shard);
      part.use(BlockDeal(plan, count));
      deal_blocks(part);
      all.add(part.to_json(), "part");
    }
    EXPECT_EQ(all.missing(), "");
    EXPECT_EQ(all.to_json()["groups"], whole.to_json()["groups"]) << count;
  }
}

TEST(BlockDeal, ACheckpointOfAnotherDealIsRefused) {
  const nlohmann::json request{{"command", "count"}};
  BlockLedger dealt(request, {0, 4}, BlockLedger::Kind::shard), in_turn(request, {0, 4}, BlockLedger::Kind::shard);
  dealt.use(BlockDeal(plan, 4));
  deal_blocks(dealt);
  EXPECT_THROW(in_turn.resume(dealt.to_json(), "saved"), InputError);
  BlockLedger again(request, {0, 4}, BlockLedger::Kind::shard);
  again.use(BlockDeal(plan, 4));
  again.resume(dealt.to_json(), "saved");
  EXPECT_EQ(again.to_json()["groups"], dealt.to_json()["groups"]);
}

}  // namespace
}  // namespace draftproof
