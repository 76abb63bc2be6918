// A run killed at any instant and resumed each time ends with the bytes of a run that nothing disturbed.
#include <chrono>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <thread>

#include <gtest/gtest.h>

#include <draftproof/tests/cli/child.hpp>

namespace draftproof {
namespace {

std::string content_of(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST(Work, KilledAtRandomInstantsAndResumedItIsTheSame) {
  const auto folder = std::filesystem::temp_directory_path() / ("work_" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  const std::string checkpoint = folder / "checkpoint", result = folder / "result.json";
  const std::vector<std::string> survey{"survey",      "zipf:vocabulary=300,positions=200", "--verifier",
                                        "k_seq,ladder", "--tuples", "2000000",   "--instances", "0",
                                        "--threads",    "1",        "--json",    "--quiet"};
  std::vector<std::string> resumed = survey;
  resumed.insert(resumed.end(), {"--checkpoint", checkpoint, "--resume", "--output", result});
  // Thousandths of a second after the start: before the first block, between blocks, or inside one.
  std::mt19937 random(1);
  int killed = 0;
  for (int run = 0; run < 20; ++run) {
    Child child(resumed, Stream::pipe, Stream::pipe);
    std::this_thread::sleep_for(std::chrono::milliseconds(std::uniform_int_distribution(1, 100)(random)));
    child.signal(SIGKILL);
    const int code = child.finish();
    EXPECT_TRUE(code == -SIGKILL || code == 0) << child.err();
    killed += code == -SIGKILL;
  }
  EXPECT_GT(killed, 0);
  Child last(resumed, Stream::pipe, Stream::pipe);
  EXPECT_EQ(last.finish(), 0) << last.err();
  Child whole(survey, Stream::pipe, Stream::pipe);
  EXPECT_EQ(whole.finish(), 0) << whole.err();
  EXPECT_EQ(content_of(result), whole.out());
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace draftproof
