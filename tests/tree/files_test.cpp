// The form of a source file: short, guarded, and with a comment on its content at the top.
#include <gtest/gtest.h>

#include <draftproof/tests/tree/sources.hpp>

namespace draftproof::tree {
namespace {

std::vector<Source> all_sources() {
  std::vector<Source> all;
  for (const char* room :
       {"sim", "verifiers", "mutants", "gpu", "optimum", "statistics", "captures", "properties", "report", "studies",
        "doors", "cuda_trials", "exact", "cli", "bench", "examples", "engines", "tests"})
    for (Source& source : sources(room)) all.push_back(std::move(source));
  return all;
}

TEST(Files, HaveAtMost600Lines) {
  const auto all = all_sources();
  EXPECT_GT(all.size(), 80u) << "the source tree was not found";
  for (const Source& source : all) EXPECT_LE(source.lines(), 600) << source.path;
}

TEST(Files, HeadersAreGuarded) {
  for (const Source& source : all_sources()) {
    if (!source.is_header()) continue;
    // The body of a loop is included once per register width (sim/simd/each_width.hpp).
    const bool once = !source.path.ends_with("_body.hpp") && !source.path.ends_with("/each_width.hpp");
    EXPECT_EQ(source.text.find("\n#pragma once\n") != std::string::npos, once) << source.path;
  }
}

TEST(Files, HeadersOpenWithWhatTheyAre) {
  for (const Source& source : all_sources()) {
    if (!source.is_header()) continue;
    EXPECT_TRUE(source.text.starts_with("// ")) << source.path;
  }
}

}  // namespace
}  // namespace draftproof::tree
