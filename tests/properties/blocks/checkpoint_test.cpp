// Tests that stored values are restored to the same bits, that blocks are added once, in any order and from any number
// of shards, and that a damaged file is refused as a whole.
#include <draftproof/properties/blocks/checkpoint.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <random>
#include <sstream>

#include <gtest/gtest.h>

#include <draftproof/captures/input_error.hpp>
#include <draftproof/captures/written_file.hpp>
#include <draftproof/properties/instances/instance.hpp>

namespace draftproof {
namespace {

const nlohmann::json count_request{{"command", "count"}, {"--tuples", {"7"}}};

void count_blocks(Checkpoint& run) {
  for (const std::string group : {"a", "b"})
    run.run({group, 37, 1, 2}, [&](const BlockTask& task) {
      const std::uint64_t b = task.block;
      return BlockResult{.sums = {b, 0, 0, b * b, group == "a"}, .record = std::to_string(b)};
    });
  run.finish();
}

struct StoredSample {
  int negative = -3;
  double number = 0;
  std::string text{};
  std::optional<std::pair<bool, std::vector<float>>> nested{};
  Counters counters{};
  std::map<std::uint64_t, std::string> named{};
  Instance instance{};
  Rational fraction = 0;

  static auto fields(auto& s) {
    return std::tie(s.negative, s.number, s.text, s.nested, s.counters, s.named, s.instance, s.fraction);
  }
};

TEST(StoredValue, ComesBackToTheSameBits) {
  StoredSample sample{.text = std::string("a\0\n", 3),
                      .nested = {{true, {0.1f, -0.0f}}},
                      .counters = {0, 0, 7, 0, ~std::uint64_t{0}, 0, 0, 0},
                      .named = {{5, "five"}, {300, ""}},
                      .instance = Instance::parse("p=(1 2 1)/4 q=(3 1 1)/5 K=2"),
                      .fraction = Rational("12345678901234567890123/7")};
  for (const double number : {0.1, -0.0, 5e-324, std::nan("1"), -HUGE_VAL, 1 / 3.0}) {
    sample.number = number;
    const std::string bytes = to_bytes(sample);
    const auto back = from_bytes<StoredSample>(bytes);
    EXPECT_EQ(to_bytes(back), bytes);
    EXPECT_EQ(std::bit_cast<std::uint64_t>(back.number), std::bit_cast<std::uint64_t>(number));
    EXPECT_TRUE(back.negative == -3 && back.text == sample.text && back.nested == sample.nested);
    EXPECT_TRUE(back.counters == sample.counters && back.named == sample.named);
    EXPECT_TRUE(back.instance == sample.instance && back.fraction == sample.fraction);
    for (std::size_t size = 0; size < bytes.size(); ++size)
      EXPECT_THROW(from_bytes<StoredSample>(bytes.substr(0, size)), std::logic_error) << size;
  }
  EXPECT_LT(to_bytes(Counters(1'000'000)).size(), 10u);
}

TEST(StoredValue, NumbersBeyond64BitsAreRefused) {
  EXPECT_EQ(StoredReader(std::string(9, '\xFF') + '\1').integer(), ~std::uint64_t{0});
  EXPECT_THROW(StoredReader(std::string(9, '\xFF') + '\2').integer(), std::out_of_range);
}

std::string refused(const std::function<void()>& call) {
  try {
    call();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(Checkpoint, PartsInAnyOrderAndInStepsGiveTheWhole) {
  Checkpoint whole(count_request);
  count_blocks(whole);
  std::mt19937 random(1);
  for (const std::uint64_t count : {1u, 2u, 3u, 64u, 100u}) {
    std::vector<std::string> parts;
    for (std::uint64_t i = 0; i < count; ++i) {
      Checkpoint part(count_request, {i, count}, Checkpoint::Kind::shard);
      count_blocks(part);
      parts.push_back(part.to_bytes());
    }
    std::shuffle(parts.begin(), parts.end(), random);
    Checkpoint half, all;
    for (std::size_t i = 0; i < parts.size() / 2; ++i) half.add(parts[i], "half");
    if (parts.size() > 1) {
      EXPECT_NE(half.missing(), "");
    }
    for (std::size_t i = parts.size() / 2; i < parts.size(); ++i) all.add(parts[i], "all");
    if (parts.size() > 1) all.add(half.to_bytes(), "half");
    EXPECT_EQ(all.missing(), "");
    EXPECT_EQ(all.groups(), whole.groups()) << count;
  }
}

TEST(Checkpoint, BlocksBesideOneThatFailsAreSaved) {
  for (const int threads : {1, 2}) {
    Checkpoint run(count_request);
    std::string saved;
    run.on_kept = [&] { saved = run.to_bytes(); };
    const auto compute = [](const BlockTask& task) {
      if (task.block == 1) throw std::runtime_error("block 1");
      return BlockResult{.sums = {task.block}};
    };
    EXPECT_THROW(run.run({"a", 4, 1, threads}, compute), std::runtime_error);
    Checkpoint again(count_request);
    again.resume(saved, "saved");
    EXPECT_EQ(again.groups().at("a").sums, Counters{0 + 2 + 3}) << threads;
  }
}

TEST(Checkpoint, NamesWhatDoesNotBelong) {
  Checkpoint first(count_request, {0, 3}, Checkpoint::Kind::shard);
  count_blocks(first);
  Checkpoint all;
  all.add(first.to_bytes(), "one.json");
  EXPECT_EQ(all.missing(), "shard 2/3, shard 3/3");
  EXPECT_NE(refused([&] { all.add(first.to_bytes(), "again.json"); }).find("shard 1/3 a second time"),
            std::string::npos);
  Checkpoint other({{"command", "count"}, {"--tuples", {"8"}}}, {1, 3}, Checkpoint::Kind::shard);
  count_blocks(other);
  const std::string difference = refused([&] { all.add(other.to_bytes(), "other.json"); });
  EXPECT_NE(difference.find("--tuples [\"8\"] instead of [\"7\"]"), std::string::npos) << difference;
  Checkpoint of_two(count_request, {1, 2}, Checkpoint::Kind::shard);
  count_blocks(of_two);
  EXPECT_NE(refused([&] { all.add(of_two.to_bytes(), "two.json"); }).find("shards of 3"), std::string::npos);
  Checkpoint second(count_request, {1, 3}, Checkpoint::Kind::shard);
  EXPECT_NE(refused([&] { second.resume(first.to_bytes(), "c"); }).find("another shard"), std::string::npos);
}

TEST(Checkpoint, RefusesWhatItDidNotWrite) {
  Checkpoint first(count_request, {0, 3}, Checkpoint::Kind::shard);
  count_blocks(first);
  const std::string good = first.to_bytes();
  const auto refusal_of = [](const std::string& bytes) {
    Checkpoint all;
    return refused([&] { all.add(bytes, "part.json"); });
  };
  EXPECT_EQ(refusal_of(good), "");
  EXPECT_NE(refusal_of(good + good), "");
  for (std::size_t length = 0; length < good.size(); ++length)
    EXPECT_NE(refusal_of(good.substr(0, length)).find("part.json"), std::string::npos) << length;
  std::string older = good;
  older.replace(older.find("blocks/3"), 8, "blocks/2");
  EXPECT_NE(refusal_of(older).find("schema draftproof.blocks/2"), std::string::npos);
}

TEST(Checkpoint, WhatAStopCutShortIsReportedAndNotKept) {
  Checkpoint run(count_request);
  const auto compute = [](const BlockTask& task) { return BlockResult{.sums = {1}, .whole = task.block < 2}; };
  const BlockGroup known = run.run({"a", 4}, compute);
  EXPECT_EQ(known.sums, Counters{3});
  EXPECT_EQ(known.done, (Counters{1, 1, 0, 0}));
  EXPECT_EQ(run.groups().at("a").sums, Counters{2});
}

TEST(Checkpoint, GoesOnFromWhatItHas) {
  Checkpoint whole(count_request);
  count_blocks(whole);
  std::string saved;
  {
    Checkpoint cut(count_request);
    int left = 5;
    cut.run({"a", 37}, [&](const BlockTask& task) -> std::optional<BlockResult> {
      const std::uint64_t b = task.block;
      if (left-- == 0) return std::nullopt;
      return BlockResult{.sums = {b, 0, 0, b * b, 1}, .record = std::to_string(b)};
    });
    saved = cut.to_bytes();
  }
  Checkpoint on(count_request);
  on.resume(saved, "saved");
  count_blocks(on);
  EXPECT_EQ(on.to_bytes(), whole.to_bytes());
}

TEST(Checkpoint, TheFirstBlockThatThrowsIsReported) {
  for (const int threads : {1, 4}) {
    Checkpoint run(count_request);
    try {
      run.run({"a", 50, 1, threads}, [](const BlockTask& task) -> std::optional<BlockResult> {
        if (task.block % 10 == 7) throw std::runtime_error(std::to_string(task.block));
        return BlockResult{.sums = {1}};
      });
      FAIL();
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "7");
    }
  }
}

TEST(Checkpoint, AFileIsBelievedWholeOrNotAtAll) {
  const auto path = std::filesystem::temp_directory_path() / ("checkpoint_" + std::to_string(getpid()));
  Checkpoint run(count_request);
  count_blocks(run);
  write_checkpoint(path, run);
  EXPECT_EQ(read_checkpoint(path), run.to_bytes());
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  const std::string good = text.str();
  const auto with = [&](const std::string& bad) {
    std::ofstream(path) << bad;
    return refused([&] { read_checkpoint(path); });
  };
  for (std::size_t length = 0; length < good.size(); length += 1 + good.size() / 50)
    EXPECT_NE(with(good.substr(0, length)), "") << length;
  for (std::size_t i = 0; i < good.size(); i += 1 + good.size() / 50) {
    std::string edited = good;
    edited[i] = static_cast<char>(edited[i] ^ 1);
    EXPECT_NE(with(edited), "") << i;
  }
  std::filesystem::remove(path);
  EXPECT_THROW(write_checkpoint("/nonexistent/folder/file", run), WriteFailure);
}

const nlohmann::json measured_plan{{"groups",
                                    {{{"group", "short"}, {"blocks", 50}, {"seconds", 0.25}},
                                     {{"group", "long"}, {"blocks", 3}, {"seconds", 4.0}},
                                     {{"group", "none"}, {"blocks", 0}, {"seconds", 1.0}}}}};

TEST(BlockAssignment, GivesTheLongestFirstAndTheLeastWorkNext) {
  constexpr std::uint64_t parts = 5;
  const BlockAssignment assignment(measured_plan, parts, "plan.json");
  std::vector<double> load(parts, 0);
  for (std::uint64_t b = 0; b < 3; ++b) {
    ASSERT_EQ(assignment.owner("long", b), b);
    load[b] += 4;
  }
  for (std::uint64_t b = 0; b < 50; ++b) load.at(*assignment.owner("short", b)) += 0.25;
  // Blocks of 24.5 s in all are divided among 5 parts. The loads of two parts differ by at most the time of the
  // shortest block.
  const auto [least, most] = std::minmax_element(load.begin(), load.end());
  EXPECT_LE(*most - *least, 0.25);
  EXPECT_EQ(std::accumulate(load.begin(), load.end(), 0.0), 24.5);
  EXPECT_FALSE(assignment.owner("long", 3));
  EXPECT_FALSE(assignment.owner("unplanned", 0));
  EXPECT_EQ(assignment.identity(), BlockAssignment(measured_plan, parts, "plan.json").identity());
  EXPECT_NE(assignment.identity(), BlockAssignment(measured_plan, 4, "plan.json").identity());
}

TEST(BlockAssignment, RefusesAPlanThatDoesNotHaveAllBlocks) {
  const auto refusal_of = [](const nlohmann::json& plan) {
    return refused([&] { BlockAssignment(plan, 2, "plan.json"); });
  };
  nlohmann::json plan = measured_plan;
  plan["complete"] = true;
  EXPECT_EQ(refusal_of(plan), "");
  plan["complete"] = false;
  EXPECT_EQ(refusal_of(plan), "plan.json: got a plan that was stopped early, expected a complete plan");
  for (const nlohmann::json& blocks : {nlohmann::json(-1), nlohmann::json(2.5), nlohmann::json("3")}) {
    plan = measured_plan;
    plan["groups"][1]["blocks"] = blocks;
    EXPECT_EQ(refusal_of(plan), "plan.json: got " + blocks.dump() + " blocks of long, expected a number of blocks");
  }
  EXPECT_THROW(BlockAssignment(nlohmann::json::object(), 2, "plan.json"), nlohmann::json::exception);
}

void assign_blocks(Checkpoint& run) {
  for (const std::string group : {"long", "unplanned", "short"})
    run.run({group, group == "short" ? 50u : 3u}, [&](const BlockTask& task) {
      return BlockResult{.sums = {task.block + 1, 1}};
    });
  run.finish();
}

TEST(BlockAssignment, ItsPartsAreTheWhole) {
  Checkpoint whole(nlohmann::json{{"command", "count"}});
  assign_blocks(whole);
  for (const std::uint64_t count : {1u, 4u, 70u}) {
    Checkpoint all;
    for (std::uint64_t i = 0; i < count; ++i) {
      Checkpoint part(whole.request(), {i, count}, Checkpoint::Kind::shard);
      part.use(BlockAssignment(measured_plan, count, "plan.json"));
      assign_blocks(part);
      all.add(part.to_bytes(), "part");
    }
    EXPECT_EQ(all.missing(), "");
    EXPECT_EQ(all.groups(), whole.groups()) << count;
  }
}

TEST(BlockAssignment, ACheckpointOfAnotherDealIsRefused) {
  const nlohmann::json request{{"command", "count"}};
  Checkpoint assigned(request, {0, 4}, Checkpoint::Kind::shard), in_turn(request, {0, 4}, Checkpoint::Kind::shard);
  assigned.use(BlockAssignment(measured_plan, 4, "plan.json"));
  assign_blocks(assigned);
  EXPECT_THROW(in_turn.resume(assigned.to_bytes(), "saved"), InputError);
  Checkpoint again(request, {0, 4}, Checkpoint::Kind::shard);
  again.use(BlockAssignment(measured_plan, 4, "plan.json"));
  again.resume(assigned.to_bytes(), "saved");
  EXPECT_EQ(again.groups(), assigned.groups());
}

}  // namespace
}  // namespace draftproof
