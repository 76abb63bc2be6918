// Blocks are added once, in any order and by any division, and files are believed whole or not at all.
#include <draftproof/properties/blocks/ledger.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include <gtest/gtest.h>

#include <draftproof/captures/input_error.hpp>
#include <draftproof/captures/written_file.hpp>

namespace draftproof {
namespace {

const nlohmann::json ledger_request{{"command", "count"}, {"--tuples", {"7"}}};

void count_blocks(BlockLedger& ledger) {
  for (const std::string group : {"a", "b"})
    ledger.run(group, 37, 1, 2, [&](std::uint64_t b, std::uint64_t) {
      return BlockResult{.sums = {b, 0, 0, b * b, group == "a"}, .record = std::to_string(b)};
    });
  ledger.finish();
}

std::string refused(const std::function<void()>& call) {
  try {
    call();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(BlockLedger, PartsInAnyOrderAndInStepsGiveTheWhole) {
  BlockLedger whole(ledger_request);
  count_blocks(whole);
  std::mt19937 random(1);
  for (const std::uint64_t count : {1u, 2u, 3u, 64u, 100u}) {
    std::vector<nlohmann::json> parts;
    for (std::uint64_t i = 0; i < count; ++i) {
      BlockLedger part(ledger_request, {i, count}, BlockLedger::Kind::shard);
      count_blocks(part);
      parts.push_back(part.to_json());
    }
    std::shuffle(parts.begin(), parts.end(), random);
    BlockLedger half(nullptr), all(nullptr);
    for (std::size_t i = 0; i < parts.size() / 2; ++i) half.add(parts[i], "half");
    if (parts.size() > 1) {
      EXPECT_NE(half.missing(), "");
    }
    for (std::size_t i = parts.size() / 2; i < parts.size(); ++i) all.add(parts[i], "all");
    if (parts.size() > 1) all.add(half.to_json(), "half");
    EXPECT_EQ(all.missing(), "");
    EXPECT_EQ(all.to_json()["groups"], whole.to_json()["groups"]) << count;
  }
}

TEST(BlockLedger, NamesWhatDoesNotBelong) {
  BlockLedger first(ledger_request, {0, 3}, BlockLedger::Kind::shard);
  count_blocks(first);
  BlockLedger all(nullptr);
  all.add(first.to_json(), "one.json");
  EXPECT_EQ(all.missing(), "shard 2/3, shard 3/3");
  EXPECT_NE(refused([&] { all.add(first.to_json(), "again.json"); }).find("shard 1/3 a second time"),
            std::string::npos);
  BlockLedger other({{"command", "count"}, {"--tuples", {"8"}}}, {1, 3}, BlockLedger::Kind::shard);
  count_blocks(other);
  const std::string difference = refused([&] { all.add(other.to_json(), "other.json"); });
  EXPECT_NE(difference.find("--tuples [\"8\"] instead of [\"7\"]"), std::string::npos) << difference;
  BlockLedger of_two(ledger_request, {1, 2}, BlockLedger::Kind::shard);
  count_blocks(of_two);
  EXPECT_NE(refused([&] { all.add(of_two.to_json(), "two.json"); }).find("shards of 3"), std::string::npos);
  BlockLedger second(ledger_request, {1, 3}, BlockLedger::Kind::shard);
  EXPECT_NE(refused([&] { second.resume(first.to_json(), "c"); }).find("another shard"), std::string::npos);
}

TEST(BlockLedger, RefusesWhatItDidNotWrite) {
  BlockLedger first(ledger_request, {0, 3}, BlockLedger::Kind::shard);
  count_blocks(first);
  const nlohmann::json good = first.to_json();
  const auto refusal_of = [](const nlohmann::json& document) {
    BlockLedger all(nullptr);
    return refused([&] { all.add(document, "part.json"); });
  };
  EXPECT_EQ(refusal_of(good), "");
  for (const std::string sums :
       {"", "x", "5 0", "5 0 1x", "5 5 1", "5 0 -1", "18446744073709551615 0 1", "18446744073709551616 0 1"}) {
    nlohmann::json bad = good;
    bad["groups"]["a"]["sums"] = sums;
    EXPECT_NE(refusal_of(bad).find("part.json"), std::string::npos) << "'" << sums << "'";
  }
  nlohmann::json older = good;
  older["schema"] = "draftproof.blocks/1";
  EXPECT_NE(refusal_of(older).find("schema draftproof.blocks/1"), std::string::npos);
}

TEST(BlockLedger, GoesOnFromWhatItHas) {
  BlockLedger whole(ledger_request);
  count_blocks(whole);
  nlohmann::json saved;
  {
    BlockLedger cut(ledger_request);
    int left = 5;
    cut.run("a", 37, 1, 1, [&](std::uint64_t b, std::uint64_t) -> std::optional<BlockResult> {
      if (left-- == 0) return std::nullopt;
      return BlockResult{.sums = {b, 0, 0, b * b, 1}, .record = std::to_string(b)};
    });
    saved = cut.to_json();
  }
  BlockLedger on(ledger_request);
  on.resume(saved, "saved");
  count_blocks(on);
  EXPECT_EQ(on.to_json(), whole.to_json());
}

TEST(BlockLedger, TheFirstBlockThatThrowsIsReported) {
  for (const int threads : {1, 4}) {
    BlockLedger ledger(ledger_request);
    try {
      ledger.run("a", 50, 1, threads, [](std::uint64_t b, std::uint64_t) -> std::optional<BlockResult> {
        if (b % 10 == 7) throw std::runtime_error(std::to_string(b));
        return BlockResult{.sums = {1}};
      });
      FAIL();
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "7");
    }
  }
}

TEST(BlockLedger, AFileIsBelievedWholeOrNotAtAll) {
  const auto path = std::filesystem::temp_directory_path() / ("ledger_" + std::to_string(getpid()));
  BlockLedger ledger(ledger_request);
  count_blocks(ledger);
  write_ledger(path, ledger);
  EXPECT_EQ(read_ledger(path), ledger.to_json());
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  const std::string good = text.str();
  const auto with = [&](const std::string& bad) {
    std::ofstream(path) << bad;
    return refused([&] { read_ledger(path); });
  };
  for (std::size_t length = 0; length < good.size(); length += 1 + good.size() / 50)
    EXPECT_NE(with(good.substr(0, length)), "") << length;
  for (std::size_t i = 0; i < good.size(); i += 1 + good.size() / 50) {
    std::string edited = good;
    edited[i] = static_cast<char>(edited[i] ^ 1);
    EXPECT_NE(with(edited), "") << i;
  }
  std::filesystem::remove(path);
  EXPECT_THROW(write_ledger("/nonexistent/folder/file", ledger), WriteFailure);
}

}  // namespace
}  // namespace draftproof
