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
                                        "k_seq,ladder", "--tuples", "6000000",   "--instances", "0",
                                        "--threads",    "1",        "--json",    "--quiet"};
  std::vector<std::string> resumed = survey;
  resumed.insert(resumed.end(), {"--checkpoint", checkpoint, "--resume", "--output", result});
  // Every other run is killed some time after its first checkpoint, so that slow machines get past the start too.
  std::mt19937 random(1);
  int killed = 0, kept = 0;
  for (int run = 0; run < 20; ++run) {
    std::filesystem::remove(result);
    const std::string before = content_of(checkpoint);
    Child child(resumed, Stream::pipe, Stream::pipe);
    if (run % 2 == 1)
      while (content_of(checkpoint) == before && !std::filesystem::exists(result))
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::this_thread::sleep_for(std::chrono::milliseconds(std::uniform_int_distribution(1, 100)(random)));
    child.signal(SIGKILL);
    const int code = child.finish();
    EXPECT_TRUE(code == -SIGKILL || code == 0) << child.err();
    killed += code == -SIGKILL;
    kept += code == -SIGKILL && content_of(checkpoint) != before;
  }
  EXPECT_GT(kept, 0);  // some run went on from another's blocks
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
