// Programs that map the rows: answers are those of pipes, and losses those of pipes.
#include <draftproof/tests/adapters/wire/shared_probe.hpp>

namespace draftproof::adapters {
namespace {

using namespace wired;

/// How many tokens of `batch` came through shared memory, after the sums of all rows were compared.
int mapped_rows(WireProgram& program, SeededChains chains) {
  const ServedBatch& batch = chains.batch();
  ServedResult result;
  program.verify_batch(batch, result);
  int mapped = 0;
  for (int row = 0; row < batch.rows; ++row) {
    const auto tokens = result.tokens_of(row);
    mapped += tokens[0];
    EXPECT_EQ(tokens[1], sum_of_bytes(batch.p, batch.vocabulary));
    EXPECT_EQ(tokens[2], sum_of_bytes(batch.q, batch.vocabulary));
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

TEST(SharedProgram, AnswersAreThoseOfPipesAndOfThisProcess) {
  const MarkedProcesses marked;
  for (const Dtype dtype : {Dtype::float32, Dtype::float64})
    for (const bool shared : {true, false}) {
      WireOptions options = marked.options();
      options.dtype = dtype;
      options.shared_memory = shared;
      WireProgram program(served_chain_command(), options);
      for (const auto& [calls, v] : {std::pair{300, 700}, {40, 5}, {5000, 7}, {120, 3000}}) {
        const RandomCalls set(calls, v, 4, 31);
        expect_equal_runs(runs_of(program, set), runs_here(set, dtype));
      }
    }
  WireOptions options = marked.options();
  options.dtype = Dtype::float16;
  EXPECT_THROW(WireProgram(served_chain_command(), options), DoorError);
  marked.expect_none();
}

TEST(SharedProgram, AProgramThatCannotMapIsAskedInFrames) {
#if defined(DRAFTPROOF_SANITIZED)
  GTEST_SKIP() << "the sanitizers open descriptors of their own";
#endif
  const MarkedProcesses marked;
  WireProgram program(probe_command("no descriptor"), marked.options());
  for (int time = 0; time < 2; ++time) {
    ServedResult result;
    program.verify_batch(SeededChains(4, 40'000, 5).batch(), result);
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
    if (packed) {
      expect_only_struck(program, {23}, RowStatus::crashed, "signal 9", 40, 8000);
    } else {
      SeededChains chains(20, 20'000, 34, 7);
      ServedResult found;
      program.verify_batch(chains.batch(), found);
      ChainVerifier chain;
      ServedResult here = chains.run(chain);
      EXPECT_EQ(found.status[7], static_cast<std::int32_t>(RowStatus::crashed));
      for (int row = 0; row < 20; ++row)
        if (row != 7) {
          EXPECT_EQ(tokens_in(found, row), tokens_in(here, row)) << row;
        }
    }
    expect_struck_row_kept(options.dump_folder);
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
    ServedResult result;
    program.verify_batch(SeededChains(4, v, 35, 2).batch(), result);
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
      program.verify_batch(sizes[static_cast<std::size_t>(i / 400)].batch(), result);
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
}  // namespace draftproof::adapters
