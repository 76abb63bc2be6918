// Tests the choice of a mapping for several kinds of device; it needs no device.
#include <cstdio>
#include <stdexcept>
#include <string>

#include <draftproof/gpu/mapping.hpp>
#include <draftproof/gpu/teams/team.hpp>

namespace {

using namespace draftproof::gpu;

constexpr DeviceTraits hopper{
    .multiprocessors = 132, .shared_bytes = 227 * 1024, .most_cluster = 16, .cooperative = true};
constexpr DeviceTraits ampere{
    .multiprocessors = 108, .shared_bytes = 163 * 1024, .most_cluster = 0, .cooperative = true};
constexpr DeviceTraits plain{
    .multiprocessors = 20, .shared_bytes = 48 * 1024, .most_cluster = 0, .cooperative = false};

int failures = 0;

void expect(const Mapped& found, const Mapped& wanted, const char* what) {
  if (found == wanted) return;
  ++failures;
  std::printf("%s: got %s of %d, expected %s of %d\n", what, std::string(name_of(found.mapping)).c_str(),
              found.partitions, std::string(name_of(wanted.mapping)).c_str(), wanted.partitions);
}

void expect_refused(Mapping wanted, const DeviceTraits& device, int vocabulary, int proposals, std::size_t bytes,
                    const std::string& reason) {
  try {
    mapped(wanted, device, 1, vocabulary, proposals, bytes);
    ++failures;
    std::printf("not refused: %s\n", reason.c_str());
  } catch (const std::invalid_argument& error) {
    if (std::string(error.what()).find(reason) != std::string::npos) return;
    ++failures;
    std::printf("refused by \"%s\", expected %s\n", error.what(), reason.c_str());
  }
}

}  // namespace

int main() {
  const auto automatic = [](const DeviceTraits& device, int positions, int vocabulary, int proposals = 1,
                            std::size_t bytes = 4) {
    return mapped(Mapping::automatic, device, positions, vocabulary, proposals, bytes);
  };
  expect(automatic(hopper, 1000, 512), {Mapping::block, 1}, "a small vocabulary");
  // Two rows of 32,000 tokens have 256,000 bytes: each of four blocks holds 8,000 tokens of both rows, and three such
  // blocks share a multiprocessor.
  expect(automatic(hopper, 1000, 32000), {Mapping::cluster, 4}, "many positions");
  expect(automatic(hopper, 1, 32000), {Mapping::cluster, 16}, "one position takes what would idle");
  expect(automatic(hopper, 256, 128256), {Mapping::cluster, 16}, "a large vocabulary");
  expect(mapped(Mapping::automatic, hopper, 64, 128256, 1, 4, 2), {Mapping::block, 1},
         "few passes over many positions");
  expect(mapped(Mapping::automatic, hopper, 43, 128256, 1, 4, 2), {Mapping::cluster, 16}, "few passes over few");
  expect(mapped(Mapping::automatic, hopper, 64, 128256, 1, 4, 3), {Mapping::cluster, 16}, "more passes");
  expect(mapped(Mapping::automatic, hopper, 256, 128256, 1, 4, 4), {Mapping::cluster, 16}, "four passes over many");
  expect(automatic(hopper, 64, 4096), {Mapping::block, 1}, "many positions of a short vocabulary");
  expect(mapped(Mapping::automatic, hopper, 1, 4096, 1, 4, 2), {Mapping::block, 1}, "the same, few passes");
  expect(automatic(hopper, 8, 4096), {Mapping::block, 1}, "few positions of a short vocabulary");
  expect(automatic(hopper, 8, 262144), {Mapping::cluster, 16}, "large rows, as many as run at once");
  expect(mapped(Mapping::automatic, hopper, 9, 262144, 1, 4, 8), {Mapping::split, 8}, "large rows, more than that");
  expect(mapped(Mapping::automatic, hopper, 64, 262144, 1, 4, 8), {Mapping::block, 1}, "large rows, many");
  expect(automatic(hopper, 64, 262144), {Mapping::cluster, 16}, "large rows, many passes");
  expect(automatic(hopper, 1, 262144), {Mapping::cluster, 16}, "beyond the portable size");
  expect(automatic(hopper, 1, 1 << 20), {Mapping::split, 16}, "beyond every cluster");
  expect(automatic(hopper, 200, 1 << 20), {Mapping::block, 1}, "the same, many");
  expect(automatic(hopper, 8, 128256, 4), {Mapping::split, 16}, "proposals of their own");
  expect(automatic(hopper, 8, 128256, 1, 8), {Mapping::split, 16}, "rows of double");
  expect(automatic(ampere, 1, 128256), {Mapping::split, 16}, "no clusters");
  expect(automatic(ampere, 27, 128256), {Mapping::split, 4}, "a quarter of the multiprocessors");
  expect(automatic(ampere, 28, 128256), {Mapping::block, 1}, "more than that");
  // Four times these numbers of positions, or twice these numbers of blocks, overflow an int.
  expect(automatic(hopper, 1 << 30, 1 << 20), {Mapping::block, 1}, "positions without end");
  expect(automatic(hopper, (1 << 30) + 1, 128256), {Mapping::cluster, 16}, "the same in clusters");
  expect(mapped(Mapping::split, ampere, 1 << 30, 128256, 1, 4), {Mapping::split, 1}, "the same by the whole device");
  expect(automatic(plain, 1, 128256), {Mapping::block, 1}, "no cooperation");
  expect(mapped(Mapping::block, hopper, 1, 128256, 1, 4), {Mapping::block, 1}, "by name");
  expect_refused(Mapping::cluster, ampere, 32000, 1, 4, "the device has no clusters");
  expect_refused(Mapping::cluster, hopper, 32000, 4, 4, "got 4 proposal rows, expected 1");
  expect_refused(Mapping::cluster, hopper, 32000, 1, 8, "got rows of double");
  expect_refused(Mapping::cluster, hopper, 1 << 20, 1, 4, "1048576 tokens do not fit");
  expect_refused(Mapping::split, plain, 32000, 1, 4, "cannot launch cooperatively");
  constexpr DeviceTraits planning = beside_plans(hopper, 85088);
  expect(automatic(planning, 66, 128256), {Mapping::split, 2}, "a plan, few positions");
  expect(automatic(planning, 256, 128256), {Mapping::block, 1}, "a plan, many positions");
  expect_refused(Mapping::cluster, planning, 128256, 1, 4, "the verifier makes a plan");
  expect(automatic(beside_plans(plain, 85088), 1, 128256), {Mapping::block, 1},
         "a plan that the device has no room for");
  // Each warp of a team has a slot for its first arrival and a slot for a sum. With 32 blocks of 16 warps there would
  // be too few slots, and arrivals would overwrite the counter of the barrier.
  for (const DeviceTraits& device : {hopper, ampere, planning})
    for (const int positions : {1, 2, 3, 8, 100})
      if (const Mapped split = mapped(Mapping::split, device, positions, 128256, 1, 4);
          split.partitions * most_block_threads / 32 > TeamScratch::most_warps)
        expect(split, {Mapping::split, TeamScratch::most_warps * 32 / most_block_threads}, "the scratch of a team");
  if (failures == 0) std::puts("mappings: as wanted");
  return failures == 0 ? 0 : 1;
}
