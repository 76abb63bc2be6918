// Programs that map the rows: answers are those of pipes, and losses those of pipes.
#include <draftproof/tests/doors/wire/shared_probe.hpp>
#include <draftproof/tests/support/doors_wire.hpp>
#include <draftproof/tests/support/hostile.hpp>

namespace draftproof::doors {
namespace {

using namespace wired;

/// How many tokens of `batch` came through shared memory, after the sums of all rows were compared.
int mapped_rows(WireProgram& program, const SeededChains& chains) {
  ServedResult result;
  program.verify_batch(chains.batch, result);
  int mapped = 0;
  for (int row = 0; row < chains.batch.rows; ++row) {
    const auto tokens = result.tokens_of(row);
    mapped += tokens[0];
    EXPECT_EQ(tokens[1], sum_of_bytes(chains.batch.p, chains.batch.vocabulary));
    EXPECT_EQ(tokens[2], sum_of_bytes(chains.batch.q, chains.batch.vocabulary));
  }
  return mapped;
}

TEST(SharedProgram, LargeRowsAreMappedAndTheRegionGrows) {
  const MarkedProcesses marked;
  {
    WireProgram program(probe_command("reads"), marked.options());
    EXPECT_EQ(mapped_rows(program, SeededChains(3, 100, 1)), 0);
    for (const int v : {10'000, 40'000, 3'000, 300'000, 5'000})
      EXPECT_EQ(mapped_rows(program, SeededChains(4, v, 2)), 4);
    EXPECT_EQ(mapped_rows(program, SeededChains(3, 100, 3)), 0);
    WireOptions pipes = marked.options();
    pipes.shared_memory = false;
    WireProgram other(probe_command("reads"), pipes);
    EXPECT_EQ(mapped_rows(other, SeededChains(4, 40'000, 2)), 0);
  }
  marked.expect_none();
}

TEST(SharedProgram, AnswersAreThoseOfPipes) {
  const MarkedProcesses marked;
  WireOptions pipes = marked.options();
  pipes.shared_memory = false;
  for (const Dtype dtype : {Dtype::float32, Dtype::float64}) {
    WireOptions options = marked.options();
    options.dtype = pipes.dtype = dtype;
    WireProgram shared(served_chain_command(), options), other(served_chain_command(), pipes);
    for (const auto& [calls, v] : {std::pair{300, 700}, std::pair{40, 5}, std::pair{120, 3000}}) {
      const RandomCalls set(calls, v, 4, 31);
      Runs found(set.calls.size()), wanted(set.calls.size());
      shared.run(set.inputs, set.calls, found);
      other.run(set.inputs, set.calls, wanted);
      expect_equal_runs(found, wanted);
      if (v == 700) expect_equal_runs(found, runs_here(set, dtype));
    }
  }
  marked.expect_none();
}

TEST(SharedProgram, AProgramOfVersionOneDotZeroIsServedAsBefore) {
  const MarkedProcesses marked;
  const RandomCalls set(64, 1500, 2, 32);
  WireProgram program(child_command("chain.py", "frames"), marked.options());
  Runs found(set.calls.size());
  program.run(set.inputs, set.calls, found);
  expect_equal_runs(found, runs_here(set));
  EXPECT_TRUE(program.incidents().empty());
}

TEST(SharedProgram, AProgramThatCannotMapIsAskedInFrames) {
#if defined(DRAFTPROOF_SANITIZED)
  GTEST_SKIP() << "the sanitizers open descriptors of their own";
#endif
  const MarkedProcesses marked;
  WireProgram program(probe_command("no descriptor"), marked.options());
  for (int time = 0; time < 2; ++time) {
    ServedResult result;
    const SeededChains chains(4, 40'000, 5);
    program.verify_batch(chains.batch, result);
    EXPECT_EQ(result.tokens_of(0)[0], 0);
    EXPECT_EQ(result.status, std::vector<std::int32_t>(4, 0)) << result.messages[0];
  }
  EXPECT_TRUE(program.incidents().empty());
}

TEST(SharedProgram, ARowThatKillsIsFoundAndKeptAndOthersAreUnharmed) {
  const MarkedProcesses marked;
  const hostile::TemporaryDirectory directory;
  for (const bool packed : {true, false}) {
    WireOptions options = marked.options();
    options.dump_folder = directory / (packed ? "packed" : "given");
    WireProgram program(probe_command("dies"), options);
    RandomCalls set(40, 8000, 3, 33);
    Runs wanted = runs_here(set);
    strike(set, 23);
    if (packed) {
      Runs found(set.calls.size());
      program.run(set.inputs, set.calls, found);
      EXPECT_EQ(found[23].status, RowStatus::crashed);
      expect_parts(found[23].message, {"signal 9"});
      found[23] = wanted[23] = {};
      expect_equal_runs(found, wanted);
    } else {
      SeededChains chains(20, 20'000, 34);
      chains.p[7 * 4 * 20'000] = struck_value;
      ServedResult found, here;
      program.verify_batch(chains.batch, found);
      ChainVerifier chain;
      size_result(chains.batch, WireFunction::verify, here);
      chain.verify(chains.batch, here);
      EXPECT_EQ(found.status[7], static_cast<std::int32_t>(RowStatus::crashed));
      for (int row = 0; row < 20; ++row)
        if (row != 7) {
          EXPECT_EQ(found.counts[static_cast<std::size_t>(row)], here.counts[static_cast<std::size_t>(row)]);
          EXPECT_EQ(found.tokens_of(row)[0], here.tokens_of(row)[0]) << row;
        }
    }
    const std::string bytes = hostile::read_all(options.dump_folder / "crash-1.frame");
    ASSERT_GT(bytes.size(), 8u);
    const Message kept = decode_blob(std::as_bytes(std::span(bytes)).subspan(8), "kept");
    EXPECT_FALSE(kept.fields.contains("shared"));
    ASSERT_NE(kept.find("p"), nullptr);
    EXPECT_EQ(kept.find("p")->as<float>()[0], struck_value);
    EXPECT_EQ(kept.find("p")->shape[0], 1u);
  }
  marked.expect_none();
}

TEST(SharedProgram, ALibraryThatWritesItsRowsIsFound) {
  const MarkedProcesses marked;
  for (const int v : {16'000, 50}) {
    const bool large = v > 1000;
    const RowStatus wanted = large ? RowStatus::crashed : RowStatus::failed;
    // The words of the watch are not to be pushed out of the report by those of a sanitizer.
    WireProgram program("ASAN_OPTIONS=handle_segv=0 " + probe_command("writes"), marked.options());
    SeededChains chains(4, v, 35);
    chains.p[2 * 4 * static_cast<std::size_t>(v)] = struck_value;
    ServedResult result;
    program.verify_batch(chains.batch, result);
    for (int row = 0; row < 4; ++row)
      EXPECT_EQ(result.status[static_cast<std::size_t>(row)], row != 2 ? 0 : static_cast<std::int32_t>(wanted));
    expect_parts(result.messages[2], {large ? "wrote to the rows p or q" : "inputs that the call changed"});
    EXPECT_EQ(program.incidents().empty(), !large);
  }
  marked.expect_none();
}

TEST(SharedProgram, NoDescriptorAndNoMappingIsLeft) {
  const MarkedProcesses marked;
  const auto mappings = [] {
    std::ifstream stream("/proc/self/maps");
    int count = 0;
    for (std::string text; std::getline(stream, text);) count += text.find("draftproof-rows") != std::string::npos;
    return count;
  };
  const std::ptrdiff_t before = entries_in("/proc/self/fd");
  {
    WireProgram program(probe_command("reads"), marked.options());
    std::vector<SeededChains> sizes;  // the second and the third need larger regions
    for (const int v : {10'000, 40'000, 80'000}) sizes.emplace_back(1, v, 36);
    std::ptrdiff_t open = 0;
    std::int32_t child_open = 0;
    for (int i = 0; i < 1000; ++i) {
      ServedResult result;
      program.verify_batch(sizes[static_cast<std::size_t>(i / 400)].batch, result);
      ASSERT_EQ(result.tokens_of(0)[0], 1);
      if (i == 0) {
        open = entries_in("/proc/self/fd");
        child_open = result.tokens_of(0)[3];
      }
      ASSERT_EQ(entries_in("/proc/self/fd"), open);
      ASSERT_EQ(result.tokens_of(0)[3], child_open);
      ASSERT_EQ(mappings(), 1);
    }
  }
  EXPECT_EQ(entries_in("/proc/self/fd"), before);
  EXPECT_EQ(mappings(), 0);
  marked.expect_none();
}

}  // namespace
}  // namespace draftproof::doors
