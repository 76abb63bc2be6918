// Changes, duplicates or removes random bytes of small valid files. Reading a changed file must succeed or throw
// InputError. Rounds are seeded, so the number of a round reproduces its failure. Built with sanitizers, the test also
// detects invalid memory accesses and undefined behaviour.
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <draftproof/captures/philox_engine.hpp>
#include <draftproof/tests/support/hostile.hpp>
#include <draftproof/tests/support/written_capture.hpp>

namespace draftproof {
namespace {

using namespace hostile;

void read_everything(const std::filesystem::path& file) {
  const Capture capture = Capture::open(file);
  for (std::size_t i = 0; i < std::min<std::size_t>(capture.positions(), 8); ++i) {
    capture.context(i);
    capture.next_token(i);
    capture.target(i);
    for (const std::string& name : capture.proposals()) capture.proposal(name, i, {.temperature = 0.7, .top_p = 0.9});
  }
}

std::string mutated(std::string bytes, PhiloxEngine& random) {
  const auto below = [&random](std::size_t bound) { return static_cast<std::size_t>(random() % bound); };
  for (std::size_t change = 1 + below(4); change > 0 && !bytes.empty(); --change) {
    const std::size_t at = below(bytes.size());
    switch (below(5)) {
      case 0:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8)));
        break;
      case 1:
        bytes[at] = static_cast<char>(below(256));
        break;
      case 2:
        bytes[at] = static_cast<char>(std::array{0, 1, 127, 128, 255}[below(5)]);
        break;
      case 3:
        bytes.erase(at, 1 + below(8));
        break;
      default:
        bytes.insert(at, bytes.substr(below(bytes.size()), 1 + below(8)));
    }
  }
  return bytes;
}

/// Replaces the file `name` by `rounds` mutations of `good`, reads `capture` after each, and returns the number of
/// refused mutations. With sanitizers, some thousand files are read in a second; tests/fuzz tries more.
int fuzz(const TemporaryDirectory& directory, const std::string& name, const std::string& good, std::uint64_t seed,
         std::uint64_t rounds, const std::string& capture) {
  directory.write(name, good);
  EXPECT_NO_THROW(read_everything(directory / capture));
  int refused = 0;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    PhiloxEngine random(seed, round, 0);
    directory.write(name, mutated(good, random));
    try {
      read_everything(directory / capture);
    } catch (const InputError& error) {
      ++refused;
      EXPECT_NE(std::string(error.what()).find(directory / ""), std::string::npos)
          << "round " << round << ": " << error.what();
    } catch (const std::exception& error) {
      ADD_FAILURE() << "round " << round << ": " << error.what();
    }
  }
  return refused;
}

void fuzz(const std::string& name, const std::string& good, std::uint64_t seed) {
  const TemporaryDirectory directory;
  EXPECT_GT(fuzz(directory, name, good, seed, 1000, name), 333);
}

std::string small_npz(Compression compression) {
  const TemporaryDirectory directory;
  write_capture(directory / "x.npz", {"draft"}, {{{0.25, 0.5, 0.25}, {{0.5, 0.25, 0.25}}}},
                {.compression = compression});
  return read_all(directory / "x.npz");
}

std::string small_safetensors() {
  const std::string header = R"({"__metadata__":{"values":"logit","vocabulary":"2"},)"
                             R"("target":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]},)"
                             R"("draft":{"dtype":"F64","shape":[1,2],"data_offsets":[8,24]},)"
                             R"("next_token":{"dtype":"I32","shape":[1],"data_offsets":[24,28]}})";
  return safetensors(
      header, raw(std::vector<float>{0, 1}) + raw(std::vector<double>{1, 0}) + raw(std::vector<std::int32_t>{1}));
}

TEST(Fuzz, StoredNpz) { fuzz("x.npz", small_npz(Compression::Stored), 1); }
TEST(Fuzz, DeflatedNpz) { fuzz("x.npz", small_npz(Compression::Deflated), 2); }
TEST(Fuzz, Safetensors) { fuzz("x.safetensors", small_safetensors(), 3); }
TEST(Fuzz, Npy) { fuzz("x.npy", npy("<f4", "(2, 1, 2)", raw(std::vector<float>{0, -200, -200, 0})), 4); }

TEST(Fuzz, Sidecar) {
  const std::string rows = small_npz(Compression::Stored);  // small_npz removes the test's directory
  const TemporaryDirectory directory;
  directory.write("x.npz", rows);
  const std::string good =
      R"({"schema": "draftproof.capture/1", "values": "log_probability", "vocabulary": 3, "x": [1, {"y": "z"}]})";
  fuzz(directory, "x.json", good, 5, 2000, "x.npz");
}

}  // namespace
}  // namespace draftproof
